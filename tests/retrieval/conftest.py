"""Small indexes, built as the pipeline builds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ner.text.terms import analyse
from retrieval.index.build import build_index
from retrieval.index.query import SearchIndex
from store.tables import DOCUMENTS, PAGES, SENTENCES, Table


@dataclass(frozen=True, slots=True)
class Text:
    """A document: its pages, each a list of sentences."""

    document_id: int
    pages: Sequence[Sequence[str]]
    name: str = ""
    system: str = ""
    language: str = "hu"
    headings: dict[int, str] = field(default_factory=dict)


def batches(table: Table, rows: Iterable[dict[str, Any]], size: int = 3) -> Iterator[pa.RecordBatch]:
    """Rows as small record batches."""
    every = list(rows)
    for start in range(0, len(every), size):
        yield pa.RecordBatch.from_pylist(every[start : start + size], schema=table.schema)


def document_rows(texts: Iterable[Text]) -> Iterator[dict[str, Any]]:
    """Rows of the table `documents`."""
    for text in texts:
        yield {
            "document_id": text.document_id,
            "domain": "test",
            "system": text.system,
            "source_id": text.name or str(text.document_id),
            "name": text.name,
            "language": text.language,
        }


def page_rows(texts: Iterable[Text]) -> Iterator[dict[str, Any]]:
    """Rows of the table `pages`."""
    for text in texts:
        for number, sentences in enumerate(text.pages):
            yield {
                "document_id": text.document_id,
                "page": number,
                "heading": text.headings.get(number),
                "text": " ".join(sentences),
            }


def sentence_rows(texts: Iterable[Text]) -> Iterator[dict[str, Any]]:
    """Rows of the table `sentences`."""
    for text in texts:
        for page, sentences in enumerate(text.pages):
            for number, sentence in enumerate(sentences):
                yield {
                    "document_id": text.document_id,
                    "page": page,
                    "sentence_number": number,
                    "text": sentence,
                    "terms": analyse(sentence, text.language).joined(),
                }


@pytest.fixture
def text() -> type[Text]:
    """The class of the documents that `indexed` takes."""
    return Text


@pytest.fixture
def indexed(tmp_path: Path) -> Callable[..., SearchIndex]:
    """Builds an index of texts, which must come sorted by id."""

    def build(*texts: Text, folder: str = "index") -> SearchIndex:
        target = tmp_path / folder
        target.mkdir()
        build_index(
            target,
            batches(DOCUMENTS, document_rows(texts)),
            batches(PAGES, page_rows(texts)),
            batches(SENTENCES, sentence_rows(texts)),
        )
        return SearchIndex(target)

    return build
