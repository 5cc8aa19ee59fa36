"""Cleaning of text with a map of offsets, so that stored text stays faithful and found text is findable."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_LINE_CONTROLS = "\x0b\x0c\x85\u2028\u2029"
"""Controls that end a line: they become a line feed where none stands beside them."""
_NOT_PLAIN = re.compile(rf"[{_INVISIBLE}{_CONTROLS}\u2028\u2029ﬀ-ﬆ\r¬]")
_EDITS = re.compile(
    r"(?P<soft>[\u00ad¬][ \t]*\r?\n[ \t]*(?=[^\W\d_]))"
    rf"|[{_INVISIBLE}]+|[{_CONTROLS}\u2028\u2029]|[ﬀ-ﬆ]|\r\n?"
)
_SPACE_OR_HYPHEN = re.compile(r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2010\u2011]")

_COMPOSABLE = re.compile(r"[\x00-\u02ff]?[^\x00-\u02ff]+")
"""A run that NFC may change: no character below U+0300 composes with the one before it."""

_SHORT_RUN = 8

_LINE_END_HYPHEN = re.compile(r"-[ \t]*\n[ \t]*")
_WORD = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_LONGEST_WORD = 60
_CONJUNCTIONS = frozenset({"és", "s", "vagy", "illetve", "illetőleg", "meg", "and", "or"})
"""After these a hyphen at a line end is a suspended one: `bel-\\nés külföld`."""
_HYPHENATED = frozenset({"self", "well", "ex", "all", "half"})
"""First parts that keep their hyphen."""

Edit = tuple[int, int, str]
"""Start and end of the part replaced, and what stands there instead."""


class OffsetMap:
    """Places in an edited text → places in the text before the edits.

    Holds one entry an edit in flat arrays, and searches them by bisection.
    """

    __slots__ = ("_at", "_length", "_raw_at", "_raw_length")

    def __init__(self) -> None:
        self._at = array("q")
        self._length = array("i")
        self._raw_at = array("q")
        self._raw_length = array("q")

    def add(self, at: int, length: int, raw_at: int, raw_length: int) -> None:
        """Record that `raw_length` characters at `raw_at` became `length` characters at `at`."""
        self._at.append(at)
        self._length.append(length)
        self._raw_at.append(raw_at)
        self._raw_length.append(raw_length)

    def start(self, place: int) -> int:
        """Where the character at `place` began."""
        index = bisect_right(self._at, place) - 1
        if index < 0:
            return place
        beyond = place - self._at[index] - self._length[index]
        return self._raw_at[index] + (self._raw_length[index] + beyond if beyond >= 0 else 0)

    def end(self, place: int) -> int:
        """Where the character before `place` ended."""
        index = bisect_left(self._at, place) - 1
        if index < 0:
            return place
        beyond = place - self._at[index] - self._length[index]
        return self._raw_at[index] + self._raw_length[index] + max(beyond, 0)

    def __len__(self) -> int:
        return len(self._at)


@dataclass(frozen=True, slots=True)
class CleanText:
    """A cleaned text and the way back to the text that it was made of."""

    text: str
    _maps: tuple[OffsetMap, ...] = field(default=(), repr=False, compare=False)

    def to_raw(self, start: int, end: int) -> tuple[int, int]:
        """The span [start, end) of `text` as a span of the raw text, in code points.

        Characters that were removed belong to a span only where they stand inside it.
        """
        for each in self._maps:
            start, end = each.start(start), each.end(end)
        return start, max(start, end)


def clean(raw: str) -> CleanText:
    """Make a text findable: words that look alike become equal strings.

    Composes to NFC; removes soft hyphens, zero-width and control characters (all but line feed and tab);
    expands Latin ligatures; makes spaces of all kinds a space, U+2010 and U+2011 a hyphen, CR and CR LF a
    line feed; joins words hyphenated at a line end. Blank lines stay, and so do signs that NFKC would
    rewrite (½). Takes linear time, and hardly any for a text that needs nothing.
    """
    text = _SPACE_OR_HYPHEN.sub(lambda match: "-" if match[0] in "\u2010\u2011" else " ", raw)
    maps: list[OffsetMap] = []
    if _NOT_PLAIN.search(text):
        text = _edited(text, _removals(text), maps)
    if not unicodedata.is_normalized("NFC", text):
        text = _edited(text, _compositions(text), maps)
    text = _edited(text, _joins(text), maps)
    return CleanText(text, tuple(reversed(maps)))


def _edited(text: str, edits: Iterable[Edit], maps: list[OffsetMap]) -> str:
    offsets = OffsetMap()
    pieces: list[str] = []
    done = at = 0
    for start, end, new in edits:
        pieces += (text[done:start], new)
        at += start - done
        offsets.add(at, len(new), start, end - start)
        at += len(new)
        done = end
    if not len(offsets):
        return text
    maps.append(offsets)
    pieces.append(text[done:])
    return "".join(pieces)


def _removals(text: str) -> Iterator[Edit]:
    for match in _EDITS.finditer(text):
        start, end = match.span()
        first = match[0][0]
        if match["soft"]:
            if text[end].islower():
                yield start, end, ""
            elif first == "\u00ad":
                yield start, start + 1, ""
        elif first in _LIGATURES:
            yield start, end, _LIGATURES[first]
        elif first == "\r":
            yield start, end, "\n"
        elif first in _LINE_CONTROLS:
            beside = text[max(start - 1, 0) : start] + text[end : end + 1]
            yield start, end, "" if "\n" in beside or "\r" in beside else "\n"
        else:
            yield start, end, ""


def _compositions(text: str) -> Iterator[Edit]:
    for run in _COMPOSABLE.finditer(text):
        found = run[0]
        edits = _short_run_edits(found) if len(found) <= _SHORT_RUN else _run_edits(found)
        at = run.start()
        for start, end, new in edits:
            yield at + start, at + end, new


def _run_edits(run: str) -> tuple[Edit, ...]:
    """The smallest parts of a run that change, mostly a letter with its marks; places within the run."""
    whole = unicodedata.normalize("NFC", run)
    if whole == run:
        return ()
    starts = [at for at, sign in enumerate(run) if at == 0 or not unicodedata.combining(sign)]
    spans = list(zip(starts, [*starts[1:], len(run)], strict=True))
    parts = [unicodedata.normalize("NFC", run[start:end]) for start, end in spans]
    if "".join(parts) != whole:
        return ((0, len(run), whole),)
    return tuple(
        (start, end, part) for (start, end), part in zip(spans, parts, strict=True) if part != run[start:end]
    )


_short_run_edits = lru_cache(maxsize=4096)(_run_edits)


def _joins(text: str) -> Iterator[Edit]:
    compounds: frozenset[str] | None = None
    for match in _LINE_END_HYPHEN.finditer(text):
        start, end = match.span()
        if not text[end : end + 1].islower() or not text[max(start - 1, 0) : start].isalnum():
            continue
        rest = _WORD.match(text, end, end + _LONGEST_WORD)
        if rest is None or rest[0] in _CONJUNCTIONS:
            continue
        if compounds is None:
            compounds = frozenset(found[0].casefold() for found in _COMPOUND.finditer(text))
        yield start, end, "-" if _is_compound(_word_before(text, start), rest[0], compounds) else ""


def _word_before(text: str, end: int) -> str:
    start = end
    while start > max(end - _LONGEST_WORD, 0) and text[start - 1].isalnum():
        start -= 1
    return text[start:end]


def _is_compound(first: str, rest: str, compounds: frozenset[str]) -> bool:
    """Whether the hyphen belongs to the word: `NATO-\\nban`, `tudod-\\ne`, or written so elsewhere."""
    if first[-1].isdigit() or rest == "e" or (len(first) > 1 and first.isupper()):
        return True
    lower = first.casefold()
    return lower == rest or lower in _HYPHENATED or f"{lower}-{rest}" in compounds
