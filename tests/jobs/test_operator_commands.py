"""The operator's commands."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from jobs.cli import make_app
from jobs.exit_codes import ExitCode


def run(*arguments: object) -> Result:
    return CliRunner().invoke(make_app(), [str(argument) for argument in arguments])


def as_json(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    value: dict[str, Any] = json.loads(result.stdout)
    return value


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a source `source`, and a store with two generations of it in domain `d`."""
    folder = tmp_path_factory.mktemp("built")
    source = folder / "source"
    source.mkdir()
    (source / "b.txt").write_text("Gergely mester hallgatott.\n", encoding="utf-8")
    for text in ("Dobó István Egerben volt.\n", "Dobó István Budára ment.\n"):
        (source / "a.txt").write_text(text, encoding="utf-8")
        arguments = ("--domain", "d", "--engine", "local", "--store", folder / "store")
        assert run("ingest", source, *arguments).exit_code == 0
    return folder


@pytest.fixture
def store(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the store, which the commands find by themselves."""
    monkeypatch.setenv("TUDASTAR_STORE", str(tmp_path / "store"))
    shutil.copytree(built / "store", tmp_path / "store")
    return tmp_path / "store"


def test_r10_2_verify_says_whole_or_names_each_fault(store: Path) -> None:
    assert "d: whole; generations 1, 2" in run("verify", "--domain", "d").stdout
    assert as_json(run("verify", "--domain", "d", "--generation", 2, "--json"))["faults"] == []
    (file,) = (store / "d").glob("knowledge-*-2.duckdb")
    file.unlink()
    (store / "d" / "notes.txt").write_text("x")
    result = run("verify", "--domain", "d")
    assert result.exit_code == ExitCode.FAILED
    assert f"missing: {file.name} (generation 2)" in result.stdout
    assert "foreign: notes.txt" in result.stdout
    assert json.loads(run("verify", "--domain", "d", "--json").stdout)["faults"][0]["kind"] == "missing"


@pytest.mark.usefixtures("store")
def test_r10_4_rollback_says_what_serves_now() -> None:
    result = run("rollback", "--domain", "d")
    assert "generation 3 of 'd' serves now, with the content of generation 1" in result.stdout
    found = run("search", "Dobó", "--domain", "d").stdout
    assert "Egerben" in found
    assert "Budára" not in found
    assert as_json(run("rollback", "--domain", "d", "--to", 2, "--json")) == {
        "domain": "d",
        "generation": 4,
        "restored": 2,
        "before": 3,
    }


def test_r10_4_export_and_import_carry_a_generation_over(store: Path, tmp_path: Path) -> None:
    result = run("export", tmp_path / "out", "--domain", "d", "--generation", 1)
    assert "exported generation 1 of 'd'" in result.stdout
    other = tmp_path / "other"
    told = as_json(run("import", tmp_path / "out", "--store", other, "--json"))
    assert (told["domain"], told["generation"]) == ("d", 1)
    assert "Egerben" in run("search", "Dobó", "--domain", "d", "--store", other).stdout
    refused = run("import", tmp_path / "out")
    assert (refused.exit_code, "--as-next" in refused.output) == (ExitCode.USAGE, True)
    assert "generation 3 of 'd' serves now" in run("import", tmp_path / "out", "--as-next").stdout
    assert run("verify", "--domain", "d").exit_code == 0
    assert run("export", store / "x", "--domain", "d").exit_code == ExitCode.USAGE


def test_r10_3a_purge_says_what_was_checked_and_a_run_leaves_it_out(store: Path, built: Path) -> None:
    first = run("search", "Dobó Budára", "--domain", "d", "-k", 1, "--json").stdout
    gone = json.loads(first)["documentId"]
    assert run("purge", "--domain", "d", "--document", gone).exit_code == ExitCode.USAGE
    result = run("purge", "--domain", "d", "--document", gone, "--yes")
    assert "1 documents purged from 'd'; generation 3 serves" in result.stdout
    assert "found none in: 1 duckdb files, 2 indexes" in result.stdout
    assert "chats that quote it keep their quotes" in result.stdout
    arguments = ("ingest", built / "source", "--domain", "d", "--engine", "local")
    assert run(*arguments).exit_code == 0
    assert "Budára" not in run("search", "Dobó Budára", "--domain", "d").stdout
    assert run(*arguments, "--include-purged").exit_code == 0
    assert "Budára" in run("search", "Dobó Budára", "--domain", "d").stdout
    assert as_json(run("purge", "--domain", "d", "--all", "--yes", "--json"))["generation"] is None
    assert run("verify", "--domain", "d").exit_code == ExitCode.NOT_FOUND


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["verify", "--domain", "nowhere"], ExitCode.NOT_FOUND, "there are: d"),
        (["verify", "--domain", "../d"], ExitCode.NOT_FOUND, "there are: d"),
        (["verify", "--domain", "d", "--generation", "9"], ExitCode.NOT_FOUND, "there are: 1, 2"),
        (["rollback", "--domain", "d", "--to", "2"], ExitCode.NOT_FOUND, "there are 1; 2 serves now"),
        (["rollback", "--domain", "d", "--keep", "0"], ExitCode.USAGE, "keep"),
        (["purge", "--domain", "d", "--yes"], ExitCode.USAGE, "--document, --source, --all"),
        (["purge", "--domain", "d", "--document", "5", "--yes"], ExitCode.NOT_FOUND, "holds document 5"),
        (["purge", "--domain", "../d", "--all", "--yes"], ExitCode.USAGE, "domain name"),
    ],
)
def test_a_wrong_order_says_what_is_valid(arguments: list[str], code: ExitCode, words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert words in " ".join(result.output.split())
