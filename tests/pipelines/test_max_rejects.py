"""A limit of rejects: with more of them nothing is published, and nothing that was read is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ner.ingestion import IngestionReport, IngestionRequest, SourceRequest
from ner.spec import DomainSpec, RecogniserSpec
from pipelines.engines.local import LocalEngine
from pipelines.errors import TooManyRejectsError
from pipelines.options import RejectLimit, RunOptions
from pipelines.run import PipelineRunner
from store.commits import commit_numbers
from store.layout import DomainLayout
from store.markers import MARKER

SPEC = DomainSpec(
    domain="d", recognisers=(RecogniserSpec("gazetteer", ("hu", "en"), {"names": [["Dobó", "PER"]]}),)
)


def run(folder: Path, limit: str | None) -> IngestionReport:
    options = RunOptions(max_rejects=None if limit is None else RejectLimit.parse(limit))
    with PipelineRunner(folder.parent / "store", lambda: LocalEngine(1), options=options) as runner:
        return runner.run(SPEC, IngestionRequest(sources=(SourceRequest(str(folder)),)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eight documents, and two files that give none."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.txt").write_text(f"Dobó {number}.", encoding="utf-8")
    (folder / "a.txt").touch()
    (folder / "b.pdf").write_bytes(b"%PDF-1.4 nothing")
    return folder


@pytest.mark.parametrize("limit", [None, "2", "20%", "100%"])
def test_r10_5_as_many_as_are_allowed_are_published(folder: Path, limit: str | None) -> None:
    report = run(folder, limit)
    assert (report.status, report.counts["documents"], report.counts["rejects"]) == ("published", 8, 2)


@pytest.mark.parametrize("limit", ["0", "1", "0%", "19.9%"])
def test_r10_5_with_more_nothing_is_published_and_the_message_says_what_they_are(
    folder: Path, limit: str
) -> None:
    with pytest.raises(TooManyRejectsError) as raised:
        run(folder, limit)
    told = str(raised.value)
    assert told.startswith("2 rejects beside 8 documents are more than the limit of ")
    assert "1 empty, as corpus/a.txt" in told
    assert "1 malformed, as corpus/b.pdf" in told
    assert commit_numbers(DomainLayout.of(folder.parent / "store", "d")) == []


def test_r10_2_what_was_read_is_not_read_again_and_the_generation_before_serves(
    folder: Path, monkeypatch: pytest.MonkeyPatch, digest: Callable[..., dict[str, str]]
) -> None:
    run(folder, "2")
    before = digest()
    (folder / "c.txt").touch()
    with pytest.raises(TooManyRejectsError):
        run(folder, "2")
    layout = DomainLayout.of(folder.parent / "store", "d")
    assert (commit_numbers(layout), digest()) == ([1], before)
    assert [path.parent.name for path in layout.stages.glob(f"*/*/{MARKER}")] == ["load"]
    report = run(folder, "3")
    assert (report.generation, report.counts["rejects"]) == (2, 3)
    assert "load" not in report.seconds


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("0", RejectLimit(number=0)),
        (" 20 ", RejectLimit(number=20)),
        ("5%", RejectLimit(percent=5)),
        ("0.5%", RejectLimit(percent=0.5)),
    ],
)
def test_r10_5_a_limit_is_a_number_or_a_share(text: str, limit: RejectLimit) -> None:
    assert RejectLimit.parse(text) == limit


@pytest.mark.parametrize("text", ["", "-1", "5.5", "101%", "%", "many", "1e3", "٣", "5 %%", "1" * 10])
def test_r10_5_anything_else_is_no_limit(text: str) -> None:
    with pytest.raises(ValueError, match="is no limit: use a number, as 20, or a share"):
        RejectLimit.parse(text)
