"""Taking a model's thoughts away from its answer."""

from __future__ import annotations

_OPENING = "<think>"
_CLOSING = "</think>"


class ThoughtStripper:
    """Drops the `<think>…</think>` blocks at the beginning of a text that comes in pieces.

    A block that is never closed is dropped to the end, the space behind a block with it; a block further in
    is text like any other. A text that is blank without its thoughts becomes empty.
    """

    def __init__(self) -> None:
        self._held = ""
        self._inside = self._thought = self._begun = False

    def feed(self, piece: str) -> str:
        """The text that is surely no thought; what may be one is held back."""
        if self._begun:
            return piece
        self._held += piece
        while self._pass_tag():
            pass
        text = self._held.lstrip()
        if self._inside or _OPENING.startswith(text):
            return ""
        self._begun = True
        return text if self._thought else self._held

    def rest(self) -> str:
        """What was held back at the end."""
        held, self._held = self._held, ""
        return "" if self._begun or self._inside else held.strip() and held

    def _pass_tag(self) -> bool:
        """Go beyond the next tag, if it is there."""
        if self._inside:
            _, tag, behind = self._held.partition(_CLOSING)
            self._held = behind if tag else self._held[1 - len(_CLOSING) :]
            self._inside, self._thought = not tag, True
            return bool(tag)
        text = self._held.lstrip()
        if text.startswith(_OPENING):
            self._held, self._inside = text.removeprefix(_OPENING), True
        return self._inside


def without_thoughts(text: str) -> str:
    """The whole text without the thoughts at its beginning."""
    stripper = ThoughtStripper()
    return stripper.feed(text) + stripper.rest()
