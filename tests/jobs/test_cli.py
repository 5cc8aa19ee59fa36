from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from jobs.cli import COMMANDS, make_app
from jobs.exit_codes import ExitCode
from store.layout import DomainLayout
from store.lock import writer_lock


def run(*arguments: object) -> Result:
    return CliRunner().invoke(make_app(), [str(argument) for argument in arguments])


def json_lines(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("command", [command.__name__.rstrip("_") for command in COMMANDS])
def test_every_command_has_help_with_the_exit_codes(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Exit codes" in result.output


def test_search_gives_sentences_with_their_places(sample_store: Path) -> None:
    rows = json_lines(
        run(
            "search",
            "kardiológia telefonszáma",
            "--domain",
            "hospital",
            "-k",
            5,
            "--json",
            "--store",
            sample_store,
        )
    )
    assert len(rows) == 5
    assert list(rows[0]) == [
        "documentId",
        "documentName",
        "documentUrl",
        "page",
        "sentenceNumber",
        "text",
        "sentenceScore",
    ]
    assert any("+36 99 555 112" in row["text"] for row in rows)
    scores = [row["sentenceScore"] for row in rows]
    assert scores == sorted(scores, reverse=True)


def test_search_writes_a_run_by_record_or_path(sample_store: Path, tmp_path: Path) -> None:
    queries, out = tmp_path / "q.jsonl", tmp_path / "run.trec"
    queries.write_text(
        '{"_id": "q 1", "text": "brass sextant"}\n{"_id": "q2", "text": "family ticket price"}\n',
        encoding="utf-8",
    )
    result = run(
        "search", "--queries", queries, "--run", out, "--domain", "museum", "-k", 3, "--store", sample_store
    )
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in out.read_text(encoding="utf-8").splitlines()]
    assert {len(row) for row in rows} == {6}
    assert {row[0] for row in rows} == {"q%201", "q2"}
    assert [row[3] for row in rows if row[0] == "q2"] == ["1", "2", "3"]
    found = {row[2] for row in rows}
    assert "visiting.html" in found
    assert any(name.startswith("MPM-") for name in found)


def test_ask_answers_with_sources(sample_store: Path) -> None:
    arguments = ("ask", "Hol van a kardiológia?", "--domain", "hospital", "--store", sample_store)
    (answer,) = json_lines(run(*arguments, "--json"))
    assert list(answer) == ["answer", "sources"]
    assert "B épület harmadik emeletén" in answer["answer"]
    assert answer["sources"]
    assert {"documentId", "documentName", "page", "sentenceNumber", "text"} <= set(answer["sources"][0])
    assert all(source["text"] in answer["answer"] for source in answer["sources"])
    assert "B épület harmadik emeletén" in run(*arguments).stdout


def test_entities_lists_the_most_mentioned_first(sample_store: Path) -> None:
    rows = json_lines(run("entities", "--domain", "tale", "--json", "--store", sample_store))
    assert list(rows[0]) == ["entityId", "name", "label", "aliases", "mentionCount"]
    counts = [row["mentionCount"] for row in rows]
    assert counts == sorted(counts, reverse=True)
    (found, *_) = json_lines(run("entities", "varjas", "--domain", "tale", "--json", "--store", sample_store))
    assert found["name"] == "Varjas"
    assert found["label"] == "PER"


def test_digest_and_status_tell_the_same_store(sample_store: Path) -> None:
    (digest,) = json_lines(run("digest", "--domain", "tale", "--json", "--store", sample_store))
    assert run("digest", "--domain", "tale", "--store", sample_store).stdout.strip() == digest["digest"]
    rows = json_lines(run("status", "--json", "--store", sample_store))
    assert [row["domain"] for row in rows] == ["hospital", "museum", "tale"]
    assert "generation 1" in run("status", "--domain", "tale", "--store", sample_store).stdout


def test_doctor_looks_at_everything(sample_store: Path) -> None:
    found = {row["what"] for row in json_lines(run("doctor", "--json", "--store", sample_store))}
    assert {"Python", "Java", "model hu_ner (hu)", "store", "language model"} <= found


def test_ingest_and_again(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("Dobó István Egerben volt.\n", encoding="utf-8")
    arguments = ("ingest", source, "--domain", "d", "--engine", "local", "--store", tmp_path / "store")
    first = run(*arguments)
    assert first.exit_code == 0, first.output
    assert "published generation 1" in first.stdout
    (report,) = json_lines(run(*arguments, "--json"))
    assert (report["status"], report["generation"], report["engine"]) == ("unchanged", 1, "")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["search", "x", "--domain", "nowhere"], ExitCode.NOT_FOUND, "there are: hospital, museum, tale"),
        (["entities", "--domain", "../x"], ExitCode.NOT_FOUND, "no domain"),
        (["ask", "x", "--domain", "nowhere"], ExitCode.NOT_FOUND, "there are: hospital, museum, tale"),
        (["ingest", "/no/such/place", "--domain", "d"], ExitCode.NOT_FOUND, "/no/such/place"),
        (["ingest", ".", "--domain", "a/b"], ExitCode.USAGE, "domain name"),
        (["ingest", ".", "--domain", "d", "--language", "fr"], ExitCode.USAGE, "hu, en, auto"),
        (["ingest", ".", "--domain", "d", "--engine", "hadoop"], ExitCode.USAGE, "auto, spark, local"),
        (["search", "--domain", "tale"], ExitCode.USAGE, "--queries"),
    ],
)
def test_a_wrong_command_line_says_what_is_valid(
    sample_store: Path, arguments: list[str], code: ExitCode, words: str
) -> None:
    result = run(*arguments, "--store", sample_store)
    assert result.exit_code == code, result.output
    assert words in " ".join(result.output.split())


def test_a_busy_store_has_a_code_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Dobó.", encoding="utf-8")
    with writer_lock(DomainLayout.of(tmp_path / "store", "d").lock_file):
        result = run("ingest", tmp_path / "a.txt", "--domain", "d", "--store", tmp_path / "store")
    assert result.exit_code == ExitCode.BUSY
    assert "wait for it to end" in result.output
