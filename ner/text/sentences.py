"""Cutting clean text into sentences, by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ner.text.lines import LineBreaks
from ner.text.stops import Stop, StopRules, stop_rules

LONGEST_SENTENCE = 2000
"""Characters; what goes on longer without a boundary is cut at a clause or a space."""

_CLOSERS = "\"'”’»›)\\]}“"
_CANDIDATE = re.compile(
    rf"(?P<mark>[.!?…。！？]+)(?P<close>[{_CLOSERS}]*)(?: [”»](?=\s))?(?:\s+|(?<=[。！？]))|\n\s*"
)
_CUTS = (re.compile(r"\n"), re.compile(r"[;:]\s"), re.compile(r",\s"), re.compile(r"\s"))


def split_sentences(text: str, language: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a clean text, in order, in code points.

    A span is trimmed of white space; every other character lies in exactly one. A blank line ends a sentence,
    a single line feed only where it does more than wrap the line.
    """
    rules = stop_rules(language)
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _boundaries(text, rules):
        spans += _bounded(text, start, end)
        start = end
    spans += _bounded(text, start, len(text))
    return spans


def _boundaries(text: str, rules: StopRules) -> Iterator[int]:
    """Places where a sentence may begin after another one has ended."""
    lines = LineBreaks(text)
    start = 0
    for match in _CANDIDATE.finditer(text):
        end = match.end()
        if end == len(text):
            return
        mark = match["mark"]
        feeds = text.count("\n", match.start(), end)
        if (
            feeds > 1
            or (mark is not None and rules.ends(Stop(text, start, match.start(), mark, match["close"], end)))
            or (feeds and lines.ends(text.index("\n", match.start()), end))
        ):
            yield end
            start = end


def _bounded(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The span without white space at its ends, in pieces when it is too long."""
    spans = []
    while True:
        while start < end and text[start].isspace():
            start += 1
        if end - start <= LONGEST_SENTENCE:
            break
        cut = _cut(text, start, start + LONGEST_SENTENCE)
        spans.append(_trimmed(text, start, cut))
        start = cut
    if start < end:
        spans.append(_trimmed(text, start, end))
    return spans


def _cut(text: str, start: int, limit: int) -> int:
    for pattern in _CUTS:
        ends = [match.end() for match in pattern.finditer(text, start + LONGEST_SENTENCE // 2, limit)]
        if ends:
            return ends[-1]
    return limit


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while text[end - 1].isspace():
        end -= 1
    return start, end
