"""Keeping characters whole that a server cuts in two."""

from __future__ import annotations


class SurrogateJoiner:
    """Joins the two halves of a character that come in two pieces, as JSON escapes may.

    A half without its other half becomes U+FFFD, so that the text can always be encoded.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """The text that is whole so far; a first half at the end is held back."""
        text = self._held + piece
        cut = len(text) - 1 if text and "\ud800" <= text[-1] <= "\udbff" else len(text)
        self._held = text[cut:]
        return whole_characters(text[:cut])

    def rest(self) -> str:
        """What was held back at the end."""
        held, self._held = self._held, ""
        return whole_characters(held)


def whole_characters(text: str) -> str:
    """The text with halves of one character joined and single halves replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
