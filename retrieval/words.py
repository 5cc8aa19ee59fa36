"""The words of a text that carry its content, comparable whatever their endings."""

from __future__ import annotations

from ner.text.stopwords import stop_words
from ner.text.terms import analyse
from ner.text.tokens import fold


def content_stems(text: str, language: str) -> list[str]:
    """The stems of the words' dictionary forms, in order, function words left out."""
    stops = stop_words(language)
    terms = analyse(text, language)
    return [stem for exact, stem in zip(terms.exact, terms.lemma, strict=True) if fold(exact) not in stops]
