"""The session of docs/api.md is run, request by request, against a real server."""

from __future__ import annotations

import re
import shlex
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from serving.app import create_app
from serving.server import make_server, open_listener
from serving.settings import Settings

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8765"
PLUGINS = ("tudastar_hospital.clinic_finder", "tudastar_hospital.entity_report")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


def requests() -> list[list[str]]:
    lines = "\n".join(blocks("sh")).replace("\\\n", " ").splitlines()
    return [shlex.split(line) for line in lines if line.startswith("curl ")]


@contextmanager
def server(settings: Settings) -> Iterator[str]:
    listener = open_listener(settings)
    running = make_server(settings, create_app(settings, plugins=()), listener, log_level="error")
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    running.should_exit = True
    thread.join(timeout=60)
    assert not thread.is_alive()


@pytest.fixture
def address(sample_store: Path, tmp_path: Path) -> Iterator[str]:
    """A server over a copy of the sample store, with the plugins that the page names."""
    shutil.copytree(sample_store, tmp_path / "store")
    settings = Settings(
        _env_file=None,
        store=tmp_path / "store",
        port=0,
        plugins=PLUGINS,
        ingestion_roots=(str(ROOT / "data" / "english"),),
        ingestion_engine="local",
    )
    with server(settings) as url:
        yield url


def send(address: str, words: list[str]) -> httpx.Response:
    options = {
        flag: [words[at + 1] for at, word in enumerate(words) if word == flag] for flag in ("-X", "-H", "-d")
    }
    (url,) = (word for word in words if word.startswith("http"))
    (method,) = options["-X"] or (["POST"] if options["-d"] else ["GET"])
    headers = dict(header.split(": ", 1) for header in options["-H"])
    body = options["-d"][0].replace("$PWD", str(ROOT)) if options["-d"] else None
    return httpx.request(
        method, url.replace(ADDRESS, address), headers=headers, content=body and body.encode(), timeout=120
    )


@pytest.mark.slow
def test_the_requests_in_their_order(address: str) -> None:
    answers = [send(address, words) for words in requests()]
    assert [answer.status_code for answer in answers] == [
        200,
        200,
        200,
        200,
        200,
        200,
        204,
        202,
        200,
        202,
        200,
    ]
    asked, told, chats, chat, newest = answers[:5]
    assert '"options":["Felnőtt","Gyermek"' in asked.text
    assert "ortopédia A épület, 1. emelet" in told.text
    assert [each["chatId"] for each in chats.json()["chats"]] == ["session"]
    kinds = [message["kind"] for message in chat.json()["messages"]]
    assert kinds == ["MESSAGE", "QUESTION", "REPLY", "ANSWER"]
    assert [message["kind"] for message in newest.json()["messages"]] == ["REPLY", "ANSWER"]
    for answer in (answers[7], answers[9]):
        location = answer.headers["Location"]
        assert ended(address + location)["status"] == "SUCCEEDED"


def ended(url: str) -> dict[str, Any]:
    for _ in range(600):
        job: dict[str, Any] = httpx.get(url, timeout=60).json()
        if job["status"] not in ("QUEUED", "RUNNING"):
            break
        threading.Event().wait(0.2)
    return job


@pytest.mark.slow
def test_the_program(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = blocks("python")
    exec(compile(program.replace(ADDRESS, address), "docs/api.md", "exec"), {"__name__": "session"})
    assert "gyermekortopédia M épület" in capsys.readouterr().out
