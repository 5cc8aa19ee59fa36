"""Per-page stages: `sentences` cuts pages, `mentions` finds the names in their sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from ner.recognisers.contract import Mention, Recogniser, combine, recogniser_class
from ner.spec import DomainSpec
from ner.text.clean import clean
from ner.text.lemmas import name_lemma
from ner.text.sentences import split_sentences
from ner.text.terms import analyse
from pipelines.stages.tables import RECOGNISED
from store.parts import Part, open_part, read_parts, write_part
from store.tables import SENTENCES


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
class SentencesTask:
    """Pages → sentences with their places in the page and their search terms."""

    root: Path

    def __call__(self, item: PageItem) -> list[Part]:
        languages = _languages(self.root, item.documents)
        pages = _rows(self.root, item, ["document_id", "page", "text"])
        batches = (_batch(SENTENCES.schema, _sentences(row, languages[row["document_id"]])) for row in pages)
        part = write_part(self.root, SENTENCES, item.part.bucket, batches)
        return [part] if part else []


def _sentences(page: dict[str, Any], language: str) -> Iterator[dict[str, Any]]:
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
    """Sentences → the names in them."""

    root: Path
    spec: DomainSpec

    def __call__(self, item: PageItem) -> list[Part]:
        languages = _languages(self.root, item.documents)
        sentences = _rows(self.root, item, ["document_id", "page", "sentence_number", "text"])
        pages = groupby(sentences, key=lambda row: (row["document_id"], row["page"]))
        batches = (
            _batch(RECOGNISED.schema, self._mentions(list(rows), languages[document]))
            for (document, _), rows in pages
        )
        part = write_part(self.root, RECOGNISED, item.part.bucket, batches)
        return [part] if part else []

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


def _languages(root: Path, documents: Sequence[Part]) -> dict[int, str]:
    return dict(_languages_of(root, documents))


@lru_cache(maxsize=8)
def _languages_of(root: Path, documents: tuple[Part, ...]) -> tuple[tuple[int, str], ...]:
    batches = read_parts(root, documents, ["document_id", "language"])
    return tuple(pair for batch in batches for pair in zip(*batch.to_pydict().values(), strict=True))


def _rows(root: Path, item: PageItem, columns: list[str]) -> list[dict[str, Any]]:
    with open_part(root, item.part) as file:
        rows: list[dict[str, Any]] = file.read_row_group(item.row_group, columns=columns).to_pylist()
    return rows


def _batch(schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema=schema)
