"""Asking on the command line, with tools that ask back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jobs.cli import make_app
from jobs.exit_codes import ExitCode

QUESTION = "Milyen ortopédiai szakrendelés van?"


@pytest.fixture(autouse=True)
def _clinic_finder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUDASTAR_PLUGINS", "tudastar_hospital.clinic_finder")


def ask(store: Path, *arguments: str) -> Result:
    return CliRunner().invoke(
        make_app(), ["ask", QUESTION, "--domain", "hospital", "--store", str(store), *arguments]
    )


def test_r7_3_a_question_that_nobody_answers_has_an_exit_code_of_its_own(sample_store: Path) -> None:
    result = ask(sample_store)
    assert result.exit_code == ExitCode.QUESTION
    assert result.stdout.splitlines()[1:] == ["  - Felnőtt", "  - Gyermek", "  - Mindkettő érdekel"]
    told = json.loads(ask(sample_store, "--json").stdout)
    assert told["question"]["options"] == ["Felnőtt", "Gyermek", "Mindkettő érdekel"]


def test_r7_3_replies_are_given_one_after_the_other(sample_store: Path) -> None:
    result = ask(sample_store, "--reply", "Felnőtt", "--reply", "Fő utcai telep", "--json")
    assert result.exit_code == ExitCode.OK, result.output
    told = json.loads(result.stdout)
    assert "question" not in told
    assert any("ortopédia" in source["text"].lower() for source in told["sources"])


def test_r7_8_a_reply_that_is_none_of_the_options_is_told(sample_store: Path) -> None:
    result = ask(sample_store, "--reply", "kutya")
    assert result.exit_code == ExitCode.FAILED
    assert "'kutya' is none of the options; valid are: 'Felnőtt', 'Gyermek'" in result.output


def test_r4_10_r5_8_a_tool_can_be_named_and_the_trace_be_shown(sample_store: Path) -> None:
    result = ask(sample_store, "--tool", "rag_retrieval", "--trace")
    assert result.exit_code == ExitCode.OK, result.output
    assert "context: rag_retrieval, " in result.stderr
    assert "clinic_finder" not in result.stderr
    assert [
        entry["tool"]
        for entry in json.loads(ask(sample_store, "--tool", "rag_retrieval", "--trace", "--json").stdout)[
            "trace"
        ]["tools"]
    ] == ["rag_retrieval"]


@pytest.mark.parametrize("arguments", [("--language", "de"), ("--tool", "nobody")])
def test_a_question_that_is_refused_is_told_in_a_line(sample_store: Path, arguments: tuple[str, ...]) -> None:
    result = ask(sample_store, *arguments)
    assert result.exit_code == ExitCode.FAILED
    assert "valid are: " in result.stderr
    assert len(result.stderr.splitlines()) <= 3
