"""The whole way: documents, ingestion, a running server, cited answers."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ner.ingestion import IngestionRequest, SourceRequest
from ner.spec import DomainSpec
from pipelines.engines.local import LocalEngine
from pipelines.run import PipelineRunner
from serving.app import create_app
from serving.server import make_server, open_listener
from serving.settings import Settings


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[httpx.Client, Path]]:
    """A server over a store that grows, and the folder of its documents."""
    source = tmp_path / "docs"
    source.mkdir()
    settings = Settings(store=tmp_path / "store", port=0)
    listener = open_listener(settings)
    running = make_server(settings, create_app(settings), listener, log_level="error")
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    with httpx.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=60) as client:
        yield client, source
    running.should_exit = True
    thread.join(timeout=20)
    assert not thread.is_alive()


def ingest(source: Path) -> None:
    with PipelineRunner(source.parent / "store", lambda: LocalEngine(1)) as runner:
        request = IngestionRequest(sources=(SourceRequest(str(source)),))
        runner.run(DomainSpec(domain="town"), request)


def ask(client: httpx.Client, message: str) -> list[dict[str, Any]]:
    request = {"message": message, "domain": "town"}
    with client.stream("POST", "/api/chatbot/chat", json=request) as response:
        assert response.status_code == 200, response.read()
        lines = [line for line in response.iter_lines() if line.startswith("data:")]
    return [json.loads(line.removeprefix("data:")) for line in lines]


def answer_and_sources(events: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    text = "".join(event["content"] for event in events if event["progressStatus"] == "LLM_GENERATION")
    (sources,) = (event["sources"] for event in events if event["progressStatus"] == "SOURCES")
    return text, sources


def test_a_running_server_picks_up_what_is_published(server: tuple[httpx.Client, Path]) -> None:
    client, source = server
    assert client.get("/api/domains").json()
    refused = client.post("/api/chatbot/chat", json={"message": "Ki?", "domain": "town"})
    assert (refused.status_code, refused.json()["code"]) == (404, "UNKNOWN_DOMAIN")

    (source / "a.txt").write_text(
        "A polgármester neve Kiss Béla. A könyvtár a Fő téren van.\n", encoding="utf-8"
    )
    ingest(source)
    events = ask(client, "Ki a polgármester?")
    text, sources = answer_and_sources(events)
    assert [events[0]["progressStatus"], events[-1]["progressStatus"]] == ["CHAT", "DONE"]
    assert "A polgármester neve Kiss Béla." in text
    place = next(each for each in sources if each["text"] == "A polgármester neve Kiss Béla.")
    assert (place["documentName"], place["page"], place["sentenceNumber"]) == ("a", 0, 0)
    page = client.get(f"/api/documents/{place['documentId']}/pages/0", params={"domain": "town"}).json()
    assert "A könyvtár a Fő téren van." in json.dumps(page, ensure_ascii=False)

    (source / "a.txt").write_text("A polgármester neve Nagy Ilona.\n", encoding="utf-8")
    ingest(source)
    text, sources = answer_and_sources(ask(client, "Ki a polgármester?"))
    assert "Nagy Ilona" in text
    assert "Kiss Béla" not in text + json.dumps(sources, ensure_ascii=False)


@pytest.mark.parametrize(
    ("domain", "question", "expected"),
    [
        ("hospital", "Mi a kardiológia telefonszáma?", "+36 99 555 112"),
        ("hospital", "Ki vezeti az ortopédiát?", "Szabó Gergely"),
        ("museum", "Who founded the maritime museum?", "Edith Harrow"),
        ("museum", "How much does a family ticket cost?", "18 pounds"),
    ],
)
def test_r8_3_the_sample_answers_quote_the_fact(
    sample_store: Path, domain: str, question: str, expected: str
) -> None:
    from jobs.commands.ask import answer_question

    answer = answer_question(sample_store, {"message": question, "domain": domain, "systems": []})
    assert expected in answer.answer
    assert any(expected in source["text"] for source in answer.sources)


def test_a_store_of_another_version_is_told_and_not_guessed_at(
    server: tuple[httpx.Client, Path],
) -> None:
    client, source = server
    (source / "a.txt").write_text("A polgármester neve Kiss Béla.\n", encoding="utf-8")
    ingest(source)
    (index,) = (source.parent / "store" / "town" / "search").iterdir()
    shutil.rmtree(index / "sentences")
    shutil.copytree(index / "passages", index / "sentences")
    refused = client.post("/api/chatbot/chat", json={"message": "Ki?", "domain": "town"})
    assert (refused.status_code, refused.json()["code"]) == (503, "STORE_UNREADABLE")
    assert "built by another version" in refused.json()["detail"]
