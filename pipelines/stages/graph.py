"""Stage `graph`: entities that share a sentence → edges with evidence; rank and community of each entity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ner.entities import ResolvedEntity
from pipelines.engines.contract import Engine
from pipelines.stages.tables import PAIRS
from store.parts import Part, open_part, write_part
from store.tables import EDGES, ENTITIES

if TYPE_CHECKING:
    import networkx as nx

KIND = "sentence"
EVIDENCE = 50
"""Sentences kept with an edge: the first ones in key order."""
ENTITIES_PER_SENTENCE = 30
"""Of a sentence that names more (a list), the first ones are paired: pairs grow with the square."""
RANKED_ENTITIES = 20_000
"""The most mentioned entities, among which rank and community are worked out."""
GROUP_ID = "corpus"
MERGE_PAIRS = """
SELECT source, target, kind, sum(weight) AS weight, flatten(array_agg(sentences)) AS sentences
FROM pairs GROUP BY source, target, kind ORDER BY source, target, kind
"""


@dataclass(frozen=True, slots=True)
class PairsTask:
    """Mentions of one part → pairs of entities, counted and with evidence."""

    root: Path

    def __call__(self, item: Part) -> list[Part]:
        part = write_part(self.root, PAIRS, item.bucket, self._groups(item))
        return [part] if part else []

    def _groups(self, item: Part) -> Iterator[pa.RecordBatch]:
        columns = ["document_id", "page", "sentence_number", "entity_id"]
        with open_part(self.root, item) as file:
            for group in range(item.row_groups):
                yield _pairs(file.read_row_group(group, columns=columns).to_pylist())


def _pairs(mentions: Sequence[dict[str, Any]]) -> pa.RecordBatch:
    weights: dict[tuple[int, int], int] = defaultdict(int)
    evidence: dict[tuple[int, int], list[dict[str, int]]] = defaultdict(list)
    for place, rows in groupby(mentions, key=_place):
        entities = list(dict.fromkeys(row["entity_id"] for row in rows))[:ENTITIES_PER_SENTENCE]
        for pair in combinations(sorted(entities), 2):
            weights[pair] += 1
            if len(evidence[pair]) < EVIDENCE:
                evidence[pair].append(
                    dict(zip(("document_id", "page", "sentence_number"), place, strict=True))
                )
    counted = [
        {
            "source": source,
            "target": target,
            "kind": KIND,
            "weight": float(weight),
            "sentences": evidence[source, target],
        }
        for (source, target), weight in sorted(weights.items())
    ]
    return pa.RecordBatch.from_pylist(counted, schema=PAIRS.schema)


def _place(row: Mapping[str, Any]) -> tuple[int, int, int]:
    return (row["document_id"], row["page"], row["sentence_number"])


def write_edges(engine: Engine, root: Path, pairs: Sequence[Part]) -> list[Part]:
    """Merge the pairs of all pieces of work into the corpus's edges."""
    if not pairs:
        return []
    batches = engine.query(MERGE_PAIRS, {PAIRS.name: [root / part.path for part in pairs]})
    part = write_part(root, EDGES, GROUP_ID, (_with_first_evidence(batch) for batch in batches))
    return [part] if part else []


def _with_first_evidence(batch: pa.RecordBatch) -> pa.RecordBatch:
    rows = batch.to_pylist()
    for row in rows:
        row["sentences"] = sorted(row["sentences"], key=_place)[:EVIDENCE]
    return pa.RecordBatch.from_pylist(rows, schema=EDGES.schema)


def write_entities(
    root: Path,
    entities: Iterable[ResolvedEntity],
    counts: Mapping[int, tuple[int, int]],
    edges: Sequence[Part],
) -> list[Part]:
    """Write the entities with their counts, rank (PageRank, sums to 1) and community (Louvain, by size)."""
    ranks, communities = _analyse(_graph(root, counts, edges))
    rows = [
        {
            "entity_id": entity.entity_id,
            "name": entity.name,
            "label": entity.label,
            "aliases": list(entity.aliases),
            "mention_count": counts[entity.entity_id][0],
            "document_count": counts[entity.entity_id][1],
            "community": communities.get(entity.entity_id),
            "rank": ranks.get(entity.entity_id, 0.0),
        }
        for entity in entities
        if entity.entity_id in counts
    ]
    part = write_part(root, ENTITIES, GROUP_ID, [pa.RecordBatch.from_pylist(rows, schema=ENTITIES.schema)])
    return [part] if part else []


def _graph(root: Path, counts: Mapping[int, tuple[int, int]], edges: Sequence[Part]) -> nx.Graph:
    import networkx as nx

    kept = sorted(counts, key=lambda entity: (-counts[entity][0], entity))[:RANKED_ENTITIES]
    graph = nx.Graph()
    graph.add_nodes_from(sorted(kept))
    for part in edges:
        with open_part(root, part) as file:
            for batch in file.iter_batches(columns=["source", "target", "weight"]):
                for source, target, weight in zip(*batch.to_pydict().values(), strict=True):
                    if source in graph and target in graph:
                        graph.add_edge(source, target, weight=weight)
    return graph


def _analyse(graph: nx.Graph) -> tuple[dict[int, float], dict[int, int]]:
    import networkx as nx

    if not graph:
        return {}, {}
    ranks: dict[int, float] = nx.pagerank(graph, weight="weight")
    groups = nx.community.louvain_communities(graph, weight="weight", seed=0)
    ordered = sorted(groups, key=lambda group: (-len(group), min(group)))
    return ranks, {entity: number for number, group in enumerate(ordered) for entity in group}
