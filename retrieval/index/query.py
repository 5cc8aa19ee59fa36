"""Asking the search index. Queries are built from terms, never parsed: no sign a user types is an operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tantivy

from ner.text.stopwords import stop_words
from ner.text.terms import analyse
from ner.text.tokens import fold
from retrieval.index.fields import PASSAGES, SENTENCES, SYSTEM, TITLE

FIELD_WEIGHTS = {"exact": 0.3, "lemma": 1.0, "stem": 0.7, "prefix": 1.0}
"""Weight of each field in a score, chosen by `bench/retrieval_quality.py`."""
TITLE_WEIGHT = 0.5
FUNCTION_WORD_WEIGHT = 0.3
"""Weight of the words that carry grammar, beside 1 for the others."""
PASSAGE_SHARE = 0.5
"""Weight of the passage's score in the score of a sentence in it."""
LONGEST_QUERY = 96
"""Words of a query that are looked for; the first ones."""
PASSAGES_SEEN = 100
SENTENCES_SEEN = 10
"""How many times the wanted number of sentences is looked at before the passages' scores are added."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage or a sentence that was found; a sentence has `first == last`."""

    document_id: int
    page: int
    first: int
    last: int
    score: float


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """A query's terms by field, each once, with its weight: words said twice weigh twice."""

    fields: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]

    @classmethod
    def of(cls, text: str, languages: Sequence[str]) -> SearchTerms:
        """The terms of a text in each of the languages side by side."""
        weights: dict[str, dict[str, float]] = {name: {} for name in FIELD_WEIGHTS}
        for language in languages or ("",):
            terms = analyse(text, language)
            for number, word in enumerate(terms.exact[:LONGEST_QUERY]):
                weight = FUNCTION_WORD_WEIGHT if fold(word) in stop_words(language) else 1.0
                for name, known in weights.items():
                    term = getattr(terms, name)[number]
                    known[term] = known.get(term, 0.0) + weight / max(len(languages), 1)
        return cls(tuple((name, tuple(known.items())) for name, known in weights.items()))


class SearchIndex:
    """The indexes of one generation, open for reading; safe for threads."""

    def __init__(self, folder: Path) -> None:
        self._passages = tantivy.Index.open(str(folder / PASSAGES))
        self._sentences = tantivy.Index.open(str(folder / SENTENCES))

    def passages(self, terms: SearchTerms, systems: Sequence[str], limit: int) -> list[Hit]:
        """The best passages, best first."""
        return _search(self._passages, terms, systems, limit, TITLE)

    def sentences(self, terms: SearchTerms, systems: Sequence[str], limit: int) -> list[Hit]:
        """The best sentences: by their own words, and by those of the passage around them."""
        found = _search(self._sentences, terms, systems, limit * SENTENCES_SEEN, None)
        around = self.passages(terms, systems, PASSAGES_SEEN)
        scored = [_with_passage(hit, around) for hit in found]
        return sorted(scored, key=_rank)[:limit]

    def documents(self, terms: SearchTerms, systems: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """The best documents with the score of their best passage, best first."""
        best: dict[int, float] = {}
        wanted, seen = limit, -1
        while len(best) < limit and seen < len(hits := self.passages(terms, systems, wanted)):
            seen = len(hits)
            wanted *= 4
            for hit in hits:
                best.setdefault(hit.document_id, hit.score)
        return sorted(best.items(), key=lambda item: (-item[1], item[0]))[:limit]


def _with_passage(hit: Hit, passages: Sequence[Hit]) -> Hit:
    score = next(
        (
            passage.score
            for passage in passages
            if (passage.document_id, passage.page) == (hit.document_id, hit.page)
            and passage.first <= hit.first <= passage.last
        ),
        0.0,
    )
    return Hit(hit.document_id, hit.page, hit.first, hit.last, hit.score + PASSAGE_SHARE * score)


def _search(
    index: tantivy.Index, terms: SearchTerms, systems: Sequence[str], limit: int, title: str | None
) -> list[Hit]:
    query = _query(index.schema, terms, systems, title)
    if query is None:
        return []
    searcher = index.searcher()
    hits = searcher.search(query, limit, count=False).hits
    addresses = [address for _, address in hits]
    columns = [
        searcher.fast_field_values(name, addresses) for name in ("document_id", "page", "first", "last")
    ]
    found = [
        _hit([int(value or 0) for value in place], float(score))
        for (score, _), place in zip(hits, zip(*columns, strict=True), strict=True)
    ]
    return sorted(found, key=_rank)


def _hit(place: Sequence[int], score: float) -> Hit:
    document_id, page, first, last = place
    return Hit(document_id, page, first, last, score)


def _rank(hit: Hit) -> tuple[float, int, int, int]:
    return (-hit.score, hit.document_id, hit.page, hit.first)


def _query(
    schema: tantivy.Schema, terms: SearchTerms, systems: Sequence[str], title: str | None
) -> tantivy.Query | None:
    weighted = [
        (name, term, FIELD_WEIGHTS[name] * weight) for name, found in terms.fields for term, weight in found
    ]
    if title:
        weighted += [(title, term, TITLE_WEIGHT * weight) for term, weight in dict(terms.fields)["lemma"]]
    if not weighted:
        return None
    words = tantivy.Query.boolean_query(
        [
            (
                tantivy.Occur.Should,
                tantivy.Query.boost_query(tantivy.Query.term_query(schema, name, term, "freq"), weight),
            )
            for name, term, weight in weighted
        ]
    )
    if not systems:
        return words
    allowed = tantivy.Query.term_set_query(schema, SYSTEM, list(systems))
    return tantivy.Query.boolean_query(
        [
            (tantivy.Occur.Must, words),
            (tantivy.Occur.Must, tantivy.Query.const_score_query(allowed, 0.0)),
        ]
    )
