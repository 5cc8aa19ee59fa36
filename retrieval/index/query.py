"""Asking the search index. Queries are built from terms, never parsed: no sign a user types is an operator."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import tantivy

from ner.text.clean import clean
from ner.text.stopwords import stop_words
from ner.text.terms import Terms, analyse, split_words
from ner.text.tokens import fold
from retrieval.index.fields import PASSAGES, PHRASE_FIELD, SENTENCES, SYSTEM, TITLE, schema
from store.errors import DamagedPartError, StoreFormatError

FIELD_WEIGHTS = {"exact": 0.3, "lemma": 1.0, "stem": 0.7, "prefix": 1.0}
"""Weight of each field in a score, chosen by `bench/retrieval_quality.py`."""
TITLE_WEIGHT = 1.5
FUNCTION_WORD_FIELD = "lemma"
"""The one field that is asked for words that carry grammar: they weigh a third of the others, and cost less."""
NAME_WEIGHT = 0.5
"""Weight of two words of a name standing side by side, as the query has them."""
PASSAGE_SHARE = 0.5
"""Weight of the passage's score in the score of a sentence in it."""
LONGEST_TEXT = 20_000
"""Characters of a query that are read."""
LONGEST_QUERY = 96
"""Words of a query that are looked for; the first ones."""
DIGITS = 4
"""Of a score: sums of 32-bit floats differ behind them with the order of the terms."""
MOST_TIES = 20_000
"""Hits of one score that are looked through for the first ones by key."""
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
    """A query's terms by field, each once, with how often the query says it."""

    fields: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    names: tuple[tuple[str, str], ...] = ()
    """Pairs of words that both begin with a capital letter or a digit, one behind the other, as lemma terms."""

    @classmethod
    def of(cls, text: str, languages: Sequence[str]) -> SearchTerms:
        """The terms of a text in each of the languages side by side."""
        text = clean(text[:LONGEST_TEXT]).text
        weights: dict[str, dict[str, int]] = {name: {} for name in FIELD_WEIGHTS}
        names: dict[tuple[str, str], None] = {}
        for language in languages or ("",):
            terms = analyse(text, language)
            for name, known in weights.items():
                said = Counter(_asked(terms, name, language))
                known |= {term: max(known.get(term, 0), times) for term, times in said.items()}
            names |= dict.fromkeys(_names(text, terms.lemma[:LONGEST_QUERY]))
        return cls(tuple((name, tuple(known.items())) for name, known in weights.items()), tuple(names))


def _asked(terms: Terms, name: str, language: str) -> Iterator[str]:
    stops = stop_words(language)
    for word, term in zip(terms.exact[:LONGEST_QUERY], getattr(terms, name), strict=False):
        if name == FUNCTION_WORD_FIELD or fold(word) not in stops:
            yield term


def _names(text: str, lemmas: Sequence[str]) -> Iterator[tuple[str, str]]:
    initials = (word[0] for word in split_words(text))
    named = [initial.isupper() or initial.isdigit() for initial, _ in zip(initials, lemmas, strict=False)]
    for at, pair in enumerate(pairwise(lemmas)):
        if named[at] and named[at + 1]:
            yield pair


class SearchIndex:
    """The indexes of one generation, open for reading; safe for threads.

    Raises StoreFormatError for an index that another version of the software built, DamagedPartError for one that
    is not whole.
    """

    def __init__(self, folder: Path) -> None:
        self._passages = _open(folder, PASSAGES)
        self._sentences = _open(folder, SENTENCES)

    def passages(self, terms: SearchTerms, systems: Sequence[str], limit: int) -> list[Hit]:
        """The best passages, best first."""
        return _search(self._passages, terms, systems, limit, TITLE)

    def sentences(self, terms: SearchTerms, systems: Sequence[str], limit: int) -> list[Hit]:
        """The best sentences: by their own words, and by those of the passage around them."""
        found = _search(self._sentences, terms, systems, limit * SENTENCES_SEEN, None)
        around: dict[tuple[int, int], list[Hit]] = defaultdict(list)
        for passage in self.passages(terms, systems, PASSAGES_SEEN) if found else ():
            around[passage.document_id, passage.page].append(passage)
        scored = [_with_passage(hit, around[hit.document_id, hit.page]) for hit in found]
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


def encodable(names: Sequence[str]) -> list[str]:
    """The names with halves of surrogate pairs, which no index and no table can hold, as escapes."""
    return [name.encode(errors="backslashreplace").decode() for name in names]


def _with_passage(hit: Hit, passages: Sequence[Hit]) -> Hit:
    scores = (passage.score for passage in passages if passage.first <= hit.first <= passage.last)
    return replace(hit, score=round(hit.score + PASSAGE_SHARE * next(scores, 0.0), DIGITS))


def _open(folder: Path, kind: str) -> tantivy.Index:
    try:
        index = tantivy.Index.open(str(folder / kind))
    except (OSError, ValueError) as error:
        raise DamagedPartError(
            f"search index {folder / kind} cannot be opened ({error}): ingest again"
        ) from error
    if index.schema != schema(kind):
        raise StoreFormatError(
            f"search index {folder / kind} was built by another version: run the same `tudastar ingest` again"
        )
    return index


def _search(
    index: tantivy.Index, terms: SearchTerms, systems: Sequence[str], limit: int, title: str | None
) -> list[Hit]:
    query = _query(index.schema, terms, systems, title)
    if query is None or limit < 1:
        return []
    searcher = index.searcher()
    scored = _whole_ties(searcher, query, limit)
    addresses = [address for _, address in scored]
    columns = [
        searcher.fast_field_values(name, addresses) for name in ("document_id", "page", "first", "last")
    ]
    found = [
        _hit([int(value or 0) for value in place], score)
        for (score, _), place in zip(scored, zip(*columns, strict=True), strict=True)
    ]
    return sorted(found, key=_rank)[:limit]


def _whole_ties(
    searcher: tantivy.Searcher, query: tantivy.Query, limit: int
) -> list[tuple[float, tantivy.DocAddress]]:
    """The best hits, and behind them all that have the last one's score: which of those stay, their keys tell.

    tantivy orders equal scores by its segments, which differ from build to build.
    """
    wanted = limit + 1
    while True:
        hits = searcher.search(query, wanted, count=False).hits
        scored = [(round(float(score), DIGITS), address) for score, address in hits]
        if len(scored) < wanted or scored[-1][0] < scored[limit - 1][0] or wanted >= limit + MOST_TIES:
            return scored
        wanted = limit + min(4 * wanted, MOST_TIES)


def _hit(place: Sequence[int], score: float) -> Hit:
    document_id, page, first, last = place
    return Hit(document_id, page, first, last, score)


def _rank(hit: Hit) -> tuple[float, int, int, int]:
    return (-hit.score, hit.document_id, hit.page, hit.first)


def _query(
    fields: tantivy.Schema, terms: SearchTerms, systems: Sequence[str], title: str | None
) -> tantivy.Query | None:
    weighted = [
        (name, term, FIELD_WEIGHTS[name] * weight) for name, found in terms.fields for term, weight in found
    ]
    if title:
        weighted += [(title, term, TITLE_WEIGHT * weight) for term, weight in dict(terms.fields)["lemma"]]
    if not weighted:
        return None
    clauses = [
        tantivy.Query.boost_query(tantivy.Query.term_query(fields, name, term, "freq"), weight)
        for name, term, weight in weighted
    ]
    clauses += [
        tantivy.Query.boost_query(tantivy.Query.phrase_query(fields, PHRASE_FIELD, list(pair)), NAME_WEIGHT)
        for pair in terms.names
    ]
    words = tantivy.Query.boolean_query([(tantivy.Occur.Should, clause) for clause in clauses])
    if not systems:
        return words
    allowed = tantivy.Query.term_set_query(fields, SYSTEM, encodable(systems))
    return tantivy.Query.boolean_query(
        [
            (tantivy.Occur.Must, words),
            (tantivy.Occur.Must, tantivy.Query.const_score_query(allowed, 0.0)),
        ]
    )
