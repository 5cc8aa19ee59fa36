"""Small indexes, built as the pipeline builds them, and a small store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ner.ingestion import IngestionRequest, SourceRequest
from ner.spec import DomainSpec, RecogniserSpec
from ner.text.terms import analyse
from pipelines.engines.local import LocalEngine
from pipelines.run import PipelineRunner
from retrieval.index.build import build_index
from retrieval.index.query import SearchIndex
from retrieval.knowledge import StoreKnowledgeBase
from store.tables import DOCUMENTS, PAGES, SENTENCES, Table
from toolkit.knowledge import Knowledge


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


TALE = """A kovács lánya

Varga Benedek a falu kovácsa volt. Varga lánya, Borbála, a malomban szolgált. Borbála szerette Illést.
Illésnek két ökre volt. A vásárba Borbálával indult Illés. Este Benedek uram elaludt.

A kút mellett senki sem járt. Varga Benedeknek fájt a keze. Illés elment Egerbe.
"""
REPORT = "Eger városa pályázatot írt ki. A pályázatot Borbála nyerte meg. Illés nem pályázott Egerben."
HARROW = "Harrow was a captain of the river fleet. The captain's niece, Mabel, kept Harrow's books."
NAMES = [
    ["Varga Benedek", "PER"],
    ["Varga", "PER"],
    ["Benedek", "PER"],
    ["Borbála", "PER"],
    ["Illés", "PER"],
    ["Eger", "LOC"],
    ["Harrow", "PER"],
    ["Mabel", "PER"],
]


@pytest.fixture(scope="session")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Domain `tale` with the systems `book` and `paper`, and domain `sea` in English."""
    root = tmp_path_factory.mktemp("small")
    gazetteer = RecogniserSpec("gazetteer", ("hu", "en"), {"names": NAMES})
    with PipelineRunner(root / "store", lambda: LocalEngine(1)) as runner:
        for domain, system, name, content in (
            ("tale", "book", "mese.txt", TALE),
            ("tale", "paper", "hirek.txt", REPORT),
            ("sea", "", "harrow.txt", HARROW),
        ):
            source = root / f"{domain}-{system}"
            source.mkdir()
            (source / name).write_text(content, encoding="utf-8")
            request = IngestionRequest(sources=(SourceRequest(str(source), system=system),))
            runner.run(DomainSpec(domain=domain, recognisers=(gazetteer,)), request)
    return root / "store"


@pytest.fixture(scope="session")
def base(small_store: Path) -> StoreKnowledgeBase:
    """All that `small_store` holds."""
    return StoreKnowledgeBase(small_store)


class TaleAlone:
    """A knowledge base that opens the tale, whatever domain is asked for."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    def domains(self) -> list[str]:
        """Its own."""
        return [self._knowledge.domain]

    def open(self, domain: str) -> Knowledge:
        """The tale."""
        return self._knowledge


@pytest.fixture
def tale_alone(base: StoreKnowledgeBase) -> TaleAlone:
    """For suites that ask in a domain of their own."""
    return TaleAlone(base.open("tale"))
