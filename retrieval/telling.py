"""Which of the sentences that name somebody say most about who he is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

GOOD_LENGTH = range(40, 260)
"""Characters: shorter sentences say little, longer ones much else."""
SHORTEST = 20
"""Characters below which a sentence hardly says anything."""
EARLY = 20
"""Mentions at the beginning, where people are introduced."""

_SPEECH = re.compile(r"\s*[-–—„“”\"»«']")
"""The beginning of something that somebody says: it seldom tells who he is."""
_PARTICIPLE = re.compile(r"\w(?:va|ve|ván|vén|ing|ed)\b")
"""In what looks like an apposition: "Cecey, a fejét fölemelve"."""
_APPOSITION = {
    "hu": re.compile(r",\s+(?:az?|egy)\s+(?P<what>[^,.;:!?]{3,60})(?:[,.;!]|$)"),
    "en": re.compile(r",\s+(?:the|an?|his|her|their|our|my)\s+(?P<what>[^,.;:!?]{3,60})(?:[,.;!]|$)", re.I),
}
_PREDICATE = {
    "hu": re.compile(
        r"(?:\s+az?|\s+egy)?(?:\s+(?!is\b|nem\b)[\w-]+){1,4}\s+(?:volt|vala|lett)\b|\s+nevű\b|\s+egy\s", re.I
    ),
    "en": re.compile(r"\s+(?:\w+\s+)?(?:is|was|became|were|are)\s+(?:an?|the|his|her|one)\b", re.I),
}
_BEFORE = {
    "hu": re.compile(
        r"(?:\b(?:nevét?|nevem|nevű|hívják|hívnak|hívták|nevezték|nevezett|neve|valójában)|"
        r"\b[\w-]{3,}(?:ja|je|a|e),|\b(?:dr|prof|ifj|özv)\.)\W*(?:az?\s)?$",
        re.I,
    ),
    "en": re.compile(
        r"(?:\b(?:called|named|name is|name was)|\b(?:dr|prof|mr|mrs|ms|captain|sir|lady)\.?)\W*$", re.I
    ),
}
"""A name being given, a title, or what somebody is to somebody: "az apja, Cecey"."""


def most_telling(rows: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], float]]:
    """The rows with their scores, best first; ties stay in the given order.

    A row has the sentence's `text`, its `language`, and the span (`start`, `stop`) of the name in it; rows come in
    reading order.
    """
    scored = [(row, _score(row, number)) for number, row in enumerate(rows)]
    return sorted(scored, key=lambda each: -each[1])


def is_speech(text: str) -> bool:
    """Whether the sentence is something that somebody says."""
    return _SPEECH.match(text) is not None


def _score(row: Mapping[str, Any], number: int) -> float:
    text: str = row["text"]
    score = 1.0 if len(text) in GOOD_LENGTH else -1.0 if len(text) < SHORTEST else 0.0
    if row["language"] in _BEFORE:
        score += _says_who(text, row["language"], row["start"], row["stop"])
    if is_speech(text):
        score -= 1.0
    elif not text[: row["start"]].strip():
        score += 0.5
    return round(score + max(EARLY - number, 0) / EARLY, 6)


def _says_who(text: str, language: str, start: int, stop: int) -> float:
    apposition = _APPOSITION[language].match(text, stop)
    beside = apposition is not None and not _PARTICIPLE.search(apposition["what"])
    predicate = _PREDICATE[language].match(text, stop) is not None
    return 1.5 * (beside or predicate) + 1.0 * bool(_BEFORE[language].search(text, 0, start))
