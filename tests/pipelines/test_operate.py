"""What an operator does with finished generations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelines.engines.contract import Engine
from store.commits import commit_numbers, latest_commit, read_commit
from store.errors import DamagedPartError, NoGenerationError, StoreLockedError
from store.layout import DomainLayout
from store.lock import writer_lock
from store.reader import KnowledgeStore
from store.rollback import rollback
from store.verify import foreign_files, verify


@pytest.fixture
def layout(tmp_path: Path) -> DomainLayout:
    return DomainLayout.of(tmp_path / "store", "d")


@pytest.fixture
def grown(ingest: Any, corpus: Path) -> None:
    """Three generations."""
    ingest(corpus)
    for number in (2, 3):
        (corpus / "egy.txt").write_text(f"Dobó {number}.\n", encoding="utf-8")
        ingest(corpus)


def no_engine() -> Engine:
    raise AssertionError("an engine was asked for though nothing is new")


def faults(layout: DomainLayout, number: int | None = None) -> list[tuple[str, str]]:
    return [(fault.kind, fault.path) for fault in verify(layout, number).faults]


def texts(tmp_path: Path) -> set[str]:
    with KnowledgeStore(tmp_path / "store").open("d") as generation:
        return {row["text"] for row in generation.query("SELECT text FROM pages").to_pylist()}


@pytest.mark.usefixtures("grown")
def test_r10_2_every_file_of_a_commit_is_checked(layout: DomainLayout) -> None:
    whole = verify(layout)
    assert (whole.faults, whole.generations, whole.foreign_looked_for) == ((), (1, 2, 3), True)
    newest = read_commit(layout, 3)
    listed = {each.path for each in newest.listed}
    assert {each.split("/")[0] for each in listed} == {"parts", "search", newest.knowledge}
    assert verify(layout, 3).files == len(listed)
    for path in sorted(listed):
        file = layout.root / path
        content = file.read_bytes()
        for kind, damaged in (
            ("missing", None),
            ("cut", content[:-1]),
            ("changed", content + b"x"),
            ("changed", bytes([content[0] ^ 1]) + content[1:]),
        ):
            file.unlink() if damaged is None else file.write_bytes(damaged)
            assert faults(layout, 3) == [(kind, path)]
            file.write_bytes(content)
    assert faults(layout) == []


def test_r10_2_rows_are_counted(ingest: Any, corpus: Path, layout: DomainLayout) -> None:
    ingest(corpus)
    commit = latest_commit(layout)
    assert commit is not None
    file = layout.commit_file(1)
    first = commit.parts[0]
    wrong = first.model_copy(update={"rows": first.rows + 1})
    file.write_text(commit.model_copy(update={"parts": (wrong, *commit.parts[1:])}).model_dump_json())
    (fault,) = verify(layout).faults
    assert (fault.kind, fault.path) == ("changed", first.path)
    assert f"{first.rows} rows instead of {first.rows + 1}" in fault.detail


@pytest.mark.usefixtures("grown")
def test_foreign_files_are_named_but_not_those_of_a_running_or_killed_run(layout: DomainLayout) -> None:
    for path in ("mine.txt", "parts/pages/x.parquet", "search/old/meta.json", "commits/note"):
        (layout.root / path).parent.mkdir(parents=True, exist_ok=True)
        (layout.root / path).write_text("x")
    expected = ["commits/note", "mine.txt", "parts/pages/x.parquet", "search/old/meta.json"]
    assert foreign_files(layout) == expected
    assert faults(layout, 3) == [("foreign", path) for path in expected]
    with writer_lock(layout.lock_file):
        assert not verify(layout).foreign_looked_for


def test_a_generation_that_is_not_kept_is_told(ingest: Any, corpus: Path, layout: DomainLayout) -> None:
    with pytest.raises(NoGenerationError, match="no generation in"):
        verify(layout)
    ingest(corpus)
    with pytest.raises(NoGenerationError, match="there are: 1"):
        verify(layout, 7)


def test_a_generation_without_a_list_of_index_files_is_still_looked_at(
    ingest: Any, corpus: Path, layout: DomainLayout
) -> None:
    ingest(corpus)
    commit = read_commit(layout, 1)
    layout.commit_file(1).write_text(commit.model_copy(update={"files": ()}).model_dump_json())
    assert (verify(layout).unlisted, faults(layout)) == ((1,), [])
    (layout.root / commit.knowledge).unlink()
    assert faults(layout) == [("missing", commit.knowledge)]


@pytest.mark.usefixtures("grown")
def test_r10_4_a_rollback_publishes_the_one_before_as_a_new_generation(
    layout: DomainLayout, tmp_path: Path
) -> None:
    store = KnowledgeStore(tmp_path / "store")
    with store.open("d") as held:
        commit = rollback(layout)
        assert (commit.number, commit.parent, commit.restored) == (4, 3, 2)
        assert held.query("SELECT text FROM pages WHERE text LIKE 'Dobó 3%'").num_rows == 1
    assert store.latest_number("d") == 4
    assert "Dobó 2.\n" in texts(tmp_path)
    assert commit_numbers(layout) == [2, 3, 4]
    assert faults(layout) == []


@pytest.mark.usefixtures("grown")
def test_r10_4_a_run_after_a_rollback_plans_against_it(
    ingest: Any, corpus: Path, layout: DomainLayout, tmp_path: Path, digest: Any
) -> None:
    rollback(layout, to=1)
    (corpus / "egy.txt").write_text("Gergő látta Évát. Dobónak szólt Gergő.\n", encoding="utf-8")
    again = ingest(corpus, make_engine=no_engine)
    assert (again.status, again.generation) == ("unchanged", 4)
    (corpus / "egy.txt").write_text("Dobó 3.\n", encoding="utf-8")
    assert ingest(corpus).generation == 5
    before, after = read_commit(layout, 4), read_commit(layout, 5)
    shared = {part.path for part in before.parts_of("pages")} & {
        part.path for part in after.parts_of("pages")
    }
    assert len(shared) == len(before.parts_of("pages")) - 1
    ingest(corpus, store="fresh")
    assert digest() == digest("fresh")
    assert faults(layout) == []


@pytest.mark.usefixtures("grown")
def test_r10_4_a_rollback_that_cannot_be_changes_nothing(layout: DomainLayout) -> None:
    for wrong in (3, 9, 0):
        with pytest.raises(NoGenerationError, match="there are 1, 2; 3 serves now"):
            rollback(layout, to=wrong)
    with writer_lock(layout.lock_file), pytest.raises(StoreLockedError):
        rollback(layout)
    (layout.root / read_commit(layout, 2).knowledge).unlink()
    with pytest.raises(DamagedPartError, match="is missing"):
        rollback(layout)
    assert commit_numbers(layout) == [1, 2, 3]


def test_a_content_that_comes_back_writes_over_no_kept_generation(
    ingest: Any, corpus: Path, layout: DomainLayout
) -> None:
    first = (corpus / "egy.txt").read_bytes()
    for content in (first, b"Dobo.\n", first):
        (corpus / "egy.txt").write_bytes(content)
        ingest(corpus)
    assert read_commit(layout, 1).digest == read_commit(layout, 3).digest
    assert read_commit(layout, 1).search != read_commit(layout, 3).search
    assert faults(layout) == []
