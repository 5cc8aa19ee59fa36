"""The published knowledge stores as tools see them."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from retrieval.index.query import SearchIndex, SearchTerms, encodable
from retrieval.naming import EntityNames
from retrieval.telling import most_telling
from store.reader import Generation, KnowledgeStore
from toolkit.documents import UniqueTextDocument
from toolkit.knowledge import DocumentInfo, Entity, Neighbour

LANGUAGES = "SELECT language FROM documents GROUP BY language ORDER BY count(*) DESC, language"
DOCUMENTS = """
SELECT document_id, name, url, system, language, page_count FROM documents
WHERE len($systems) = 0 OR list_contains($systems, system) ORDER BY name, document_id LIMIT $wanted
"""
DOCUMENT = (
    "SELECT document_id, name, url, system, language, page_count FROM documents WHERE document_id = $document"
)
HEADINGS = "SELECT coalesce(heading, '') AS heading FROM pages WHERE document_id = $document ORDER BY page"
ENTITIES = "SELECT * FROM entities ORDER BY mention_count DESC, name, entity_id LIMIT $wanted"
ENTITIES_IN_SYSTEMS = """
SELECT e.* FROM (
  SELECT entity_id, count(*) AS mentions FROM mentions JOIN documents d USING (document_id)
  WHERE list_contains($systems, d.system) GROUP BY entity_id
) m JOIN entities e USING (entity_id) ORDER BY m.mentions DESC, e.name, e.entity_id LIMIT $wanted
"""
NAMING = """
SELECT s.document_id, d.name, d.url, d.language, s.page, s.sentence_number, s.text,
  min(m.start) AS start, arg_min(m.end, m.start) AS stop
FROM mentions m JOIN sentences s USING (document_id, page, sentence_number) JOIN documents d USING (document_id)
WHERE m.entity_id = $entity AND (len($systems) = 0 OR list_contains($systems, d.system))
GROUP BY ALL ORDER BY s.document_id, s.page, s.sentence_number LIMIT $seen
"""
SPANS = """
WITH spans AS (
  SELECT unnest($document_id) AS document_id, unnest($page) AS page, unnest($first) AS first, unnest($last) AS last
)
SELECT DISTINCT s.document_id, d.name, d.url, s.page, s.sentence_number, s.text
FROM spans h JOIN sentences s
ON s.document_id = h.document_id AND s.page = h.page AND s.sentence_number BETWEEN h.first AND h.last
JOIN documents d ON d.document_id = s.document_id
ORDER BY s.document_id, s.page, s.sentence_number
"""
COMPANY = """
SELECT e.*, g.weight, g.sentences[:$evidence] AS sentences FROM (
  SELECT target AS other, weight, sentences FROM edges WHERE source = $entity AND kind = 'sentence'
  UNION ALL SELECT source, weight, sentences FROM edges WHERE target = $entity AND kind = 'sentence'
) g JOIN entities e ON e.entity_id = g.other ORDER BY g.weight DESC, e.name, e.entity_id LIMIT $wanted
"""
COMPANY_IN_SYSTEMS = """
WITH places AS (
  SELECT DISTINCT document_id, page, sentence_number FROM mentions JOIN documents d USING (document_id)
  WHERE entity_id = $entity AND list_contains($systems, d.system)
), shared AS (
  SELECT DISTINCT m.entity_id AS other, m.document_id, m.page, m.sentence_number
  FROM mentions m JOIN places USING (document_id, page, sentence_number) WHERE m.entity_id <> $entity
)
SELECT e.*, g.weight, g.sentences FROM (
  SELECT other, count(*)::DOUBLE AS weight, list(
    struct_pack(document_id, page, sentence_number) ORDER BY document_id, page, sentence_number
  )[:$evidence] AS sentences FROM shared GROUP BY other
) g JOIN entities e ON e.entity_id = g.other ORDER BY g.weight DESC, e.name, e.entity_id LIMIT $wanted
"""
LOOKED_AT = 3
"""How many times the wanted number of sentences is looked at for their length."""
FULL_LENGTH = 8
"""Words from which on a sentence keeps its whole score; fewer say little: "Mit csinál?"."""
MENTIONS_SEEN = 400
"""Sentences that name an entity among which the most telling ones are chosen."""
EVIDENCE = 3
"""Sentences given with a neighbour."""


class Span(NamedTuple):
    """Consecutive sentences of a page."""

    document_id: int
    page: int
    first: int
    last: int


class StoreKnowledge:
    """One generation of one domain. Calls block; any thread may call."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self._languages = tuple(row["language"] for row in self._rows(LANGUAGES))
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
        return self._languages

    def documents(self, systems: Sequence[str] = (), limit: int = 100) -> list[DocumentInfo]:
        """The documents by name."""
        rows = self._rows(DOCUMENTS, systems=encodable(systems), wanted=max(limit, 0))
        return [DocumentInfo(**row) for row in rows]

    def document(self, document_id: int) -> DocumentInfo | None:
        """One of them; None when there is no such document."""
        rows = self._rows(DOCUMENT, document=document_id)
        return DocumentInfo(**rows[0]) if rows else None

    def headings(self, document_id: int) -> list[str]:
        """The heading of each page of a document; empty where it has none."""
        return [row["heading"] for row in self._rows(HEADINGS, document=document_id)]

    def search(self, query: str, systems: Sequence[str] = (), limit: int = 10) -> list[UniqueTextDocument]:
        """The best sentences for a query, best first."""
        hits = self._index.sentences(self._terms(query), systems, LOOKED_AT * limit)
        scores = {(hit.document_id, hit.page, hit.first): hit.score for hit in hits}
        found = self._sentences([Span(*place, place[-1]) for place in scores])
        scored = [replace(each, sentence_score=_by_length(each.text, scores[each.key])) for each in found]
        return sorted(scored, key=lambda each: (-each.sentence_score, each.key))[:limit]

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
        spans = [
            Span(d.document_id, d.page, max(d.sentence_number - before, 0), d.sentence_number + after)
            for d in documents
        ]
        around = {each.key: each for each in self._sentences(spans)}
        return sorted((around | given).values())

    def page(self, document_id: int, page: int) -> list[UniqueTextDocument]:
        """All sentences of a page in their order; empty when there is no such page."""
        return self._sentences([Span(document_id, page, 0, 2**31 - 1)])

    def entities(self, systems: Sequence[str] = (), limit: int = 100) -> list[Entity]:
        """The entities, the most often mentioned first."""
        narrowed = {"systems": encodable(systems)} if systems else {}
        rows = self._rows(ENTITIES_IN_SYSTEMS if systems else ENTITIES, wanted=max(limit, 0), **narrowed)
        return [entity_of(row) for row in rows]

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
            systems=encodable(systems),
            seen=MENTIONS_SEEN,
        )
        return [_document(row, score) for row, score in most_telling(rows)[:limit]]

    def neighbours(self, entity: Entity, systems: Sequence[str] = (), limit: int = 10) -> list[Neighbour]:
        """Entities that share sentences with it, the closest first."""
        narrowed = {"systems": encodable(systems)} if systems else {}
        rows = self._rows(
            COMPANY_IN_SYSTEMS if systems else COMPANY,
            entity=entity.entity_id,
            evidence=EVIDENCE,
            wanted=max(limit, 0),
            **narrowed,
        )
        places = [
            [(p["document_id"], p["page"], p["sentence_number"]) for p in row["sentences"]] for row in rows
        ]
        spans = dict.fromkeys(Span(*place, place[-1]) for each in places for place in each)
        texts = {each.key: each for each in self._sentences(list(spans))}
        return [
            Neighbour(entity_of(row), row["weight"], tuple(texts[key] for key in each if key in texts))
            for row, each in zip(rows, places, strict=True)
        ]

    def _sentences(self, spans: Sequence[Span]) -> list[UniqueTextDocument]:
        """The sentences of the spans, each once, in reading order, with score 0."""
        if not spans:
            return []
        columns = zip(*spans, strict=True)
        rows = self._rows(
            SPANS, **{name: list(column) for name, column in zip(Span._fields, columns, strict=True)}
        )
        return [_document(row, 0.0) for row in rows]

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


def _by_length(text: str | None, score: float) -> float:
    words = len((text or "").split())
    return score * math.sqrt(min(words, FULL_LENGTH) / FULL_LENGTH)


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
