"""Telling the language of a text, from a question of three words to a novel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ner.text.tokens import fold

_SAMPLES = 8
_SAMPLE_CHARACTERS = 500
_WORD = re.compile(r"[^\W\d_]+")

_FUNCTION_WORD = 3.0
_LETTER = 2.0
_PATTERN = 1.0


@dataclass(frozen=True, slots=True)
class Profile:
    """What speaks for a language."""

    function_words: frozenset[str]
    """Folded."""
    letters: frozenset[str]
    """Letters that the language alone of those with a profile writes."""
    inside: re.Pattern[str]
    """Letter groups of its words, folded."""
    ending: re.Pattern[str]
    """Endings of its words, folded."""

    def score(self, word: str) -> float:
        """How much a word (in small letters) speaks for the language."""
        folded = fold(word)
        if folded in self.function_words:
            return _FUNCTION_WORD
        found = _LETTER if self.letters.intersection(word) else 0.0
        if self.inside.search(folded):
            found += _PATTERN
        if self.ending.search(folded):
            found += _PATTERN
        return found


def detect_language(text: str, candidates: Sequence[str] = ("hu", "en"), default: str = "hu") -> str:
    """The code among `candidates` that the text's words speak for most; `default` when nothing decides.

    Deterministic. Works without accents too. Of a long text, samples from beginning to end are read.
    A candidate without a profile (there are ones for `hu` and `en`) is never found.
    """
    profiles = {code: profile for code in candidates if (profile := _profiles().get(code))}
    if len(candidates) == 1:
        return candidates[0]
    scores = dict.fromkeys(profiles, 0.0)
    for word in _WORD.findall(_sample(text).lower()):
        for code, profile in profiles.items():
            scores[code] += profile.score(word)
    best = max(scores.values(), default=0.0)
    winners = [code for code, score in scores.items() if score == best and best > 0]
    return winners[0] if len(winners) == 1 else default


def _sample(text: str) -> str:
    if len(text) <= _SAMPLES * _SAMPLE_CHARACTERS:
        return text
    step = (len(text) - _SAMPLE_CHARACTERS) // (_SAMPLES - 1)
    return " ".join(text[at : at + _SAMPLE_CHARACTERS] for at in range(0, step * _SAMPLES, step))


@lru_cache(maxsize=1)
def _profiles() -> dict[str, Profile]:
    return {"hu": _hungarian(), "en": _english()}


def _hungarian() -> Profile:
    words = [
        "a",
        "az",
        "egy",
        "es",
        "s",
        "is",
        "nem",
        "de",
        "hogy",
        "ha",
        "van",
        "volt",
        "lesz",
        "meg",
        "mar",
        "csak",
        "ki",
        "mi",
        "mit",
        "hol",
        "hova",
        "honnan",
        "mikor",
        "miert",
        "hogyan",
        "milyen",
        "melyik",
        "mennyi",
        "hany",
        "kik",
        "kinek",
        "kit",
        "ez",
        "ezt",
        "azt",
        "ezek",
        "azok",
        "ott",
        "itt",
        "igy",
        "ugy",
        "akkor",
        "majd",
        "mint",
        "vagy",
        "ne",
        "se",
        "sem",
        "el",
        "fel",
        "le",
        "be",
        "at",
        "ra",
        "rola",
        "neki",
        "nekem",
        "neked",
        "velem",
        "vele",
        "en",
        "te",
        "o",
        "mi",
        "ti",
        "ok",
        "maga",
        "minden",
        "mind",
        "valaki",
        "valami",
        "aki",
        "ami",
        "amely",
        "mert",
        "pedig",
        "azonban",
        "illetve",
        "utan",
        "elott",
        "alatt",
        "felett",
        "kozott",
        "mellett",
        "szerint",
        "altal",
        "miatt",
        "ellen",
        "nelkul",
        "fele",
        "ota",
        "ig",
        "lehet",
        "kell",
        "volna",
        "lenne",
        "vannak",
        "voltak",
        "lett",
        "nincs",
        "nincsen",
        "kerem",
        "tud",
        "nagyon",
        "most",
        "ma",
        "tegnap",
        "holnap",
        "egyik",
        "masik",
        "sok",
        "keves",
        "uj",
        "kerek",
        "szeretnek",
        "mondd",
        "mutasd",
        "sorold",
    ]
    return Profile(
        frozenset(words),
        frozenset("áéíóöőúüű"),
        re.compile(
            r"sz|gy|ny|cs|zs|[^aeiou]ly|ty[aeo]|jj|vv|kk|ggy|nny|ssz|[aeo]j[aeoukln]|[^aeiouy]k[aeou]"
        ),
        re.compile(
            r"..(?:[bv][ae]n|n[ae]k|[vlstkrnmbdgz][ae]l|h[aeo]z|[tbr]ol|ert|[aeo]tt|[aeo]k|unk|ink|[nt][ae]l|[bjr][ae]"
            r"|[st][ae]g|z[ae]t|t[ae]s|ni|h[ae]t|juk|[ae]nk|t[eo]k|kor|[aeo]m|[aeo]d|t[ae]k|[aeo]n|[aeo]t|sz|i|u)$"
        ),
    )


def _english() -> Profile:
    words = [
        "the",
        "of",
        "and",
        "to",
        "in",
        "is",
        "was",
        "are",
        "were",
        "be",
        "been",
        "a",
        "an",
        "that",
        "this",
        "these",
        "those",
        "it",
        "he",
        "she",
        "they",
        "we",
        "you",
        "i",
        "his",
        "her",
        "their",
        "our",
        "my",
        "your",
        "its",
        "him",
        "them",
        "us",
        "me",
        "who",
        "whom",
        "whose",
        "what",
        "which",
        "when",
        "where",
        "why",
        "how",
        "do",
        "does",
        "did",
        "done",
        "has",
        "have",
        "had",
        "not",
        "no",
        "yes",
        "but",
        "or",
        "if",
        "so",
        "as",
        "at",
        "by",
        "for",
        "from",
        "with",
        "on",
        "into",
        "about",
        "after",
        "before",
        "under",
        "over",
        "between",
        "than",
        "then",
        "there",
        "here",
        "can",
        "could",
        "will",
        "would",
        "shall",
        "should",
        "may",
        "might",
        "must",
        "all",
        "any",
        "some",
        "every",
        "each",
        "one",
        "two",
        "more",
        "most",
        "other",
        "such",
        "only",
        "very",
        "also",
        "just",
        "up",
        "out",
        "off",
        "tell",
        "show",
        "give",
        "list",
        "between",
        "during",
        "against",
    ]
    return Profile(
        frozenset(words),
        frozenset("w"),
        re.compile(r"th|wh|sh|ck|ee|oo|ou|ea|qu|ght|ph|ch|[aeo]w|ai|oi|x|ss[^z]|ff|ll[iy]?"),
        re.compile(
            r"..(?:tion|ing|ed|er|ly|ous|ment|ness|able|ies|es|ty|ry|al|ic|ive|ence|ance|ful|less|ist|ism|ure"
            r"|[^aeiou]e|ce|ge|y|nd|nt|rs|ts|ns|ls|ds)$"
        ),
    )
