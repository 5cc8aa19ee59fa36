"""Telling line feeds that end something from those that only wrap a paragraph."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise

_NARROWEST = 25
_WIDEST = 140
"""Characters; lines beyond these bounds are not wrapped ones."""
_CONTINUED = 0.2
"""Share of line feeds before a small letter from which on a text counts as wrapped."""
_FULL = 0.8
"""Share of the width that a line and the next word must pass for the feed to be forced."""
_SAMPLE = 4000
"""Lines looked at."""

_BULLET = re.compile(r"[•·▪●◦‣∙■□*]\s*|[-–—]\s+|(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]\s+")
_SURE_BULLET = re.compile(r"[•▪●◦‣■□]|(?:\d{1,3}|[a-z])\)\s")


class LineBreaks:
    """Which single line feeds of a text end a sentence although no full stop stands before them.

    A text counts as wrapped when its lines are of one width and many go on with a small letter.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def width(self) -> int:
        """Width in characters to which the text was wrapped; 0 when it was not."""
        lines = [line.strip() for line in self._text.split("\n", _SAMPLE)[:_SAMPLE]]
        pairs = [(line, after) for line, after in pairwise(lines) if line and after]
        if not pairs:
            return 0
        lengths = sorted(len(line) for line, _ in pairs)
        width = lengths[int(0.98 * (len(lengths) - 1))]
        continued = sum(after[0].islower() for _, after in pairs) / len(pairs)
        return width if continued >= _CONTINUED and _NARROWEST <= width <= _WIDEST else 0

    def ends(self, feed: int, following: int) -> bool:
        """Whether the line feed at `feed`, with the next sign at `following`, ends a sentence."""
        text = self._text
        sign = text[following]
        if sign.islower() and not _SURE_BULLET.match(text, following):
            return False
        if not self.width:
            return not self._goes_on_after_dash(following) or _BULLET.match(text, following) is not None
        if _SURE_BULLET.match(text, following):
            return True
        if self._goes_on_after_dash(following):
            return False
        line_start = text.rfind("\n", 0, feed) + 1
        word_end = following
        while word_end < min(len(text), following + self.width) and not text[word_end].isspace():
            word_end += 1
        needed = len(text[line_start:feed].strip()) + 1 + word_end - following
        return needed < _FULL * self.width

    def _goes_on_after_dash(self, place: int) -> bool:
        """`– kérdezte` at a line's start."""
        if self._text[place] not in "-–—":
            return False
        rest = self._text[place + 1 : place + 4].lstrip(" -–—")
        return rest[:1].islower()
