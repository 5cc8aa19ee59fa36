"""Ingestion as programs start it: by a tool, from an order, followed by way of a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from jobs.cli import make_app
from jobs.exit_codes import ExitCode
from jobs.run_file import TOLD_REJECTS
from store.commits import latest_commit
from store.layout import DomainLayout
from store.lock import writer_lock


def ingest(*arguments: object) -> Result:
    return CliRunner().invoke(make_app(), ["ingest", "--engine", "local", *map(str, arguments)])


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.txt").write_text("Kelemen Anna hétfőn rendel.")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def order_of(tmp_path: Path, documents: Path) -> Any:
    """Writes an order and gives its file."""

    def write(**fields: Any) -> Path:
        content = {"sources": [{"root": str(documents)}], "plugins": ["ingestion_tools"], **fields}
        file = tmp_path / "order.json"
        file.write_text(json.dumps(content))
        return file

    return write


def test_r10_6_a_tool_says_the_domain_and_how_to_read_it(documents: Path, store: Path) -> None:
    result = ingest(documents, "--tool", "ward_ingestion", "--plugin", "ingestion_tools", "--store", store)
    assert result.exit_code == 0, result.output
    commit = latest_commit(DomainLayout.of(store, "ward"))
    assert commit is not None
    assert commit.counts["mentions"] == 1


def test_r12_2_a_run_tells_its_counts_rejects_and_report_in_a_file(
    order_of: Any, store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "progress.json"
    order = order_of(tool="ward_ingestion")
    result = ingest("--order", order, "--progress-file", file, "--store", store)
    assert result.exit_code == 0, result.output
    told = json.loads(file.read_text())
    assert (told["report"]["status"], told["exitCode"], told["error"]) == ("published", 0, None)
    assert told["documents"] == {"done": 2, "total": 2}
    assert told["counts"] == {
        "documents": 1, "pages": 1, "sentences": 1, "mentions": 1, "entities": 1, "edges": 0, "rejects": 1,
    }  # fmt: skip
    (reject,) = told["rejects"]
    assert (reject["source"], reject["sourceId"], reject["stage"]) == ("documents", "broken.pdf", "load")
    again = ingest("--order", order, "--progress-file", file, "--store", store, "--json")
    told = json.loads(file.read_text())
    assert told["report"]["status"] == json.loads(again.stdout)["status"] == "unchanged"
    assert (told["counts"]["rejects"], len(told["rejects"])) == (1, 1)


def test_r12_2_the_file_names_the_first_rejects_alone(
    order_of: Any, documents: Path, store: Path, tmp_path: Path
) -> None:
    for number in range(TOLD_REJECTS + 5):
        (documents / f"broken-{number}.pdf").write_bytes(b"%PDF-1.7 broken")
    file = tmp_path / "progress.json"
    assert (
        ingest(
            "--order", order_of(tool="ward_ingestion"), "--progress-file", file, "--store", store
        ).exit_code
        == 0
    )
    told = json.loads(file.read_text())
    assert (told["counts"]["rejects"], len(told["rejects"])) == (TOLD_REJECTS + 6, TOLD_REJECTS)


def test_r10_6_a_busy_store_stands_in_the_file_with_its_code(
    order_of: Any, store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "progress.json"
    with writer_lock(DomainLayout.of(store, "ward").lock_file):
        result = ingest("--order", order_of(tool="ward_ingestion"), "--progress-file", file, "--store", store)
    assert result.exit_code == ExitCode.BUSY
    told = json.loads(file.read_text())
    assert (told["error"]["code"], told["exitCode"], told["report"]) == ("STORE_BUSY", ExitCode.BUSY, None)


def test_r12_2_a_file_that_cannot_be_written_ends_no_run(order_of: Any, store: Path, tmp_path: Path) -> None:
    (tmp_path / "no-folder").write_text("")
    file = tmp_path / "no-folder" / "progress.json"
    assert (
        ingest(
            "--order", order_of(tool="ward_ingestion"), "--progress-file", file, "--store", store
        ).exit_code
        == 0
    )


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"tool": "nothing"}, "there is no ingestion tool 'nothing'; valid are: ward_ingestion"),
        ({"tool": "nothing", "plugins": ["no_such_module"]}, "no_such_module was left out"),
        ({"tool": "ward_ingestion", "domain": "other"}, "fills domain 'ward', not 'other'"),
        ({"tool": "ward_ingestion", "more": 1}, "cannot be used"),
        ({"sources": []}, "no domain is named"),
    ],
)
def test_a_wrong_order_is_a_usage_error(
    order_of: Any, store: Path, fields: dict[str, Any], told: str
) -> None:
    result = ingest("--order", order_of(**fields), "--store", store)
    assert result.exit_code == ExitCode.USAGE, result.output
    assert told in " ".join(result.output.split())
    assert not store.exists()


def test_an_order_leaves_no_place_outside_of_its_folders(
    order_of: Any, documents: Path, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.txt").write_text("Titok.")
    (documents / "round").symlink_to(documents)
    order = order_of(tool="ward_ingestion", within=[str(documents)])
    assert ingest("--order", order, "--store", store).exit_code == 0
    (documents / "away").symlink_to(tmp_path / "elsewhere")
    result = ingest("--order", order, "--store", store)
    assert result.exit_code == ExitCode.NOT_FOUND
    assert "outside of the folders" in " ".join(result.output.split())


@pytest.mark.parametrize(
    "arguments", [(), ("--domain", "d"), ("x",), ("x", "--order", "y"), ("--order", "none")]
)
def test_what_is_missing_or_too_much_is_a_usage_error(
    arguments: tuple[str, ...], store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "progress.json"
    result = ingest(*arguments, "--progress-file", file, "--store", store)
    assert result.exit_code == ExitCode.USAGE, result.output
    assert json.loads(file.read_text())["exitCode"] == ExitCode.USAGE


def test_spark_and_the_tools_stay_out_of_a_plain_run(documents: Path, store: Path) -> None:
    import subprocess

    code = (
        "import sys; from jobs.cli import make_app; make_app()("
        f"['ingest', {str(documents)!r}, '--domain', 'd', '--engine', 'local', '--store', {str(store)!r}], "
        "standalone_mode=False); print([m for m in ('pyspark', 'fastapi') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
