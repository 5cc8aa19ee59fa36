"""Proof that documents are gone: every file of a domain's folder is searched for them, as what it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import tantivy

from store.layout import DomainLayout
from store.stored_files import files_below

TEXT_COLUMNS = ("text", "summary")
"""Names and lemmas may be those of other documents; they are worked out anew from what is left."""


@dataclass(slots=True)
class Search:
    """What is looked for, and what was looked at."""

    documents: frozenset[int]
    texts: frozenset[bytes]
    """Hashes of pages and sentences that no other document has."""
    looked_at: dict[str, int] = field(default_factory=dict)
    """Number by kind: parquet files, duckdb files, indexes, other files, rows."""
    found: list[str] = field(default_factory=list)
    """Paths, with what stands there."""

    def count(self, kind: str, number: int = 1) -> None:
        self.looked_at[kind] = self.looked_at.get(kind, 0) + number

    def look_at(self, place: str, batches: Iterable[pa.RecordBatch]) -> None:
        """Look through rows: every number in them, however deep, and every text of a page or sentence."""
        for batch in batches:
            self.count("rows", batch.num_rows)
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                texts = self.texts if name in TEXT_COLUMNS else frozenset()
                if any(self._is_wanted(value, texts) for value in _leaves(column.to_pylist())):
                    self.found.append(f"{place}, column {name}")

    def _is_wanted(self, value: object, texts: frozenset[bytes]) -> bool:
        if isinstance(value, int):
            return value in self.documents
        return isinstance(value, str) and text_hash(value) in texts


def text_hash(text: str) -> bytes:
    """Stands for a text, so that no text needs to be kept."""
    return hashlib.blake2b(text.strip().encode(errors="surrogatepass"), digest_size=16).digest()


def search_everywhere(layout: DomainLayout, documents: frozenset[int], texts: frozenset[bytes]) -> Search:
    """Look through all files of the domain but its list of purged ids."""
    search = Search(documents, texts)
    for path in sorted(files_below(layout.root)):
        place = path.relative_to(layout.root).as_posix()
        if path == layout.purged_file:
            continue
        if path.suffix == ".parquet":
            search.count("parquet files")
            with pq.ParquetFile(path) as file:
                search.look_at(place, file.iter_batches(batch_size=8192))
        elif path.suffix == ".duckdb":
            search.count("duckdb files")
            _look_at_duckdb(search, path, place)
        elif path.name == "meta.json" and path.is_relative_to(layout.search):
            search.count("indexes")
            _look_at_index(search, path.parent, place)
        elif not path.is_relative_to(layout.search):
            search.count("other files")
            content = path.read_bytes()
            if any(str(identity).encode() in content for identity in documents):
                search.found.append(place)
    return search


def _look_at_duckdb(search: Search, path: Path, place: str) -> None:
    with duckdb.connect(path, read_only=True) as connection:
        for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            search.look_at(f"{place}, table {name}", connection.table(name).to_arrow_reader(8192))


def _look_at_index(search: Search, folder: Path, place: str) -> None:
    """An index keeps no texts, but the documents' ids beside the terms."""
    searcher = tantivy.Index.open(str(folder)).searcher()
    if not searcher.num_docs:
        return
    hits = searcher.search(tantivy.Query.all_query(), searcher.num_docs, count=False).hits
    identities = searcher.fast_field_values("document_id", [address for _, address in hits])
    search.count("rows", len(identities))
    if search.documents.intersection(identities):
        search.found.append(place)


def _leaves(value: Any) -> Iterator[object]:
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _leaves(each)
    else:
        yield value
