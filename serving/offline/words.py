"""Words of a question that carry its content, and whether two words are forms of one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ner.text.lemmas import lemma, name_lemma
from ner.text.stopwords import stop_words
from ner.text.terms import PREFIX_LETTERS, analyse
from ner.text.tokens import fold, words

SHORTEST_STEM = 4
"""Letters; shorter stems are those of other words too: `hold` and `hol`."""


def content_words(text: str, language: str) -> list[str]:
    """The words of a text that are no function words, each once, as they stand, in order."""
    stops = stop_words(language)
    found: dict[str, str] = {}
    for word in words(text):
        folded = fold(word)
        if folded not in stops and (len(folded) > 1 or folded.isdigit()):
            found.setdefault(folded, word)
    return list(found.values())


def text_keys(text: str, language: str) -> frozenset[str]:
    """The keys of all words of a text."""
    return frozenset(key for word in words(text) for key in word_keys(word, language))


def covered_words(wanted: Iterable[str], keys: frozenset[str], language: str) -> list[str]:
    """Those of the words of which the keys hold some form."""
    return [word for word in wanted if not word_keys(word, language).isdisjoint(keys)]


@lru_cache(maxsize=50_000)
def word_keys(word: str, language: str) -> frozenset[str]:
    """Accent-blind keys: two words that share one are taken for forms of the same word."""
    folded = fold(word)
    if not any(letter.isalpha() for letter in folded):
        return frozenset({folded})
    terms = analyse(word, language)
    stems = (fold(form) for form in (*terms.lemma, *terms.stem))
    keys = {folded, fold(lemma(word.lower(), language)), *map(fold, terms.exact)}
    keys.update(stem for stem in stems if len(stem) >= SHORTEST_STEM)
    if word[0].isupper():
        keys.add(fold(name_lemma(word, language)))
    keys.update(
        f"{prefix}…"
        for prefix, exact in zip(terms.prefix, terms.exact, strict=True)
        if len(exact) >= PREFIX_LETTERS
    )
    return frozenset(keys)
