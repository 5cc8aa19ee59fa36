"""Per-page stages: `sentences` cuts pages, `mentions` finds the names in their sentences."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from ner.errors import NerError
from ner.recognisers.contract import Mention, Recogniser, combine, recogniser_class
from ner.spec import DomainSpec
from ner.text.clean import clean
from ner.text.lemmas import name_lemma
from ner.text.sentences import split_sentences
from ner.text.terms import analyse
from pipelines.stages.tables import RECOGNISED
from store.parts import Part, PartWriter, open_part, read_parts
from store.tables import REJECTS, SENTENCES, Table

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PageItem:
    """One row group of a part of pages or sentences, and where its documents' languages stand."""

    part: Part
    row_group: int
    documents: tuple[Part, ...]


def page_items(parts: Iterable[Part], documents: Iterable[Part]) -> list[PageItem]:
    """Every row group of the parts, with the document parts of the same bucket."""
    of_bucket: dict[str, list[Part]] = {}
    for part in documents:
        of_bucket.setdefault(part.bucket, []).append(part)
    return [
        PageItem(part, number, tuple(of_bucket.get(part.bucket, ())))
        for part in parts
        for number in range(part.row_groups)
    ]


@dataclass(frozen=True, slots=True)
class _Document:
    language: str
    source: str
    source_id: str


@dataclass(frozen=True, slots=True)
class SentencesTask:
    """Pages → sentences with their places in the page and their search terms; a page that fails is a reject."""

    root: Path

    def __call__(self, item: PageItem) -> list[Part]:
        pages = _rows(self.root, item, ["document_id", "page", "text"])
        return _write_pages(self.root, item, SENTENCES, "sentences", ([page] for page in pages), _sentences)


def _sentences(pages: Sequence[dict[str, Any]], language: str) -> Iterator[dict[str, Any]]:
    (page,) = pages
    cleaned = clean(page["text"])
    for number, (start, end) in enumerate(split_sentences(cleaned.text, language)):
        text = " ".join(cleaned.text[start:end].split())
        raw_start, raw_end = cleaned.to_raw(start, end)
        yield {
            "document_id": page["document_id"],
            "page": page["page"],
            "sentence_number": number,
            "start": raw_start,
            "end": raw_end,
            "text": text,
            "terms": analyse(text, language).joined(),
        }


@dataclass(frozen=True, slots=True)
class MentionsTask:
    """Sentences → the names in them; a page on which a recogniser fails is a reject, its sentences stay."""

    root: Path
    spec: DomainSpec

    def __call__(self, item: PageItem) -> list[Part]:
        sentences = _rows(self.root, item, ["document_id", "page", "sentence_number", "text"])
        pages = (list(rows) for _, rows in groupby(sentences, lambda row: (row["document_id"], row["page"])))
        return _write_pages(self.root, item, RECOGNISED, "mentions", pages, self._mentions)

    def _mentions(self, sentences: Sequence[dict[str, Any]], language: str) -> Iterator[dict[str, Any]]:
        texts = [row["text"] for row in sentences]
        found = [recogniser.recognise(texts) for recogniser in _recognisers(self.spec, language)]
        for number, row in enumerate(sentences):
            trimmed = [[mention.trimmed(row["text"]) for mention in each[number]] for each in found]
            for mention in combine(trimmed):
                if mention.label in self.spec.labels:
                    yield _mention_row(row, mention, language)


def _mention_row(sentence: dict[str, Any], mention: Mention, language: str) -> dict[str, Any]:
    surface = sentence["text"][mention.start : mention.end]
    return {
        "document_id": sentence["document_id"],
        "page": sentence["page"],
        "sentence_number": sentence["sentence_number"],
        "start": mention.start,
        "end": mention.end,
        "surface": surface,
        "lemma": name_lemma(surface, language),
        "label": mention.label,
        "language": language,
    }


_loaded: dict[tuple[str, str], tuple[Recogniser, ...]] = {}


def _recognisers(spec: DomainSpec, language: str) -> tuple[Recogniser, ...]:
    """The recognisers of this worker process, loaded once."""
    key = (repr(spec.recognisers), language)
    if key not in _loaded:
        _loaded[key] = tuple(
            recogniser_class(each.factory)(each.parameters, language)
            for each in spec.recognisers_for(language)
        )
    return _loaded[key]


def _write_pages(
    root: Path,
    item: PageItem,
    table: Table,
    stage: str,
    pages: Iterable[list[dict[str, Any]]],
    work: Callable[[list[dict[str, Any]], str], Iterator[dict[str, Any]]],
) -> list[Part]:
    """Work on each page's rows and write what comes of it; of a page that fails, why.

    A recogniser that cannot be loaded (NerError) is no page's fault and ends the run.
    """
    documents = _documents_of(root, item.documents)
    bucket = item.part.bucket
    with PartWriter(root, table, bucket) as results, PartWriter(root, REJECTS, bucket) as rejects:
        for rows in pages:
            document = documents[rows[0]["document_id"]]
            try:
                results.write(_batch(table.schema, work(rows, document.language)))
            except (NerError, OSError):
                raise
            except Exception as error:
                log.exception("stage %s failed on %s", stage, document.source_id)
                rejects.write(_batch(REJECTS.schema, [_reject(document, rows[0]["page"], stage, error)]))
    return [writer.part for writer in (results, rejects) if writer.part]


def _reject(document: _Document, page: int, stage: str, error: Exception) -> dict[str, Any]:
    return {
        "source": document.source,
        "source_id": document.source_id,
        "stage": stage,
        "code": "page_failed",
        "message": f"page {page + 1}: {type(error).__name__}: {error}",
    }


@lru_cache(maxsize=8)
def _documents_of(root: Path, documents: tuple[Part, ...]) -> Mapping[int, _Document]:
    columns = ["document_id", "language", "source", "source_id"]
    rows = (row for batch in read_parts(root, documents, columns) for row in batch.to_pylist())
    return {row.pop("document_id"): _Document(**row) for row in rows}


def _rows(root: Path, item: PageItem, columns: list[str]) -> list[dict[str, Any]]:
    with open_part(root, item.part) as file:
        rows: list[dict[str, Any]] = file.read_row_group(item.row_group, columns=columns).to_pylist()
    return rows


def _batch(schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema=schema)
