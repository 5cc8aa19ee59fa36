"""Which of the sentences that name somebody say most about who he is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

GOOD_LENGTH = range(40, 260)
"""Characters: shorter sentences say little, longer ones much else."""
EARLY = 20
"""Mentions at the beginning, where people are introduced."""

_SAYS_WHO_BEHIND = re.compile(
    r"\s*(?:,\s+(?:az?|egy|the|an?|his|her)\b|(?:\w+\s+){0,2}(?:volt|lett|nevű|is|was|became)\b|[-–—:]\s)",
    re.I,
)
"""Apposition or predicate right behind the name: "Cecey, a félkezű vitéz", "Harrow was a captain"."""
_SAYS_WHO_BEFORE = re.compile(
    r"(?:\bnevét?|\bnevem|\bhívják|\bhívnak|\bnevezték|\bcalled|\bnamed|\bname is|\bname was|"
    r"\b(?:dr|prof|mr|mrs)\.?)\W*$",
    re.I,
)


def most_telling(rows: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], float]]:
    """The rows with their scores, best first; ties stay in the given order.

    A row has the sentence's `text` and the span (`start`, `stop`) of the name in it; rows come in reading order.
    """
    scored = [(row, _score(row, number)) for number, row in enumerate(rows)]
    return sorted(scored, key=lambda each: -each[1])


def _score(row: Mapping[str, Any], number: int) -> float:
    text: str = row["text"]
    score = 1.0 if len(text) in GOOD_LENGTH else 0.0
    if _SAYS_WHO_BEHIND.match(text, row["stop"]):
        score += 1.5
    if _SAYS_WHO_BEFORE.search(text, 0, row["start"]):
        score += 1.0
    if not text[: row["start"]].strip(" -–—„”\"'"):
        score += 0.5
    return round(score + max(EARLY - number, 0) / EARLY, 6)
