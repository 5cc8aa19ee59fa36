"""Runs of the ingestion, on the local engine in this process unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from ner.ingestion import IngestionReport, IngestionRequest, SourceRequest
from ner.spec import DomainSpec, RecogniserSpec
from pipelines.engines.contract import Engine
from pipelines.engines.local import LocalEngine
from pipelines.run import PipelineRunner
from store.reader import KnowledgeStore

Ingest: TypeAlias = Callable[..., IngestionReport]

NAMES = [["Gergő", "PER"], ["Bornemissza Gergely", "PER"], ["Éva", "PER"], ["Dobó", "PER"], ["Eger", "LOC"]]
SPEC = DomainSpec(domain="d", recognisers=(RecogniserSpec("gazetteer", ("hu", "en"), {"names": NAMES}),))
"""A domain whose names come from a list: fast, and the same on every machine."""


@pytest.fixture
def ingest(tmp_path: Path) -> Ingest:
    """Ingest roots into `tmp_path / "store"`, or another store."""

    def run(
        *roots: Path | SourceRequest,
        store: str = "store",
        spec: DomainSpec = SPEC,
        make_engine: Callable[[], Engine] = lambda: LocalEngine(1),
    ) -> IngestionReport:
        sources = tuple(
            root if isinstance(root, SourceRequest) else SourceRequest(str(root)) for root in roots
        )
        with PipelineRunner(tmp_path / store, make_engine) as runner:
            return runner.run(spec, IngestionRequest(sources=sources))

    return run


@pytest.fixture
def digest(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The digest by table that a store's newest generation carries."""

    def of(store: str = "store", domain: str = "d") -> dict[str, str]:
        return KnowledgeStore(tmp_path / store).commit(domain).digest

    return of


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A small folder of three documents in two formats."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "egy.txt").write_text("Gergő látta Évát. Dobónak szólt Gergő.\n", encoding="utf-8")
    (folder / "ketto.md").write_text("# Eger\n\nDobó Egerben volt. Évának írt.\n", encoding="utf-8")
    (folder / "sorok.jsonl").write_text(
        '{"_id": "a", "title": "Levél", "text": "Éva Egerbe ment.", "url": "http://example.org/a", "ev": 1552}\n'
        '{"_id": "b", "text": "Bornemissza Gergellyel jött Dobó."}\n',
        encoding="utf-8",
    )
    return folder
