"""Search terms: several spellings of each word side by side, the same for documents and for queries."""

from __future__ import annotations

import re
import threading
import unicodedata
from dataclasses import dataclass, fields
from functools import lru_cache

import snowballstemmer

from ner.text.lemmas import lemma
from ner.text.tokens import fold

PREFIX_LETTERS = 5
_WORD = re.compile(r"[^\W_]+")
"""The parts of a hyphenated word count one by one: `NATO-ban` is found by `NATO`."""
_CACHE = 131_072
_LONGEST_WORD = 64
_ALGORITHMS = {"hu": "hungarian", "en": "english"}
_one_at_a_time = threading.Lock()
"""A stemmer keeps the word that it works on in itself."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The words of a text in four forms; the lists are parallel."""

    exact: tuple[str, ...]
    """In small letters, accents kept."""
    lemma: tuple[str, ...]
    """The stem of the dictionary form."""
    stem: tuple[str, ...]
    """Snowball's stem."""
    prefix: tuple[str, ...]
    """The first letters, without accents."""

    def joined(self) -> dict[str, str]:
        """Each list joined by single spaces: no term holds white space."""
        return {field.name: " ".join(getattr(self, field.name)) for field in fields(self)}


def analyse(text: str, language: str) -> Terms:
    """The search terms of a text; any text will do. Of a language that is not known, words are not reduced."""
    found = [_forms(word[:_LONGEST_WORD], language) for word in split_words(text)]
    exact, lemmas, stems, prefixes = zip(*found, strict=True) if found else ((), (), (), ())
    return Terms(exact, lemmas, stems, prefixes)


def split_words(text: str) -> list[str]:
    """The words of which `analyse` makes terms, composed but else as they stand."""
    return _WORD.findall(unicodedata.normalize("NFC", text))


@lru_cache(_CACHE)
def _forms(word: str, language: str) -> tuple[str, str, str, str]:
    lower = word.lower()
    dictionary_form = lemma(word, language).lower()
    return (
        lower,
        _stem(dictionary_form, language),
        _stem(lower, language),
        fold(lower)[:PREFIX_LETTERS],
    )


def _stem(word: str, language: str) -> str:
    if language not in _ALGORITHMS:
        return word
    with _one_at_a_time:
        return str(_stemmer(language).stemWord(word))


@lru_cache
def _stemmer(language: str) -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer(_ALGORITHMS[language])
