"""Words of a text, and the accent-blind form in which they are compared."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    (?:\d+(?:[.,:/]\d+)+ | [^\W_]+)             # a number with inner marks, or a word
    (?:[-'’&](?=[^\W_])(?:\d+(?:[.,:/]\d+)+ | [^\W_]+))*
    | [^\w\s]                                   # any other sign by itself
    | _
    """,
    re.VERBOSE,
)
_MARKS = re.compile(r"[\u0300-\u036f]+")
_UNCOMPOSED = str.maketrans(
    {"ł": "l", "đ": "d", "ø": "o", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"}
)


class Token(NamedTuple):
    """A span [start, end) in code points."""

    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """The words, numbers and single other signs of a clean text, in order.

    Hyphens, apostrophes and & inside a word belong to it (`Kossuth-díj`, `o'clock`, `R&D`), and so do
    the marks inside a number (`3,5`, `10:30`, `2021.11.29`). A full stop behind a word is a sign of its own,
    also behind abbreviations and ordinals (`dr` `.`, `2` `.`), so that a word is the same whether it
    ends a sentence or not. White space belongs to no token; every other character to exactly one.
    """
    return [Token(*match.span()) for match in _TOKEN.finditer(text)]


def words(text: str) -> list[str]:
    """The tokens that hold a letter or a digit, as strings."""
    return [text[start:end] for start, end in tokenize(text) if text[start].isalnum()]


def fold(text: str) -> str:
    """The form for comparison without regard to case and accents: `KŐRÖS`, `korós` → `koros`."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    bare = _MARKS.sub("", unicodedata.normalize("NFD", folded)).translate(_UNCOMPOSED)
    return unicodedata.normalize("NFC", bare)
