"""Whether a mark such as a full stop ends a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ner.text.abbreviations import Abbreviations, abbreviations

_OPENERS = "\"'„“‘«»‹‚([{¿¡*_"
_DASHES = "-–—―"
_WORD = re.compile(r"[^\W\d_]+")
_TOKEN_START = re.compile(r"[\s\"'„“‘”’«»‹›(\[{/–—]")
_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"(?=[IVXLCDM])M{0,3}(?:C[MD]|D?C{0,3})(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})")
_VOWEL = re.compile("[aeiouyáéíóöőúüű]", re.IGNORECASE)
_DOTTED = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_LONGEST_TOKEN = 40


class Stop(NamedTuple):
    """A mark that may end a sentence, in its text."""

    text: str
    sentence: int
    """Where the sentence began."""
    at: int
    """Where the mark stands."""
    mark: str
    """`.`, `?!`, `...` and the like."""
    close: str
    """Quotation marks and brackets right behind it."""
    following: int
    """Where the next sign after white space stands."""


@dataclass(frozen=True)
class StopRules:
    """A language's rules."""

    words: Abbreviations

    def ends(self, stop: Stop) -> bool:
        """Whether a new sentence begins at `stop.following`."""
        opening = _opening(stop)
        if opening is None:
            return False
        if stop.mark != "." or (stop.close and stop.close[0] not in ")]"):
            return not (stop.close.startswith(")") and stop.text[stop.at - 1 : stop.at] == "(")
        word = _word_before(stop)
        if not word:
            return stop.at > stop.sentence
        return self._after_word(stop, word, opening)

    def _after_word(self, stop: Stop, word: str, opening: int) -> bool:
        first = stop.text[opening]
        if _NUMBER.fullmatch(word):
            return self._after_number(stop, word, opening)
        lower = word.lower()
        if lower in self.words.numbered:
            return not first.isdigit()
        if lower in self.words.bound:
            return False
        if lower in self.words.free:
            return first.isupper() or stop.following != opening
        if _ROMAN.fullmatch(word) and self.words.ordinal_stop:
            return self._opens(stop.text, opening)
        if len(word) == 1 and word.isalpha():
            return (not self.words.ordinal_stop and word == "I") or self._opens(stop.text, opening)
        if _DOTTED.fullmatch(word) or not (_VOWEL.search(word) or not word.isalpha() or word.isupper()):
            return self._opens(stop.text, opening)
        return True

    def _after_number(self, stop: Stop, word: str, opening: int) -> bool:
        if not stop.text[stop.sentence : stop.at - len(word)].strip(" \t*-–•(["):
            return False
        first = stop.text[opening]
        if not self.words.ordinal_stop:
            return True
        if first.isdigit() or not first.isalpha():
            return False
        return self._opens(stop.text, opening)

    def _opens(self, text: str, opening: int) -> bool:
        """Whether the word there opens a sentence even after an ordinal or an initial."""
        word = _WORD.match(text, opening)
        if word is None:
            return False
        return word[0].lower() in self.words.openers and text[word.end() : word.end() + 1] != "."


def _opening(stop: Stop) -> int | None:
    """Where the next sentence's first letter, digit or other sign would stand; None when none can begin."""
    text, place = stop.text, stop.following
    limit = min(len(text), place + 8)
    while place < limit and (text[place] in _OPENERS or text[place] in _DASHES or text[place].isspace()):
        place += 1
    if place == limit:
        return stop.following
    first = text[place]
    return None if first.islower() or first in ",;:.!?)%" else place


def _word_before(stop: Stop) -> str:
    start = max(stop.at - _LONGEST_TOKEN, stop.sentence)
    piece = stop.text[start : stop.at]
    cut = 0
    for match in _TOKEN_START.finditer(piece):
        cut = match.end()
    return piece[cut:]


@lru_cache(maxsize=8)
def stop_rules(language: str) -> StopRules:
    """The rules of a language; a language without word lists of its own gets the English ones."""
    return StopRules(abbreviations(language))
