"""The self-contained DuckDB file of a generation, which serving reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import duckdb

from store.files import sync_file, temporary_sibling
from store.parts import Part
from store.tables import TABLES, Table

WITHOUT_TERMS = {"sentences": "EXCLUDE (terms)"}
"""Search terms serve the index alone."""


def build_knowledge_file(root: Path, parts: Iterable[Part], target: Path, memory_limit: str = "1GB") -> None:
    """Copy the parts' rows, sorted by key, into a new DuckDB file; it appears when it is whole."""
    by_table: dict[str, list[str]] = {name: [] for name in TABLES}
    for part in parts:
        if part.table in by_table:
            by_table[part.table].append(str(root / part.path))
    aside = temporary_sibling(target)
    try:
        with duckdb.connect(aside, config={"memory_limit": memory_limit, "threads": 2}) as connection:
            for name, files in by_table.items():
                _create(connection, TABLES[name], files)
            connection.execute(
                "CREATE TABLE aliases AS SELECT DISTINCT entity_id, alias, lower(strip_accents(alias)) AS folded"
                " FROM (SELECT entity_id, unnest(list_append(aliases, name)) AS alias FROM entities) ORDER BY ALL"
            )
            connection.execute("CHECKPOINT")
        sync_file(aside)
        aside.replace(target)
        sync_file(target.parent)
    finally:
        aside.unlink(missing_ok=True)


def _create(connection: duckdb.DuckDBPyConnection, table: Table, files: list[str]) -> None:
    if not files:
        connection.register("empty", table.schema.empty_table())
        source, parameters = "empty", {}
    else:
        source, parameters = "read_parquet($files)", {"files": files}
    order = ", ".join(f'"{name}"' for name in table.key)
    columns = f"* {WITHOUT_TERMS.get(table.name, '')}"
    sql = f"CREATE TABLE {table.name} AS SELECT {columns} FROM {source} ORDER BY {order}"  # noqa: S608
    connection.execute(sql, parameters)
