from __future__ import annotations

import json
from pathlib import Path

import pytest

from store.commits import Commit, commit_numbers, latest_commit, publish, read_commit
from store.errors import (
    CommitConflictError,
    DamagedPartError,
    InvalidNameError,
    NoGenerationError,
    StoreFormatError,
    StoreLockedError,
)
from store.files import write_json
from store.layout import DomainLayout, check_name
from store.lock import writer_lock
from store.markers import StageManifest, read_marker, write_marker
from store.reader import KnowledgeStore


def commit(number: int) -> Commit:
    return Commit(
        number=number,
        parent=number - 1 or None,
        domain="novel",
        created_at="2026-01-01T00:00:00+00:00",
        fingerprint="f",
        sources=(),
        buckets=(),
        parts=(),
        search="search/x",
        knowledge="knowledge-x.duckdb",
        digest={},
        counts={},
    )


@pytest.fixture
def layout(tmp_path: Path) -> DomainLayout:
    layout = DomainLayout.of(tmp_path, "novel")
    layout.prepare()
    return layout


def test_the_highest_number_is_the_latest(layout: DomainLayout) -> None:
    assert latest_commit(layout) is None
    for number in (1, 2, 10):
        publish(layout, commit(number))
    assert commit_numbers(layout) == [1, 2, 10]
    assert latest_commit(layout) == commit(10)


def test_r10_6_of_two_writers_of_one_generation_one_loses(layout: DomainLayout) -> None:
    publish(layout, commit(1))
    with pytest.raises(CommitConflictError, match="another run"):
        publish(layout, commit(1).model_copy(update={"fingerprint": "other"}))
    assert read_commit(layout, 1) == commit(1)
    assert [path.name for path in layout.commits.iterdir()] == ["00000001.json"]


def test_a_missing_or_cut_commit_is_named(layout: DomainLayout) -> None:
    with pytest.raises(NoGenerationError, match="generation 7"):
        read_commit(layout, 7)
    (layout.commits / "00000001.json").write_text('{"number": 1')
    with pytest.raises(DamagedPartError, match=r"00000001\.json"):
        read_commit(layout, 1)
    (layout.commits / "00000001.json").write_text('{"number": 1}')
    with pytest.raises(DamagedPartError, match="expected fields"):
        read_commit(layout, 1)


def test_a_newer_format_is_refused(layout: DomainLayout) -> None:
    write_json(layout.format_file, {"format": 99})
    with pytest.raises(StoreFormatError, match="format 99"):
        layout.prepare()


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\\b", "-x", "a..b", "x" * 65, "a b", "a\0"])
def test_no_name_leaves_the_store(name: str) -> None:
    with pytest.raises(InvalidNameError, match="domain name"):
        check_name("domain", name)


def test_names_of_any_script_are_taken_in_nfc() -> None:
    assert check_name("domain", "ko\u0301rha\u0301z") == "kórház"
    assert check_name("domain", "病院-2.a_b") == "病院-2.a_b"


def test_r10_6_a_second_writer_is_told_who_holds_the_lock(layout: DomainLayout) -> None:
    with (
        writer_lock(layout.lock_file),
        pytest.raises(StoreLockedError, match='"pid"'),
        writer_lock(layout.lock_file),
    ):
        pass
    with writer_lock(layout.lock_file):
        assert json.loads(layout.lock_file.read_text())["pid"]


def test_r10_2_a_marker_fits_its_own_inputs_alone(layout: DomainLayout) -> None:
    manifest = StageManifest(stage="load", inputs="i", fingerprint="f", parts=(), rows={"pages": 3})
    folder = layout.stages / "run" / "load"
    assert read_marker(folder, "i", "f", layout.root) is None
    write_marker(folder, manifest)
    assert read_marker(folder, "i", "f", layout.root) == manifest
    assert read_marker(folder, "other", "f", layout.root) is None
    assert read_marker(folder, "i", "other", layout.root) is None
    (folder / "_SUCCESS").write_text("{")
    assert read_marker(folder, "i", "f", layout.root) is None


def test_an_unknown_domain_names_those_there_are(layout: DomainLayout) -> None:
    store = KnowledgeStore(layout.root.parent)
    with pytest.raises(NoGenerationError, match="none yet"):
        store.open("novel")
    publish(layout, commit(1))
    for name in ("nowhere", "../novel"):
        with pytest.raises(NoGenerationError, match="there are: novel"):
            store.commit(name)
    assert store.domains() == ["novel"]
    assert store.latest_number("novel") == 1
