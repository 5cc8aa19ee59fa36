"""Which generations stay."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from store.commits import commit_numbers
from store.layout import DomainLayout
from store.lease import is_leased
from store.reader import KnowledgeStore
from store.retention import collect_garbage
from store.verify import verify

READER = """
import sys
from pathlib import Path
from store.reader import KnowledgeStore

with KnowledgeStore(Path(sys.argv[1])).open("d") as generation:
    print(generation.number, flush=True)
    sys.stdin.readline()
    files = list(generation.search_path.rglob("*.json"))
    rows = generation.query("SELECT text FROM pages ORDER BY text").to_pylist()
    print(len(files) > 0, *(row["text"].strip() for row in rows), sep="|", flush=True)
    sys.stdin.readline()
"""
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def layout(tmp_path: Path) -> DomainLayout:
    return DomainLayout.of(tmp_path / "store", "d")


@pytest.fixture
def change(ingest: Any, tmp_path: Path) -> Any:
    def to(number: int) -> None:
        (tmp_path / "a.txt").write_text(f"Dobó {number}.\n", encoding="utf-8")
        ingest(tmp_path / "a.txt")

    return to


def test_r10_4_what_a_reader_of_another_process_holds_stays_over_many_runs(
    change: Any, layout: DomainLayout, tmp_path: Path
) -> None:
    change(1)
    with subprocess.Popen(
        [sys.executable, "-c", READER, str(tmp_path / "store")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        assert reader.stdout.readline() == "1\n"
        assert is_leased(layout.commit_file(1))
        for number in range(2, 6):
            change(number)
        assert commit_numbers(layout) == [1, 3, 4, 5]
        assert verify(layout).faults == ()
        reader.stdin.write("\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == "True|Dobó 1.\n"
        reader.kill()
    change(6)
    assert commit_numbers(layout) == [4, 5, 6]
    assert verify(layout).faults == ()


def test_r10_4_a_reader_that_let_go_or_was_forgotten_holds_nothing(change: Any, layout: DomainLayout) -> None:
    change(1)
    store = KnowledgeStore(layout.root.parent)
    with store.open("d"):
        assert is_leased(layout.commit_file(1))
    assert not is_leased(layout.commit_file(1))
    forgotten = store.open("d")
    assert is_leased(layout.commit_file(1))
    del forgotten
    assert not is_leased(layout.commit_file(1))


def test_the_number_of_kept_generations_can_be_set(change: Any, layout: DomainLayout) -> None:
    for number in (1, 2, 3):
        change(number)
    with pytest.raises(ValueError, match="keep 1 or more"):
        collect_garbage(layout, 0)
    collect_garbage(layout, 1)
    assert commit_numbers(layout) == [3]
