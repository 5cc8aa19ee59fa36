"""What is purged is gone from every file, and does not come back by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from ner.ingestion import IngestionReport, IngestionRequest, SourceRequest
from ner.spec import DomainSpec, RecogniserSpec
from pipelines.absence import search_everywhere, text_hash
from pipelines.engines.local import LocalEngine
from pipelines.errors import PurgeError, SourceError, UnknownContentError
from pipelines.options import RunOptions
from pipelines.purge import PurgeReport, Selection, purge
from pipelines.run import PipelineRunner
from pipelines.stages.load import document_id
from store.commits import commit_numbers
from store.errors import NoGenerationError, StoreLockedError, TransferError
from store.layout import DomainLayout
from store.lock import writer_lock
from store.reader import KnowledgeStore
from store.transfer import export, import_
from store.verify import verify

Purge: TypeAlias = Callable[..., PurgeReport]
TEXT = "Gergő látta Évát."
NAMES = [["Gergő", "PER"], ["Éva", "PER"], ["Dobó", "PER"], ["Eger", "LOC"]]
SPEC = DomainSpec(domain="d", recognisers=(RecogniserSpec("gazetteer", ("hu", "en"), {"names": NAMES}),))


def identity(source_id: str) -> int:
    return document_id("d", "", "corpus", source_id)


@pytest.fixture
def layout(tmp_path: Path) -> DomainLayout:
    return DomainLayout.of(tmp_path / "store", "d")


@pytest.fixture
def take_out(tmp_path: Path) -> Purge:
    def run(document: int | None = None, source: str | None = None) -> PurgeReport:
        return purge(tmp_path / "store", "d", Selection(document, source), lambda: LocalEngine(1))

    return run


@pytest.fixture
def grown(ingest: Any, corpus: Path, tmp_path: Path) -> Path:
    """Two generations of two sources, `corpus` and `other`; the folder of the first."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.txt").write_text("Dobó Egerben volt.\n", encoding="utf-8")
    ingest(corpus, spec=SPEC)
    ingest(other, spec=SPEC)
    return corpus


def again(folder: Path, tmp_path: Path, include: bool = False) -> IngestionReport:
    with PipelineRunner(
        tmp_path / "store", lambda: LocalEngine(1), options=RunOptions(include_purged=include)
    ) as runner:
        return runner.run(SPEC, IngestionRequest(sources=(SourceRequest(str(folder)),)))


def names(tmp_path: Path) -> list[str]:
    with KnowledgeStore(tmp_path / "store").open("d") as generation:
        rows = generation.query("SELECT source_id FROM documents ORDER BY 1").to_pylist()
    return [row["source_id"] for row in rows]


@pytest.mark.parametrize("name", ["egy.txt", "sorok.jsonl#b"])
def test_r10_3a_a_purged_document_is_in_no_file_and_stays_away(
    grown: Path, ingest: Any, layout: DomainLayout, take_out: Purge, tmp_path: Path, digest: Any, name: str
) -> None:
    gone = identity(name)
    before = search_everywhere(layout, frozenset({gone}), frozenset({text_hash(TEXT)}))
    assert {each.split("/")[0] for each in before.found} >= {"parts", "search"}
    report = take_out(document=gone)
    assert (report.documents, report.generation, report.deleted, report.held) == (1, 3, (1, 2), ())
    assert report.looked_at["duckdb files"] == 1
    assert report.looked_at["indexes"] == 2
    after = search_everywhere(
        layout, frozenset({gone}), frozenset({text_hash(TEXT)} if "egy" in name else ())
    )
    assert after.found == []
    assert commit_numbers(layout) == [3]
    assert verify(layout).faults == ()
    left = sorted({"egy.txt", "ketto.md", "sorok.jsonl#a", "sorok.jsonl#b", "x.txt"} - {name})
    assert names(tmp_path) == left
    purged = digest()
    assert again(grown, tmp_path).status == "published"
    assert again(grown, tmp_path).status == "unchanged"
    assert (names(tmp_path), digest()) == (left, purged)
    again(grown, tmp_path, include=True)
    ingest(grown, tmp_path / "other", store="fresh", spec=SPEC)
    assert digest() == digest("fresh")
    assert again(grown, tmp_path).status == "unchanged"


def test_r10_3a_a_purged_source_is_gone_and_a_run_that_names_it_is_told(
    grown: Path, layout: DomainLayout, take_out: Purge, tmp_path: Path, ingest: Any, digest: Any
) -> None:
    assert take_out(source="corpus").documents == 4
    assert names(tmp_path) == ["x.txt"]
    assert verify(layout).faults == ()
    ingest(tmp_path / "other", store="fresh", spec=SPEC)
    assert digest() == digest("fresh")
    with pytest.raises(SourceError, match="--include-purged"):
        again(grown, tmp_path)
    assert again(grown, tmp_path, include=True).counts["documents"] == 5
    assert again(grown, tmp_path).status == "unchanged"


def test_r10_3a_the_last_source_leaves_an_empty_generation(
    ingest: Any, corpus: Path, layout: DomainLayout, take_out: Purge, tmp_path: Path
) -> None:
    ingest(corpus, spec=SPEC)
    assert take_out(source="corpus").generation == 2
    assert names(tmp_path) == []
    assert verify(layout).faults == ()


@pytest.mark.usefixtures("grown")
def test_r10_3a_a_purged_domain_leaves_no_file_and_its_numbers_go_on(
    corpus: Path, layout: DomainLayout, take_out: Purge, tmp_path: Path
) -> None:
    with KnowledgeStore(tmp_path / "store").open("d"):
        report = take_out()
    assert (report.generation, report.deleted, report.held) == (None, (1, 2), (2,))
    left = {path.name for path in layout.root.rglob("*") if path.is_file()}
    assert left == {"format.json", "lock", "purged.json"}
    with pytest.raises(NoGenerationError):
        KnowledgeStore(tmp_path / "store").open("d")
    with pytest.raises(SourceError, match="--include-purged"):
        again(corpus, tmp_path)
    assert again(corpus, tmp_path, include=True).generation == 3


@pytest.mark.usefixtures("grown")
def test_r10_3a_a_document_of_an_older_generation_alone_goes_too(
    corpus: Path, layout: DomainLayout, take_out: Purge, tmp_path: Path
) -> None:
    (corpus / "egy.txt").unlink()
    again(corpus, tmp_path)
    assert take_out(document=identity("egy.txt")).generation == 3
    assert commit_numbers(layout) == [3]
    assert take_out(document=identity("egy.txt")).documents == 0


def test_r10_3a_what_is_still_found_is_told(grown: Path, layout: DomainLayout, take_out: Purge) -> None:
    gone = identity("egy.txt")
    (layout.root / "notes.txt").write_text(f"document {gone}")
    with pytest.raises(PurgeError, match=r"notes\.txt"):
        take_out(document=gone)


def test_r10_3a_an_import_brings_nothing_back(
    grown: Path, layout: DomainLayout, take_out: Purge, tmp_path: Path
) -> None:
    export(layout, tmp_path / "out")
    take_out(document=identity("egy.txt"))
    with pytest.raises(TransferError, match="were purged"):
        import_(tmp_path / "out", layout.root.parent, as_next=True)


def test_a_purge_that_cannot_be_changes_nothing(grown: Path, layout: DomainLayout, take_out: Purge) -> None:
    with pytest.raises(UnknownContentError, match="holds document 5"):
        take_out(document=5)
    with pytest.raises(UnknownContentError, match="there are: corpus, other"):
        take_out(source="../x")
    with writer_lock(layout.lock_file), pytest.raises(StoreLockedError):
        take_out()
    assert commit_numbers(layout) == [1, 2]
    assert not layout.purged_file.exists()
