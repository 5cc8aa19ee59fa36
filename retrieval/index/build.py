"""Building the search index of a generation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import tantivy

from ner.text.terms import analyse
from retrieval.index.fields import PASSAGES, SENTENCES, SYSTEM, TERM_FIELDS, TITLE, register_tokenizer, schema

PASSAGE_CHARACTERS = 1_200
"""A passage is closed once its sentences have this length; it never goes beyond its page."""
WRITER_BYTES = 128_000_000


@dataclass(slots=True)
class IndexStats:
    """What was indexed."""

    passages: int = 0
    sentences: int = 0


@dataclass(frozen=True, slots=True)
class _Document:
    system: str
    name: str
    language: str
    headings: dict[int, str] = field(default_factory=dict)


def build_index(
    folder: Path,
    documents: Iterable[pa.RecordBatch],
    pages: Iterable[pa.RecordBatch],
    sentences: Iterable[pa.RecordBatch],
) -> IndexStats:
    """Write the indexes of passages and of sentences into an empty folder.

    Batches have the columns of `store.tables` and come sorted by key (of pages the key and heading suffice). One
    thread writes in that order, so the same rows give the same index. Document names and headings are held in
    memory, sentences are streamed.
    """
    known = {row["document_id"]: _document(row) for row in _rows(documents)}
    for row in _rows(pages):
        if row["heading"]:
            known[row["document_id"]].headings[row["page"]] = row["heading"]
    stats = IndexStats()
    with _Writer(folder / PASSAGES, PASSAGES) as passages, _Writer(folder / SENTENCES, SENTENCES) as single:
        for (identity, page), rows in groupby(
            _rows(sentences), lambda row: (row["document_id"], row["page"])
        ):
            document = known[identity]
            title = _title(document, page)
            for passage in _passages(rows):
                passages.add(document, identity, page, passage, title)
                stats.passages += 1
                for row in passage:
                    single.add(document, identity, page, [row], None)
                    stats.sentences += 1
    return stats


class _Writer(AbstractContextManager["_Writer"]):
    """One index being written; it is committed on a clean exit."""

    def __init__(self, folder: Path, kind: str) -> None:
        folder.mkdir(parents=True)
        index = tantivy.Index(schema(kind), path=str(folder), reuse=False)
        register_tokenizer(index)
        self._writer = index.writer(WRITER_BYTES, num_threads=1)

    def add(
        self, document: _Document, identity: int, page: int, rows: list[dict[str, Any]], title: str | None
    ) -> None:
        fields: dict[str, Any] = {
            name: " ".join(row["terms"][name] for row in rows if row["terms"][name]) for name in TERM_FIELDS
        }
        if title:
            fields[TITLE] = title
        fields |= {
            SYSTEM: document.system,
            "document_id": identity,
            "page": page,
            "first": rows[0]["sentence_number"],
            "last": rows[-1]["sentence_number"],
        }
        self._writer.add_document(tantivy.Document(**fields))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._writer.commit()
            self._writer.wait_merging_threads()


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    return (row for batch in batches for row in batch.to_pylist())


def _document(row: dict[str, Any]) -> _Document:
    return _Document(row["system"], row["name"], row["language"])


def _title(document: _Document, page: int) -> str:
    text = f"{document.name} {document.headings.get(page, '')}"
    return " ".join(dict.fromkeys(analyse(text, document.language).lemma))


def _passages(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    passage: list[dict[str, Any]] = []
    length = 0
    for row in rows:
        passage.append(row)
        length += len(row["text"])
        if length >= PASSAGE_CHARACTERS:
            yield passage
            passage, length = [], 0
    if passage:
        yield passage
