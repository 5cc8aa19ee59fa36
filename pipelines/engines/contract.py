"""What runs the stages: the few operations that they need, whoever carries them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from store.parts import Part

Advance: TypeAlias = Callable[[int], None]
"""Called with the number of items that were finished since the last call."""


class Task(Protocol):
    """A piece of work that runs in any process: picklable, and a function of its item alone."""

    def __call__(self, item: Any) -> list[Part]:
        """Do one item; write its rows as parts and return them."""


class Engine(Protocol):
    """Runs tasks and queries. One engine serves one run at a time; close it afterwards."""

    @property
    def name(self) -> str:
        """`spark` or `local`."""

    def map(self, task: Task, items: Sequence[Any], advance: Advance) -> list[Part]:
        """The parts of all items, in the order of the items. An exception of the task ends the run."""

    def query(self, sql: str, tables: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
        """The rows of a query over Parquet files, streamed in the order that the query states.

        `sql` is ours alone and keeps to what Spark and DuckDB both understand. Every table has a file.
        """

    def close(self) -> None:
        """Free processes and sessions."""
