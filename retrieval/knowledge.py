"""The published knowledge stores as tools see them."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from retrieval.index.query import Hit, SearchIndex, SearchTerms
from retrieval.naming import EntityNames
from retrieval.telling import most_telling
from store.reader import Generation, KnowledgeStore
from toolkit.documents import UniqueTextDocument
from toolkit.knowledge import Entity, Neighbour

NAMING = """
SELECT s.document_id, d.name, d.url, s.page, s.sentence_number, s.text, min(m.start) AS start, min(m.end) AS stop
FROM mentions m JOIN sentences s USING (document_id, page, sentence_number) JOIN documents d USING (document_id)
WHERE m.entity_id = $entity AND (len($systems) = 0 OR list_contains($systems, d.system))
GROUP BY ALL ORDER BY s.document_id, s.page, s.sentence_number LIMIT $seen
"""
SPANS = """
WITH spans AS (
  SELECT unnest($documents) AS document_id, unnest($pages) AS page, unnest($firsts) AS first, unnest($lasts) AS last
)
SELECT DISTINCT s.document_id, d.name, d.url, s.page, s.sentence_number, s.text
FROM spans h JOIN sentences s
ON s.document_id = h.document_id AND s.page = h.page AND s.sentence_number BETWEEN h.first AND h.last
JOIN documents d ON d.document_id = s.document_id
WHERE len($systems) = 0 OR list_contains($systems, d.system)
ORDER BY s.document_id, s.page, s.sentence_number
"""
COMPANY = """
SELECT e.*, g.weight, g.sentences FROM (
  SELECT target AS other, weight, sentences FROM edges WHERE source = $entity
  UNION ALL SELECT source, weight, sentences FROM edges WHERE target = $entity
) g JOIN entities e ON e.entity_id = g.other ORDER BY g.weight DESC, e.name, e.entity_id
"""
LOOKED_AT = 3
"""How many times the wanted number of sentences is looked at for their length."""
FULL_LENGTH = 8
"""Words from which on a sentence keeps its whole score; fewer say little: "Mit csinál?"."""
MENTIONS_SEEN = 400
"""Sentences that name an entity among which the most telling ones are chosen."""
EVIDENCE = 3
"""Sentences given with a neighbour."""


class StoreKnowledge:
    """One generation of one domain. Calls block; any thread may call."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self._index = SearchIndex(generation.search_path)
        self._names = EntityNames(generation, self.languages)

    @property
    def domain(self) -> str:
        return self._generation.domain

    @property
    def generation(self) -> int:
        return self._generation.number

    @property
    def languages(self) -> tuple[str, ...]:
        rows = self._rows("SELECT language FROM documents GROUP BY 1 ORDER BY count(*) DESC, 1")
        return tuple(row["language"] for row in rows)

    def search(self, query: str, systems: Sequence[str] = (), limit: int = 10) -> list[UniqueTextDocument]:
        """The best sentences for a query, best first."""
        hits = self._index.sentences(self._terms(query), systems, LOOKED_AT * limit)
        found = [replace(each, sentence_score=_by_length(each)) for each in self._sentences(hits)]
        return sorted(found, key=lambda each: (-each.sentence_score, each.key))[:limit]

    def search_documents(
        self, query: str, systems: Sequence[str] = (), limit: int = 10
    ) -> list[tuple[str, float]]:
        """The best documents: the record's own id, or the path, with a score; best first."""
        scores = dict(self._index.documents(self._terms(query), systems, limit))
        rows = self._rows(
            "SELECT document_id, coalesce(record_id, source_id) AS name FROM documents"
            " WHERE list_contains($ids, document_id)",
            ids=list(scores),
        )
        names = {row["document_id"]: row["name"] for row in rows}
        return [(names[identity], score) for identity, score in scores.items()]

    def with_neighbours(
        self, documents: Sequence[UniqueTextDocument], before: int = 1, after: int = 1
    ) -> list[UniqueTextDocument]:
        """The same sentences with those around them on their pages, in reading order.

        A sentence that was given keeps its score, one that joins has score 0.
        """
        given = {document.key: document for document in documents}
        hits = [
            Hit(d.document_id, d.page, max(d.sentence_number - before, 0), d.sentence_number + after, 0.0)
            for d in documents
        ]
        around = {each.key: each for each in self._sentences(hits)}
        return sorted((around | given).values())

    def page(self, document_id: int, page: int) -> list[UniqueTextDocument]:
        """All sentences of a page in their order; empty when there is no such page."""
        return self._sentences([Hit(document_id, page, 0, 2**31 - 1, 0.0)])

    def find_entities(self, text: str, systems: Sequence[str] = (), limit: int = 5) -> list[Entity]:
        """Entities that a text names, the longest name first."""
        found = self._names.find(text)
        if systems:
            found = [entity for entity in found if self.entity_sentences(entity, systems, 1)]
        return found[:limit]

    def entity_sentences(
        self, entity: Entity, systems: Sequence[str] = (), limit: int = 10
    ) -> list[UniqueTextDocument]:
        """Sentences that name the entity, the most telling first."""
        rows = self._rows(
            NAMING,
            entity=entity.entity_id,
            systems=list(systems),
            seen=MENTIONS_SEEN,
        )
        return [_document(row, score) for row, score in most_telling(rows)[:limit]]

    def neighbours(self, entity: Entity, systems: Sequence[str] = (), limit: int = 10) -> list[Neighbour]:
        """Entities that share sentences with it, the closest first."""
        rows = self._rows(
            COMPANY,
            entity=entity.entity_id,
        )
        found: list[Neighbour] = []
        for row in rows:
            evidence = self._evidence(row["sentences"], systems)
            if evidence:
                weight = row["weight"] if not systems else float(len(evidence))
                found.append(Neighbour(entity_of(row), weight, tuple(evidence[:EVIDENCE])))
            if len(found) == limit:
                break
        return found

    def _evidence(
        self, places: Iterable[Mapping[str, int]], systems: Sequence[str]
    ) -> list[UniqueTextDocument]:
        hits = [
            Hit(p["document_id"], p["page"], p["sentence_number"], p["sentence_number"], 0.0) for p in places
        ]
        return self._sentences(hits if systems else hits[:EVIDENCE], systems)

    def _sentences(self, hits: Sequence[Hit], systems: Sequence[str] = ()) -> list[UniqueTextDocument]:
        """The sentences of the spans, each once, in reading order; the first of a span has its score."""
        scores = {(hit.document_id, hit.page, hit.first): hit.score for hit in hits}
        rows = self._rows(
            SPANS,
            documents=[hit.document_id for hit in hits],
            pages=[hit.page for hit in hits],
            firsts=[hit.first for hit in hits],
            lasts=[hit.last for hit in hits],
            systems=list(systems),
        )
        places = ((row["document_id"], row["page"], row["sentence_number"]) for row in rows)
        return [_document(row, scores.get(place, 0.0)) for row, place in zip(rows, list(places), strict=True)]

    def _terms(self, query: str) -> SearchTerms:
        return SearchTerms.of(query, self.languages)

    def _rows(self, sql: str, **parameters: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._generation.query(sql, parameters).to_pylist()
        return rows


class StoreKnowledgeBase:
    """All domains of a store. The newest generation of each is kept open, and swapped when a newer one is out."""

    def __init__(self, root: Path) -> None:
        self._store = KnowledgeStore(root)
        self._open: dict[str, StoreKnowledge] = {}
        self._lock = threading.Lock()

    def domains(self) -> list[str]:
        """Names of the domains that have a published generation."""
        return self._store.domains()

    def open(self, domain: str) -> StoreKnowledge:
        """The newest generation. Raises NoGenerationError, a LookupError, that names the domains there are."""
        newest = self._store.latest_number(domain)
        with self._lock:
            current = self._open.get(domain)
            if current is None or current.generation != newest:
                current = self._open[domain] = StoreKnowledge(self._store.open(domain))
            return current


def entity_of(row: Mapping[str, Any]) -> Entity:
    """An entity from a row of the table `entities`."""
    return Entity(
        entity_id=row["entity_id"],
        name=row["name"],
        label=row["label"],
        aliases=tuple(row["aliases"]),
        mention_count=row["mention_count"],
        document_count=row["document_count"],
    )


def _by_length(sentence: UniqueTextDocument) -> float:
    words = len((sentence.text or "").split())
    return sentence.sentence_score * math.sqrt(min(words, FULL_LENGTH) / FULL_LENGTH)


def _document(row: Mapping[str, Any], score: float) -> UniqueTextDocument:
    return UniqueTextDocument(
        document_id=row["document_id"],
        document_name=row["name"],
        document_url=row["url"],
        page=row["page"],
        sentence_number=row["sentence_number"],
        text=row["text"],
        sentence_score=score,
    )
