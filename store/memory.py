"""DuckDB in memory, for questions to Parquet files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import duckdb

MEMORY_LIMIT = "1GB"
THREADS = 2


@contextmanager
def in_memory() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection for one thread, with temporary views of its own.

    All of a process share one database: to open one takes longer than to answer most questions. What does not fit in
    memory goes by way of the folder for temporary files.
    """
    with _database(os.getpid()).cursor() as connection:
        yield connection


@cache
def _database(process: int) -> duckdb.DuckDBPyConnection:
    """The process is named since a database does not survive a fork."""
    return duckdb.connect(
        config={
            "memory_limit": MEMORY_LIMIT,
            "threads": THREADS,
            "temp_directory": str(Path(tempfile.gettempdir()) / f"tudastar-duckdb-{process}"),
            "enable_external_file_cache": False,
        }
    )
