"""Reading a store: the published generations alone."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb
import pyarrow as pa

from store.commits import Commit, commit_numbers, latest_commit
from store.errors import InvalidNameError, NoGenerationError
from store.layout import DomainLayout
from store.lease import Lease

MEMORY_LIMIT = "1GB"


class Generation:
    """One generation of one domain, open for reading; safe for threads, unchanged while it is held.

    The lease keeps its files from being swept, by whatever process.
    """

    def __init__(self, layout: DomainLayout, commit: Commit, lease: Lease) -> None:
        self.commit = commit
        self._lease = lease
        self.search_path: Path = layout.root / commit.search
        """Folder of the search index."""
        self._connection = duckdb.connect(
            layout.root / commit.knowledge,
            read_only=True,
            config={"enable_external_access": False, "memory_limit": MEMORY_LIMIT, "threads": 1},
        )
        self._cursors = threading.local()

    @property
    def number(self) -> int:
        """The generation's number."""
        return self.commit.number

    @property
    def domain(self) -> str:
        """The domain's name."""
        return self.commit.domain

    def query(self, sql: str, parameters: Sequence[object] | Mapping[str, object] | None = None) -> pa.Table:
        """The result of a statement over the tables of `store.tables`; values are bound, never pasted."""
        cursor: duckdb.DuckDBPyConnection | None = getattr(self._cursors, "cursor", None)
        if cursor is None:
            cursor = self._cursors.cursor = self._connection.cursor()
        table: pa.Table = cursor.sql(sql, params=parameters).to_arrow_table()
        return table

    def close(self) -> None:
        """Free the file. Running queries of other threads fail, so close when nobody holds it."""
        self._connection.close()
        self._lease.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class KnowledgeStore:
    """The folder of all domains."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def domains(self) -> list[str]:
        """Names of the domains that have a published generation, sorted."""
        if not self.root.is_dir():
            return []
        return sorted(path.name for path in self.root.iterdir() if commit_numbers(DomainLayout(path)))

    def latest_number(self, domain: str) -> int | None:
        """The number of a domain's newest generation: one listing of a folder. None when there is none."""
        numbers = commit_numbers(self._layout(domain))
        return numbers[-1] if numbers else None

    def commit(self, domain: str) -> Commit:
        """The newest generation's commit. Raises NoGenerationError that names the domains there are."""
        layout = self._layout(domain)
        commit = latest_commit(layout)
        if commit is None:
            raise self._unknown(domain)
        layout.check_format()
        return commit

    def open(self, domain: str) -> Generation:
        """The newest generation. Raises NoGenerationError or StoreFormatError."""
        layout = self._layout(domain)
        while True:
            commit = self.commit(domain)
            try:
                lease = Lease(layout.commit_file(commit.number))
            except FileNotFoundError:
                continue
            return Generation(layout, commit, lease)

    def _layout(self, domain: str) -> DomainLayout:
        try:
            return DomainLayout.of(self.root, domain)
        except InvalidNameError as error:
            raise self._unknown(domain) from error

    def _unknown(self, domain: str) -> NoGenerationError:
        there = ", ".join(self.domains()) or "none yet; make one with `tudastar ingest`"
        return NoGenerationError(f"no domain {domain[:80]!r} in {self.root}; there are: {there}")
