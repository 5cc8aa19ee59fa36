"""Parts: immutable Parquet files, named by bucket and content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict

from store.errors import DamagedPartError
from store.files import sha256_file, sync_file, temporary_sibling
from store.tables import Table

ROW_GROUP_BYTES = 256 * 1024
"""A row group is closed once it has this size in memory: the unit of work of the per-page stages."""


class Part(BaseModel):
    """One Parquet file of a table, as a manifest lists it."""

    model_config = ConfigDict(frozen=True)

    table: str
    bucket: str
    path: str
    """Relative to the domain's folder."""
    rows: int
    row_groups: int
    bytes: int
    sha256: str

    def check(self, root: Path) -> None:
        """Raises DamagedPartError unless the file is there with this size and checksum."""
        path = root / self.path
        if not path.is_file():
            raise DamagedPartError(f"part {path} is missing: ingest again or restore it")
        if path.stat().st_size != self.bytes or sha256_file(path) != self.sha256:
            raise DamagedPartError(f"part {path} differs from its manifest: ingest again or restore it")


class PartWriter:
    """Writes the rows of one bucket of one table, in key order, to a new part.

    Use it as a context manager; `part` is set on a clean exit, and stays None when no row was written. The
    file takes its final name only when it is whole.
    """

    def __init__(self, root: Path, table: Table, bucket: str) -> None:
        self.part: Part | None = None
        self._root, self._table, self._bucket = root, table, bucket
        self._folder = root / "parts" / table.name
        self._aside = temporary_sibling(self._folder / bucket)
        self._writer: pq.ParquetWriter | None = None
        self._pending: list[pa.RecordBatch] = []
        self._pending_bytes = 0
        self._rows = 0
        self._row_groups = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows; those of one batch stay together in a row group."""
        if batch.num_rows:
            self._pending.append(batch)
            self._pending_bytes += batch.nbytes
        if self._pending_bytes >= ROW_GROUP_BYTES:
            self._close_row_group()

    def _close_row_group(self) -> None:
        if not self._pending:
            return
        if self._writer is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(self._aside, self._table.schema, compression="zstd")
        rows = pa.Table.from_batches(self._pending, schema=self._table.schema)
        self._writer.write_table(rows, row_group_size=max(rows.num_rows, 1))
        self._rows += rows.num_rows
        self._row_groups += 1
        self._pending, self._pending_bytes = [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._close_row_group()
            if self._writer is not None:
                self._writer.close()
            if kind is None and self._writer is not None:
                self.part = self._publish()
        finally:
            self._aside.unlink(missing_ok=True)

    def _publish(self) -> Part:
        sync_file(self._aside)
        checksum = sha256_file(self._aside)
        name = f"{self._bucket}-{checksum[:16]}.parquet"
        size = self._aside.stat().st_size
        self._aside.replace(self._folder / name)
        sync_file(self._folder)
        return Part(
            table=self._table.name,
            bucket=self._bucket,
            path=f"parts/{self._table.name}/{name}",
            rows=self._rows,
            row_groups=self._row_groups,
            bytes=size,
            sha256=checksum,
        )


def write_part(root: Path, table: Table, bucket: str, batches: Iterable[pa.RecordBatch]) -> Part | None:
    """Write batches as one part; None when there are no rows."""
    with PartWriter(root, table, bucket) as writer:
        for batch in batches:
            writer.write(batch)
    return writer.part


def read_parts(
    root: Path, parts: Iterable[Part], columns: list[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of parts, one part after the other. Raises DamagedPartError when one is missing."""
    for part in parts:
        with open_part(root, part) as file:
            yield from file.iter_batches(batch_size=8192, columns=columns)


def open_part(root: Path, part: Part) -> pq.ParquetFile:
    """The open Parquet file of a part. Raises DamagedPartError when it is missing or cut."""
    try:
        return pq.ParquetFile(root / part.path)
    except (OSError, pa.ArrowInvalid) as error:
        raise DamagedPartError(f"part {root / part.path} cannot be read ({error})") from error
