"""Plain text → pages: chapters where headings tell them, and blocks of bounded size."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.formats.contract import RawPage

PAGE_CHARACTERS = 6_000
"""A page's usual limit: a longer chapter goes over several pages, cut between lines or sentences."""
HEADING_CHARACTERS = 90

_ORDINAL = (
    r"(?:első|második|harmadik|negyedik|ötödik|hatodik|hetedik|nyolcadik|kilencedik|tizedik|utolsó|"
    r"tizen\w+|huszon\w+|\d+\.|[ivxlc]+\.)"
)
_ENGLISH_NUMBER = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_HEADING = re.compile(
    rf"""(?: \#{{1,6}}\ +\S.*
        | (?:chapter|part|book|section|letter)\ +(?:[ivxlc]+|\d+|{_ENGLISH_NUMBER})\b.*
        | {_ORDINAL}\ +(?:rész|fejezet|kötet|könyv|levél|felvonás|szín|jelenet)\b.*
        | (?:prologue|epilogue|preface|introduction|előszó|utószó|bevezetés|epilógus|prológus)\W*
        | (?-i:[IVXLC]+)(?:\.?|[.:]\ +\S.*)
    )\s*""",
    re.X | re.I,
)


def split_pages(text: str, heading: str | None = None) -> list[RawPage]:
    """The pages of a text; joined they give it back unchanged. Without any letter or digit there are none.

    `heading` is that of the pages before the first heading in the text.
    """
    if not any(char.isalnum() for char in text):
        return []
    return [
        RawPage(title, block) for title, chapter in _chapters(text, heading) for block in _blocks(chapter)
    ]


def _chapters(text: str, heading: str | None) -> Iterator[tuple[str | None, str]]:
    """Heading and text of each chapter; headings with nothing but space between them belong together."""
    start, body, titles = 0, 0, [heading] if heading else []
    for position, line in _headings(text):
        if text[body:position].strip():
            yield _joined(titles), text[start:position]
            start, titles = position, []
        titles.append(line)
        body = position + len(line)
    yield _joined(titles), text[start:]


def _joined(titles: list[str]) -> str | None:
    return " ".join(title.strip().lstrip("# ") for title in titles) or None


def _headings(text: str) -> Iterator[tuple[int, str]]:
    """Places and lines of headings: alone between blank lines, or marked by `#`."""
    position, blank_before = 0, True
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        stripped = line.strip()
        blank_after = number + 1 == len(lines) or not lines[number + 1].strip()
        alone = (blank_before and blank_after) or stripped.startswith("#")
        if alone and 0 < len(stripped) <= HEADING_CHARACTERS and _HEADING.fullmatch(stripped):
            yield position, line
        blank_before = not stripped
        position += len(line)


def _blocks(text: str) -> Iterator[str]:
    """The text in pieces of bounded size."""
    start = 0
    while len(text) - start > PAGE_CHARACTERS:
        end = _cut(text, start, start + PAGE_CHARACTERS)
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _cut(text: str, start: int, limit: int) -> int:
    """The best end of a page in its second half: a blank line, a line end, a sentence, a space."""
    earliest = start + PAGE_CHARACTERS // 2
    for mark in ("\n\n", "\n", ". ", " "):
        found = text.rfind(mark, earliest, limit)
        if found > 0:
            return found + len(mark)
    return limit
