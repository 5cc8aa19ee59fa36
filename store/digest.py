"""The logical digest of a table: a function of its rows alone.

It does not depend on how the rows lie in parts, on the engine that made them, on order or on place. A
row is hashed as JSON with its columns in the schema's order, floats rounded, rows sorted by key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from store.memory import in_memory
from store.parts import Part
from store.tables import TABLES, Table

FLOAT_DECIMALS = 9


def digest_tables(root: Path, parts: Iterable[Part]) -> dict[str, str]:
    """Hex SHA-256 of every table of the store, given the parts of a generation."""
    by_table: dict[str, list[str]] = {name: [] for name in TABLES}
    for part in parts:
        if part.table in by_table:
            by_table[part.table].append(str(root / part.path))
    return {name: _digest(TABLES[name], files) for name, files in by_table.items()}


def combine(digests: dict[str, str]) -> str:
    """One hex SHA-256 over the digests of all tables."""
    lines = "".join(f"{name} {digests[name]}\n" for name in sorted(digests))
    return hashlib.sha256(lines.encode()).hexdigest()


def _digest(table: Table, files: Sequence[str]) -> str:
    state = hashlib.sha256()
    for row in _rows_as_json(table, files) if files else ():
        state.update(row.encode())
        state.update(b"\n")
    return state.hexdigest()


def _rows_as_json(table: Table, files: Sequence[str]) -> Iterator[str]:
    columns = ", ".join(_column(field.name, field.type) for field in table.schema)
    order = ", ".join(f'"{name}"' for name in table.key)
    sql = (
        f"SELECT CAST(to_json(r) AS VARCHAR) FROM (SELECT {columns} FROM read_parquet($files)) r "  # noqa: S608
        f"ORDER BY {order}, 1"
    )
    with in_memory() as connection:
        result = connection.execute(sql, {"files": list(files)})
        while rows := result.fetchmany(8192):
            yield from (row[0] for row in rows)


def _column(name: str, kind: pa.DataType) -> str:
    return f'round("{name}", {FLOAT_DECIMALS}) AS "{name}"' if pa.types.is_floating(kind) else f'"{name}"'
