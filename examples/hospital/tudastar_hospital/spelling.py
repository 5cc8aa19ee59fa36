"""Comparing names however they are spelt."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """Small letters without accents, to compare names by: `Őri Gergő` → `ori gergo`."""
    letters = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
