"""`tudastar ingest` on the command line: limits, what it would do, reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from jobs.cli import make_app
from jobs.exit_codes import ExitCode


def ingest(folder: Path, *more: object) -> Result:
    arguments = ["ingest", folder, "--domain", "d", "--engine", "local", "--store", folder.parent / "store"]
    return CliRunner().invoke(make_app(), [str(argument) for argument in (*arguments, *more)])


def as_json(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    value: dict[str, Any] = json.loads(result.stdout)
    return value


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.txt").write_text("Anna reads.", encoding="utf-8")
    (folder / "b.txt").touch()
    return folder


def test_r10_5_too_many_rejects_have_an_exit_code_of_their_own(folder: Path) -> None:
    progress = folder.parent / "progress.json"
    refused = ingest(folder, "--max-rejects", "0", "--progress-file", progress)
    assert refused.exit_code == ExitCode.TOO_MANY_REJECTS
    assert "1 rejects beside 1 documents are more than the limit of 0" in refused.output
    kept = json.loads(progress.read_bytes())
    assert (kept["error"]["code"], kept["exitCode"]) == ("TOO_MANY_REJECTS", 7)
    assert [each["sourceId"] for each in kept["rejects"]] == ["b.txt"]
    assert as_json(ingest(folder, "--max-rejects", "50%", "--json"))["status"] == "published"


def test_r10_5_what_is_no_limit_is_told(folder: Path) -> None:
    refused = ingest(folder, "--max-rejects", "few")
    assert refused.exit_code == ExitCode.USAGE
    assert "is no limit" in refused.output
