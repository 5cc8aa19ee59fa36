"""Generations that are carried from store to store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.engines.contract import Engine
from store.commits import commit_numbers, read_commit
from store.errors import (
    DamagedPartError,
    InvalidNameError,
    NoGenerationError,
    StoreFormatError,
    StoreLockedError,
    TransferError,
)
from store.layout import DomainLayout
from store.lock import writer_lock
from store.reader import KnowledgeStore
from store.transfer import export, import_
from store.verify import verify


@pytest.fixture
def layout(ingest: Any, corpus: Path, tmp_path: Path) -> DomainLayout:
    """A store with one generation."""
    ingest(corpus)
    return DomainLayout.of(tmp_path / "store", "d")


@pytest.fixture
def exported(layout: DomainLayout, tmp_path: Path) -> Path:
    export(layout, tmp_path / "out")
    return tmp_path / "out"


def no_engine() -> Engine:
    raise AssertionError("an engine was asked for though nothing is new")


def test_r10_4_an_export_is_whole_and_can_be_imported(
    ingest: Any, corpus: Path, layout: DomainLayout, exported: Path, tmp_path: Path, digest: Any
) -> None:
    assert verify(DomainLayout(exported)).faults == ()
    commit = import_(exported, tmp_path / "other", "d")
    there = DomainLayout.of(tmp_path / "other", "d")
    assert (commit.number, verify(there).faults, digest("other")) == (1, (), digest())
    with KnowledgeStore(tmp_path / "other").open("d") as generation:
        assert generation.query("SELECT count(*) AS n FROM documents").to_pylist() == [{"n": 4}]
        assert generation.search_path.is_dir()
    assert ingest(corpus, store="other", make_engine=no_engine).status == "unchanged"
    assert verify(layout).faults == ()


def test_r10_4_an_import_follows_the_generations_that_are_there_only_when_asked(
    ingest: Any, corpus: Path, layout: DomainLayout, exported: Path
) -> None:
    (corpus / "egy.txt").write_text("Dobó.\n", encoding="utf-8")
    ingest(corpus)
    store = layout.root.parent
    with pytest.raises(TransferError, match="--as-next"):
        import_(exported, store)
    with writer_lock(layout.lock_file), pytest.raises(StoreLockedError):
        import_(exported, store, as_next=True)
    commit = import_(exported, store, as_next=True)
    assert (commit.number, commit.parent, commit_numbers(layout)) == (3, 2, [1, 2, 3])
    assert commit.digest == read_commit(layout, 1).digest
    assert verify(layout).faults == ()


def test_r10_2_a_damaged_export_is_refused_file_by_file(exported: Path, tmp_path: Path) -> None:
    commit = read_commit(DomainLayout(exported), 1)
    for place in (commit.parts[0].path, commit.knowledge, commit.files[-1].path):
        file = exported / place
        content = file.read_bytes()
        for damaged in (content[:-1], bytes([content[0] ^ 1]) + content[1:], None):
            file.unlink() if damaged is None else file.write_bytes(damaged)
            with pytest.raises(DamagedPartError, match="nothing was published"):
                import_(exported, tmp_path / "other")
            file.write_bytes(content)
    assert KnowledgeStore(tmp_path / "other").domains() == []
    assert import_(exported, tmp_path / "other").number == 1
    assert verify(DomainLayout.of(tmp_path / "other", "d")).faults == ()


def test_a_damaged_store_gives_no_export(layout: DomainLayout, tmp_path: Path) -> None:
    (layout.root / read_commit(layout, 1).parts[0].path).write_bytes(b"x")
    with pytest.raises(DamagedPartError):
        export(layout, tmp_path / "out")
    with pytest.raises(TransferError, match="no whole export"):
        import_(tmp_path / "out", tmp_path / "other")


@pytest.mark.parametrize(
    "place", ["../x", "/etc/passwd", "parts/../../x", "search/../../x", "lock", "parts/a\0/b"]
)
def test_an_export_that_leads_out_of_the_store_is_refused(exported: Path, tmp_path: Path, place: str) -> None:
    file = exported / "commits" / "00000001.json"
    content = json.loads(file.read_text())
    content["files"][0]["path"] = place
    file.write_text(json.dumps(content))
    with pytest.raises(DamagedPartError, match="no place in a store"):
        import_(exported, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_what_cannot_be_imported_says_why(exported: Path, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="is no export"):
        import_(tmp_path, tmp_path / "other")
    with pytest.raises(TransferError, match="holds domain 'd', not 'e'"):
        import_(exported, tmp_path / "other", "e")
    with pytest.raises(InvalidNameError):
        import_(exported, tmp_path / "other", "../e")
    (exported / "format.json").write_text('{"format": 99}')
    with pytest.raises(StoreFormatError, match="format 99"):
        import_(exported, tmp_path / "other")
    (exported / "format.json").write_text("[]")
    with pytest.raises(StoreFormatError, match="does not say"):
        import_(exported, tmp_path / "other")


def test_what_cannot_be_exported_says_why(layout: DomainLayout, exported: Path) -> None:
    with pytest.raises(TransferError, match="not empty"):
        export(layout, exported)
    with pytest.raises(TransferError, match="in the store"):
        export(layout, layout.root.parent / "e")
    with pytest.raises(NoGenerationError, match="there are: 1"):
        export(layout, exported.parent / "out2", 5)
    assert not (exported.parent / "out2").exists()
