"""Function words: those that carry grammar rather than content, question words among them."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from ner.text.tokens import fold

LANGUAGES = ("hu", "en")


@lru_cache(maxsize=4)
def stop_words(language: str) -> frozenset[str]:
    """The function words of a language, accent-blind; none of a language that is not known."""
    if language not in LANGUAGES:
        return frozenset()
    text = files("ner.text").joinpath("function_words", f"{language}.txt").read_text("utf-8")
    return frozenset(fold(word) for word in text.split())
