"""Headings in plain text: Hungarian and English chapters, numbers, lines in capitals, Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

HEADING_CHARACTERS = 90
"""A longer line is no heading."""
_ORDINAL = (
    r"(?:első|második|harmadik|negyedik|ötödik|hatodik|hetedik|nyolcz?adik|kilencz?edik|tizedik|utolsó|"
    r"tizen\w+|husz\w+|harminc\w+|\d+\.|[ivxlc]+\.)"
)
_NUMBER = (
    r"(?:[ivxlc]+|\d+|the\ \w+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first|second|"
    r"third|fourth|fifth|last)"
)
_BOUNDS = r"(?:\b.*)?"
_KINDS = (
    (1, rf"{_ORDINAL}\ +(?:kötet|könyv){_BOUNDS}|(?:volume|book)\ +{_NUMBER}{_BOUNDS}"),
    (2, rf"{_ORDINAL}\ +(?:rész|felvonás|szín){_BOUNDS}|(?:part|act)\ +{_NUMBER}{_BOUNDS}"),
    (
        3,
        rf"{_ORDINAL}\ +(?:fejezet|levél|jelenet|kép|ének){_BOUNDS}"
        rf"|(?:chapter|section|letter|scene|canto)\ +{_NUMBER}{_BOUNDS}"
        r"|(?:prologue|epilogue|preface|introduction|foreword|afterword|conclusion|contents|appendix|notes|előszó"
        r"|utószó|bevezetés|bevezető|befejezés|epilógus|prológus|függelék|tartalom|jegyzetek|szómagyarázatok?)\W*"
        r"|(?-i:[IVXLC]+)(?:\.?|[.:]\ +\S.*)",
    ),
)
_PATTERNS = tuple((level, re.compile(kind, re.X | re.I)) for level, kind in _KINDS)
CAPITALS_LEVEL = 4
_MARKDOWN = re.compile(r"(#{1,6})[ \t]+(\S.*?)[ \t#]*")
_OPEN = ",;:-–"
"""A line that ends so goes on."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A line that is a heading."""

    start: int
    end: int
    """Behind the line's end."""
    title: str
    level: int
    """Smaller stands above."""


def find_headings(text: str, markdown: bool = False) -> Iterator[Heading]:
    """The headings of a text in order: lines alone between blank lines, or marked by `#` in Markdown."""
    position, blank_before, fenced = 0, True, False
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        stripped = line.strip()
        end = position + len(line)
        if markdown and stripped.startswith(("```", "~~~")):
            fenced = not fenced
        if 0 < len(stripped) <= HEADING_CHARACTERS and not fenced:
            marked = _MARKDOWN.fullmatch(stripped) if markdown else None
            if marked:
                yield Heading(position, end, marked[2], len(marked[1]))
            elif blank_before and (number + 1 == len(lines) or not lines[number + 1].strip()):
                level = _level(stripped)
                if level:
                    yield Heading(position, end, stripped, level)
        blank_before = not stripped
        position = end


def _level(line: str) -> int | None:
    for level, pattern in _PATTERNS:
        if pattern.fullmatch(line):
            return level
    return CAPITALS_LEVEL if _is_in_capitals(line) else None


def _is_in_capitals(line: str) -> bool:
    """`VISZIK A KIS VERONKÁT`; not `NATO`, nor a line with figures and signs in the main."""
    letters = sum(char.isalpha() for char in line)
    return (
        line.isupper()
        and line[0].isalpha()
        and " " in line
        and letters > len(line) // 2
        and line[-1] not in _OPEN
    )
