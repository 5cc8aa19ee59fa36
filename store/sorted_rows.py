"""A table's rows in key order, streamed from parts; what does not fit in memory goes by way of disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from store.memory import in_memory
from store.parts import Part
from store.tables import Table

BATCH_ROWS = 8192


def sorted_rows(
    root: Path, table: Table, parts: Iterable[Part], columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of those parts that belong to the table, sorted by its key."""
    files = [str(root / part.path) for part in parts if part.table == table.name]
    if not files:
        return
    chosen = ", ".join(f'"{name}"' for name in columns or table.schema.names)
    order = ", ".join(f'"{name}"' for name in table.key)
    sql = f"SELECT {chosen} FROM read_parquet($files) ORDER BY {order}"  # noqa: S608
    with in_memory() as connection:
        yield from connection.sql(sql, params={"files": files}).to_arrow_reader(BATCH_ROWS)
