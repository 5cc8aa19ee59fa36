"""The local engine: processes on this machine, DuckDB for queries, no JVM."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipelines.engines.contract import Advance, Task
from store.memory import in_memory
from store.parts import Part


class LocalEngine:
    """Runs tasks in `processes` workers; with one, in this process itself."""

    name = "local"

    def __init__(self, processes: int | None = None) -> None:
        self._processes = processes or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None

    def map(self, task: Task, items: Sequence[Any], advance: Advance) -> list[Part]:
        if self._processes == 1 or len(items) < 2:
            outcomes: Iterator[list[Part]] = map(task, items)
        else:
            outcomes = self._workers().map(task, items)
        parts: list[Part] = []
        for outcome in outcomes:
            parts.extend(outcome)
            advance(1)
        return parts

    def query(self, sql: str, tables: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
        return query_parquet(sql, tables)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _workers(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._processes, mp_context=context)
        return self._pool


def query_parquet(sql: str, tables: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
    """The rows of a query over Parquet files, by DuckDB in this process; what is too large goes by way of disk."""
    with in_memory() as connection:
        for name, files in tables.items():
            places = ", ".join("'" + str(file).replace("'", "''") + "'" for file in files)
            connection.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM read_parquet([{places}])")  # noqa: S608
        yield from connection.sql(sql).to_arrow_reader(8192)
