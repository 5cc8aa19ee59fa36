from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from store.digest import combine, digest_tables
from store.knowledge_file import build_knowledge_file
from store.parts import Part, write_part
from store.sorted_rows import sorted_rows
from store.tables import EDGES, ENTITIES, TABLES

ROWS: list[dict[str, Any]] = [
    {
        "entity_id": number,
        "name": f"Név {number}",
        "label": "PER",
        "aliases": [f"Név {number}", f"Névnek {number}"],
        "mention_count": 2 * number,
        "document_count": 1,
        "community": None,
        "rank": number / 7,
    }
    for number in range(1, 6)
]


def part(root: Path, bucket: str, rows: list[dict[str, Any]]) -> Part:
    written = write_part(root, ENTITIES, bucket, [pa.RecordBatch.from_pylist(rows, schema=ENTITIES.schema)])
    assert written is not None
    return written


def test_r10_3_the_digest_does_not_depend_on_parts_order_or_place(tmp_path: Path) -> None:
    whole = digest_tables(tmp_path / "a", [part(tmp_path / "a", "00", ROWS)])
    split = [part(tmp_path / "b", "01", ROWS[3:]), part(tmp_path / "b", "00", ROWS[2::-1])]
    assert digest_tables(tmp_path / "b", split) == whole
    assert set(whole) == set(TABLES)


def test_the_digest_rounds_floats_and_sees_everything_else(tmp_path: Path) -> None:
    base = digest_tables(tmp_path, [part(tmp_path, "00", ROWS)])
    near = [row | {"rank": row["rank"] + 1e-12} for row in ROWS]
    assert digest_tables(tmp_path, [part(tmp_path, "00", near)]) == base
    for field, value in {"name": "más", "aliases": [], "community": 0, "rank": 0.5}.items():
        changed = digest_tables(tmp_path, [part(tmp_path, "00", [ROWS[0] | {field: value}, *ROWS[1:]])])
        assert changed["entities"] != base["entities"], field
        assert combine(changed) != combine(base)


def test_rows_come_sorted_by_key(tmp_path: Path) -> None:
    parts = [part(tmp_path, "00", ROWS[3:]), part(tmp_path, "01", ROWS[:3])]
    rows = pa.Table.from_batches(sorted_rows(tmp_path, ENTITIES, parts))
    assert rows.to_pylist() == ROWS
    assert list(sorted_rows(tmp_path, EDGES, parts)) == []


def test_the_knowledge_file_holds_every_table(tmp_path: Path) -> None:
    import duckdb

    target = tmp_path / "knowledge-x.duckdb"
    build_knowledge_file(tmp_path, [part(tmp_path, "00", ROWS)], target)
    with duckdb.connect(target, read_only=True) as connection:
        names = {row[0] for row in connection.execute("SHOW TABLES").fetchall()}
        assert names == {*TABLES, "aliases"}
        rows = connection.sql("SELECT * FROM entities").to_arrow_table()
        assert rows.to_pylist() == ROWS
        found = connection.execute("SELECT entity_id FROM aliases WHERE alias = 'Névnek 3'").fetchall()
    assert found == [(3,)]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_every_key_names_columns(table: Any) -> None:
    assert set(table.key) <= set(table.schema.names)
