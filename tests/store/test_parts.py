from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from store.errors import DamagedPartError
from store.parts import ROW_GROUP_BYTES, Part, open_part, read_parts, write_part
from store.tables import PAGES


def pages(document: int, count: int, text: str = "szöveg") -> pa.RecordBatch:
    rows = [
        {"document_id": document, "page": page, "heading": None, "text": text, "summary": None}
        for page in range(count)
    ]
    return pa.RecordBatch.from_pylist(rows, schema=PAGES.schema)


def written(root: Path, *batches: pa.RecordBatch) -> Part:
    part = write_part(root, PAGES, "00", batches)
    assert part is not None
    return part


def test_rows_come_back_as_written(tmp_path: Path) -> None:
    part = written(tmp_path, pages(1, 3), pages(2, 1))
    rows = pa.Table.from_batches(read_parts(tmp_path, [part])).to_pylist()
    assert rows == [*pages(1, 3).to_pylist(), *pages(2, 1).to_pylist()]
    assert (part.rows, part.bucket, part.table) == (4, "00", "pages")


def test_equal_rows_have_an_equal_name_and_leave_nothing_else(tmp_path: Path) -> None:
    assert written(tmp_path, pages(1, 3)) == written(tmp_path, pages(1, 3))
    assert len(list((tmp_path / "parts" / "pages").iterdir())) == 1


def test_no_rows_make_no_part(tmp_path: Path) -> None:
    assert write_part(tmp_path, PAGES, "00", []) is None
    assert not (tmp_path / "parts").exists()


def test_rows_of_one_batch_stay_in_one_row_group(tmp_path: Path) -> None:
    big = "x" * ROW_GROUP_BYTES
    part = written(tmp_path, pages(1, 1, big), pages(2, 2, big), pages(3, 1))
    with open_part(tmp_path, part) as file:
        groups = [file.read_row_group(n, ["document_id"]).to_pydict() for n in range(part.row_groups)]
    assert [group["document_id"] for group in groups] == [[1], [2, 2], [3]]


def test_a_failed_writer_leaves_nothing(tmp_path: Path) -> None:
    def broken():
        yield pages(1, 1, "x" * ROW_GROUP_BYTES)
        raise RuntimeError("the disk is on fire")

    with pytest.raises(RuntimeError, match="on fire"):
        write_part(tmp_path, PAGES, "00", broken())
    assert list((tmp_path / "parts" / "pages").iterdir()) == []


def test_r10_2_a_cut_or_missing_part_is_named(tmp_path: Path) -> None:
    part = written(tmp_path, pages(1, 3))
    part.check(tmp_path)
    path = tmp_path / part.path
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedPartError, match="differs from its manifest"):
        part.check(tmp_path)
    with pytest.raises(DamagedPartError, match="cannot be read"):
        open_part(tmp_path, part)
    path.unlink()
    with pytest.raises(DamagedPartError, match="is missing"):
        part.check(tmp_path)
