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
_DATE = 16
"""Characters before a day's number that may hold the year and the month."""
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_YEAR_MONTH = re.compile(r"\d{4}\.\s+(?:\d{1,2}|[IVX]+)\.\s+$")
_ITEM = re.compile(r"[a-z]\)\s")
_SMILEY = re.compile(r"[:;]-?[()DPp](?!\w)")


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
            return stop.text[stop.at - 1 : stop.at] + stop.close[:1] not in ("()", "[]")
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
        if lower in self.words.loose:
            return self._opens(stop.text, opening)
        if (len(word) == 1 or _ROMAN.fullmatch(word)) and _is_first(stop, word):
            return False
        if _ROMAN.fullmatch(word) and self.words.ordinal_stop:
            return self._opens(stop.text, opening)
        if len(word) == 1 and word.isalpha():
            return (not self.words.ordinal_stop and word == "I") or self._opens(stop.text, opening)
        if _DOTTED.fullmatch(word) or not (_VOWEL.search(word) or not word.isalpha() or word.isupper()):
            return self._opens(stop.text, opening)
        return True

    def _after_number(self, stop: Stop, word: str, opening: int) -> bool:
        if _is_first(stop, word):
            return False
        first = stop.text[opening]
        if not self.words.ordinal_stop:
            return True
        if first.isdigit() or not first.isalpha():
            return False
        return self._is_date(stop, word, opening) or self._opens(stop.text, opening)

    def _is_date(self, stop: Stop, number: str, opening: int) -> bool:
        """Whether the number ends a date: `1552. szeptember 9.`, `1552. 9. 9.`, or a year and no month."""
        before = stop.text[max(stop.sentence, stop.at - len(number) - _DATE) : stop.at - len(number)]
        if len(number) <= 2:
            words = before.split()
            return bool(words) and (
                words[-1].lower() in self.words.months or bool(_YEAR_MONTH.search(before))
            )
        following = _WORD.match(stop.text, opening)
        month = following and (following[0].lower() in self.words.months or _ROMAN.fullmatch(following[0]))
        return bool(_YEAR.fullmatch(number)) and not month

    def _opens(self, text: str, opening: int) -> bool:
        """Whether the word there opens a sentence even after an ordinal or an initial."""
        word = _WORD.match(text, opening)
        if word is None:
            return False
        return word[0].lower() in self.words.openers and text[word.end() : word.end() + 1] != "."


def _is_first(stop: Stop, word: str) -> bool:
    """Whether the word before the mark begins the sentence: the number or letter of a list item."""
    return not stop.text[stop.sentence : stop.at - len(word)].strip(" \t\n*-–•([")


def _opening(stop: Stop) -> int | None:
    """Where the next sentence's first letter, digit or other sign would stand; None when none can begin."""
    text, place = stop.text, stop.following
    limit = min(len(text), place + 8)
    while place < limit and (text[place] in _OPENERS or text[place] in _DASHES or text[place].isspace()):
        place += 1
    if place == limit:
        return stop.following
    first, after = text[place], text[place + 1 : place + 2]
    if first.islower():
        return place if after.isupper() or _ITEM.match(text, place) else None
    if first in ",;:.!?)%":
        return place if _SMILEY.match(text, place) or text[place - 1] in "([" else None
    return place


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
