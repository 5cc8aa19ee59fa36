"""Stage `entities`: the corpus's names → entities, and each mention's entity."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ner.entities import Name, Resolution, ResolvedName, resolve_names
from pipelines.engines.contract import Engine
from pipelines.stages.tables import RECOGNISED
from store.files import temporary_sibling
from store.parts import Part, open_part, write_part
from store.tables import MENTIONS, columns

NAMES = columns(language=pa.string(), surface=pa.string(), entity_id=pa.int64())
COUNT_NAMES = """
SELECT language, surface, lemma, label, count(*) AS mentions
FROM recognised GROUP BY language, surface, lemma, label ORDER BY language, surface, lemma, label
"""
COUNT_ENTITIES = """
SELECT entity_id, count(*) AS mentions, count(DISTINCT document_id) AS documents
FROM mentions GROUP BY entity_id ORDER BY entity_id
"""


def resolve(engine: Engine, root: Path, recognised: Sequence[Part]) -> Resolution:
    """Count the names of the whole corpus and group them; the names fit in memory, the mentions need not."""
    if not recognised:
        return Resolution((), ())
    batches = engine.query(COUNT_NAMES, {RECOGNISED.name: [root / part.path for part in recognised]})
    return resolve_names(Name(**row) for batch in batches for row in batch.to_pylist())


def write_names(path: Path, names: Iterable[ResolvedName]) -> None:
    """Write which name belongs to which entity, for the workers to read."""
    table = pa.Table.from_pylist([dataclasses.asdict(name) for name in names], schema=NAMES)
    aside = temporary_sibling(path)
    pq.write_table(table, aside)
    aside.replace(path)


@dataclass(frozen=True, slots=True)
class LinkTask:
    """Recognised mentions → mentions with their entity; a name that is none is left out."""

    root: Path
    names: Path

    def __call__(self, item: Part) -> list[Part]:
        part = write_part(self.root, MENTIONS, item.bucket, self._linked(item))
        return [part] if part else []

    def _linked(self, item: Part) -> Iterator[pa.RecordBatch]:
        entities = _names(self.names)
        with open_part(self.root, item) as file:
            for group in range(item.row_groups):
                rows = file.read_row_group(group).to_pylist()
                for row in rows:
                    row["entity_id"] = entities.get((row.pop("language"), row["surface"]))
                known = [row for row in rows if row["entity_id"] is not None]
                yield pa.RecordBatch.from_pylist(known, schema=MENTIONS.schema)


@lru_cache(maxsize=1)
def _names(path: Path) -> Mapping[tuple[str, str], int]:
    rows = pq.read_table(path).to_pydict()
    keys = zip(rows["language"], rows["surface"], strict=True)
    return dict(zip(keys, rows["entity_id"], strict=True))


def count_entities(engine: Engine, root: Path, mentions: Sequence[Part]) -> dict[int, tuple[int, int]]:
    """Number of mentions and of documents, by entity."""
    if not mentions:
        return {}
    counts: dict[int, tuple[int, int]] = {}
    for batch in engine.query(COUNT_ENTITIES, {MENTIONS.name: [root / part.path for part in mentions]}):
        for row in batch.to_pylist():
            counts[row["entity_id"]] = (row["mentions"], row["documents"])
    return counts
