"""Ingestion over REST: real processes, followed, cancelled, killed, and found again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from fastapi import FastAPI
from ingestion_tools import GATE

from serving.work.limits import JobLimits
from store.commits import latest_commit
from store.layout import DomainLayout
from store.lock import writer_lock

Fixture = Callable[..., Any]
USERS = {"anna": "token-of-anna-0123456789", "bela": "token-of-bela-0123456789"}
SUPPORT = Path(__file__).resolve().parents[2] / "support"


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A folder with a document and a file that is none."""
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "rendelés.txt").write_text("A kardiológián hétfőn Kelemen Anna rendel. Beutaló szükséges.")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    return folder


@pytest.fixture
def state_url(tmp_path: Path) -> str:
    """One kind of database is enough here: the tests of tasks and of deaths take each."""
    return f"sqlite:///{tmp_path}/state.sqlite"


class Gate:
    """A file without which no run gets past the recognition of names."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def open(self) -> None:
        self.file.touch()


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Closed."""
    made = Gate(tmp_path / "gate")
    monkeypatch.setenv(GATE, str(made.file))
    return made


@pytest.fixture
def app_over(
    make_app: Fixture, tmp_path: Path, documents: Path, state_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., FastAPI]]:
    """Makes apps over one store and state; no run outlives the test."""
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))

    def make(**settings: Any) -> FastAPI:
        given = {
            "store": tmp_path / "store",
            "state": state_url,
            "ingestion_roots": (str(documents),),
            "ingestion_engine": "local",
            "plugins": ("ingestion_tools",),
        }
        return make_app(**{**given, **settings})

    yield make
    for run in processes_of(tmp_path):
        run.kill()


def processes_of(folder: Path) -> list[psutil.Process]:
    """Runs that work in a test's folder, and what they started."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if any(str(folder / "runs") in part for part in process.info["cmdline"] or ()):
            found += [process, *process.children(recursive=True)]
    return found


def order(documents: Path, **fields: Any) -> dict[str, Any]:
    return {"sources": [{"root": str(documents)}], **fields}


def at_the_gate(run: dict[str, Any]) -> bool:
    return bool(run["stage"] == "mentions")


async def test_r12_2_a_run_is_followed_to_its_end(
    app_over: Fixture, opened: Fixture, until: Fixture, documents: Path, gate: Gate, tmp_path: Path
) -> None:
    async with opened(app_over()) as client:
        response = await client.post("/api/ingestion/ward_ingestion", json=order(documents))
        assert response.status_code == 202, response.text
        address = response.headers["Location"]
        assert address == f"/api/ingestion/{response.json()['runId']}"
        running = await until(client, address, at_the_gate)
        assert (running["status"], running["domain"], running["done"]) == ("RUNNING", "ward", 0)
        assert running["documents"] == {"done": 2, "total": 2}
        assert running["counts"]["documents"] == 1
        (reject,) = running["rejects"]
        assert reject["sourceId"] == "broken.pdf"
        assert reject["code"]
        log = await client.get(f"{address}/log")
        assert log.headers["Content-Type"].startswith("text/plain")
        assert "load: 2" in log.text.splitlines()
        gate.open()
        ended = await until(client, address)
        assert (ended["status"], ended["error"], ended["stage"]) == ("SUCCEEDED", None, None), ended
        assert ended["report"]["status"] == "published"
        assert ended["report"]["generation"] == 1
        assert ended["counts"]["mentions"] == 1
        assert (await client.get(f"{address}/log", params={"tail": 1})).text.count("\n") == 1
        again = (await client.post("/api/ingestion/ward_ingestion", json=order(documents))).headers[
            "Location"
        ]
        ended = await until(client, again)
        assert (ended["report"]["status"], ended["counts"]["documents"]) == ("unchanged", 1)
        listed = (await client.get("/api/ingestion")).json()
        assert [run["runId"] for run in listed["runs"]] == [again.split("/")[-1], address.split("/")[-1]]
        assert listed["next"] is None
    assert not processes_of(tmp_path)


async def test_r12_2_a_cancelled_run_ends_with_all_its_processes_and_changes_nothing(
    app_over: Fixture, opened: Fixture, until: Fixture, documents: Path, gate: Gate, tmp_path: Path
) -> None:
    for number in range(6):
        (documents / f"{number}.txt").write_text(f"Kelemen Anna {number}. levele.")
    async with opened(app_over()) as client:
        address = (await client.post("/api/ingestion/ward_ingestion", json=order(documents))).headers[
            "Location"
        ]
        await until(client, address, at_the_gate)
        assert (await client.delete(address)).status_code == 202
        ended = await until(client, address)
        assert (ended["status"], ended["error"], ended["report"]) == ("CANCELLED", None, None)
        assert (await client.delete(address)).status_code == 200
    assert not processes_of(tmp_path)
    assert latest_commit(DomainLayout.of(tmp_path / "store", "ward")) is None


async def test_r12_2_a_killed_run_is_interrupted_with_its_log(
    app_over: Fixture, opened: Fixture, until: Fixture, documents: Path, gate: Gate, tmp_path: Path
) -> None:
    async with opened(app_over()) as client:
        address = (await client.post("/api/ingestion/ward_ingestion", json=order(documents))).headers[
            "Location"
        ]
        await until(client, address, at_the_gate)
        processes_of(tmp_path)[0].kill()
        ended = await until(client, address)
        assert (ended["status"], ended["error"]["code"]) == ("INTERRUPTED", "RUN_DIED")
        assert "exit code -9" in ended["error"]["message"]
        assert "load: 2" in ended["error"]["message"]
        gate.open()
        again = (await client.post("/api/ingestion/ward_ingestion", json=order(documents))).headers[
            "Location"
        ]
        assert (await until(client, again))["status"] == "SUCCEEDED"


async def test_r12_2_a_run_goes_on_while_no_server_is_there_and_is_found_again(
    app_over: Fixture, opened: Fixture, until: Fixture, documents: Path, gate: Gate
) -> None:
    async with opened(app_over()) as client:
        address = (await client.post("/api/ingestion/ward_ingestion", json=order(documents))).headers[
            "Location"
        ]
        await until(client, address, at_the_gate)
    async with opened(app_over()) as client:
        assert (await client.get(address)).json()["status"] == "RUNNING"
        gate.open()
        assert (await until(client, address))["status"] == "SUCCEEDED"


@pytest.mark.parametrize("how", ["ends", "is killed"])
async def test_r12_2_a_run_that_ends_while_no_server_is_there_has_a_stated_end(
    app_over: Fixture, opened: Fixture, until: Fixture, documents: Path, gate: Gate, tmp_path: Path, how: str
) -> None:
    async with opened(app_over()) as client:
        address = (await client.post("/api/ingestion/ward_ingestion", json=order(documents))).headers[
            "Location"
        ]
        await until(client, address, at_the_gate)
    run = processes_of(tmp_path)[0]
    if how == "is killed":
        os.kill(run.pid, signal.SIGKILL)
    gate.open()
    deadline = time.monotonic() + 60
    while run.is_running() and run.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
    async with opened(app_over()) as client:
        ended = await until(client, address)
    assert ended["status"] == ("SUCCEEDED" if how == "ends" else "INTERRUPTED")


async def test_r10_6_of_two_runs_on_one_store_the_later_one_says_so(
    app_over: Fixture, opened: Fixture, until: Fixture, documents: Path, tmp_path: Path
) -> None:
    async with opened(app_over()) as client:
        with writer_lock(DomainLayout.of(tmp_path / "store", "ward").lock_file):
            response = await client.post("/api/ingestion/ward_ingestion", json=order(documents))
            ended = await until(client, response.headers["Location"])
    assert (ended["status"], ended["error"]["code"]) == ("FAILED", "STORE_BUSY")
    assert "another run is writing" in ended["error"]["message"]


@pytest.mark.slow
async def test_r10_6_any_domain_is_ingested_by_its_name(
    app_over: Fixture, opened: Fixture, until: Fixture, documents: Path
) -> None:
    async with opened(app_over()) as client:
        body = order(documents, domain="új-osztály")
        response = await client.post("/api/ingestion/domain_ingestion", json=body)
        ended = await until(client, response.headers["Location"])
        assert (ended["status"], ended["domain"]) == ("SUCCEEDED", "új-osztály"), ended
        assert ended["report"]["engine"] == "local"


@pytest.mark.slow
@pytest.mark.spark
async def test_r10_6_a_run_is_started_by_spark_submit(
    app_over: Fixture, opened: Fixture, until: Fixture, documents: Path
) -> None:
    import pyspark

    program = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    async with opened(app_over(spark_submit=(str(program), "--master", "local[1]"))) as client:
        response = await client.post("/api/ingestion/ward_ingestion", json=order(documents))
        ended = await until(client, response.headers["Location"])
        log = await client.get(f"{response.headers['Location']}/log")
    assert ended["status"] == "SUCCEEDED", log.text
    assert ended["report"]["engine"] == "spark"


async def test_r12_2_a_run_that_cannot_be_started_fails(
    app_over: Fixture, opened: Fixture, until: Fixture, documents: Path
) -> None:
    async with opened(app_over(spark_submit=("/nowhere/spark-submit",))) as client:
        response = await client.post("/api/ingestion/ward_ingestion", json=order(documents))
        ended = await until(client, response.headers["Location"])
    assert (ended["status"], ended["error"]["code"]) == ("FAILED", "RUN_NOT_STARTED")
    assert "/nowhere/spark-submit" in ended["error"]["message"]


async def test_r13_0_runs_of_others_are_not_there_and_a_key_is_ones_own(
    app_over: Fixture, opened: Fixture, as_user: Fixture, documents: Path, gate: Gate
) -> None:
    limits = JobLimits(concurrent_ingestions=1)
    async with opened(app_over(users=USERS, jobs=limits)) as client:
        anna, bela = as_user("anna"), as_user("bela")
        start = "/api/ingestion/ward_ingestion"
        first = await client.post(start, json=order(documents), headers={**anna, "Idempotency-Key": "1"})
        again = await client.post(start, json=order(documents), headers={**anna, "Idempotency-Key": "1"})
        assert (first.status_code, again.status_code) == (202, 200)
        assert first.json()["runId"] == again.json()["runId"]
        other = await client.post(start, json=order(documents), headers={**bela, "Idempotency-Key": "1"})
        assert other.status_code == 202
        address = first.headers["Location"]
        for refused in (
            await client.get(address, headers=bela),
            await client.get(f"{address}/log", headers=bela),
            await client.delete(address, headers=bela),
        ):
            assert (refused.status_code, refused.json()["code"]) == (404, "UNKNOWN_INGESTION")
        waiting = await client.delete(other.headers["Location"], headers=bela)
        assert (waiting.status_code, waiting.json()["status"]) == (200, "CANCELLED")
        await client.delete(address, headers=anna)


async def test_r13_3_ingestion_is_off_until_folders_are_named(
    app_over: Fixture, opened: Fixture, documents: Path
) -> None:
    async with opened(app_over(ingestion_roots=())) as client:
        refused = await client.post("/api/ingestion/ward_ingestion", json=order(documents))
    assert (refused.status_code, refused.json()["code"]) == (403, "INGESTION_SWITCHED_OFF")
    assert "TUDASTAR_INGESTION_ROOTS" in refused.json()["detail"]


@pytest.mark.parametrize(
    "root",
    [
        "/etc/passwd", "{documents}/../secret", "{documents}-more", "{documents}/link", "documents", "",
        "{documents}/*.txt", "{documents}/\x00", "{documents}/nothing", "-rf", "{documents}/" + "x" * 300, "{loop}",
    ],
)  # fmt: skip
async def test_r13_3_no_place_outside_of_the_folders_is_read(
    app_over: Fixture, opened: Fixture, documents: Path, tmp_path: Path, root: str
) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.txt").write_text("Titok.")
    (documents / "link").symlink_to(tmp_path / "secret")
    (documents / "loop").symlink_to(documents / "loop")
    (tmp_path / "documents-more").mkdir()
    place = root.format(documents=documents, loop=documents / "loop")
    async with opened(app_over()) as client:
        refused = await client.post("/api/ingestion/ward_ingestion", json={"sources": [{"root": place}]})
        assert (await client.get("/api/ingestion")).json()["runs"] == []
    assert refused.status_code in (403, 422)
    codes = ("ROOT_NOT_ALLOWED", "SOURCE_NOT_FOUND", "INVALID_REQUEST")
    assert refused.json()["code"] in codes
    assert not (tmp_path / "runs").exists()


async def test_r13_3_a_link_within_a_folder_does_not_lead_out_of_it(
    app_over: Fixture, opened: Fixture, until: Fixture, documents: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("Titok.")
    (documents / "below").mkdir()
    (documents / "below" / "link.txt").symlink_to(tmp_path / "secret.txt")
    async with opened(app_over()) as client:
        response = await client.post("/api/ingestion/ward_ingestion", json=order(documents))
        ended = await until(client, response.headers["Location"])
    assert (ended["status"], ended["error"]["code"]) == ("FAILED", "SOURCE_NOT_FOUND")
    assert "outside of the folders" in ended["error"]["message"]


@pytest.mark.parametrize(
    ("tool", "change", "status", "code"),
    [
        ("nothing", {}, 404, "UNKNOWN_INGESTION_TOOL"),
        ("rag_retrieval", {}, 404, "UNKNOWN_INGESTION_TOOL"),
        ("domain_ingestion", {}, 422, "DOMAIN_MISSING"),
        ("domain_ingestion", {"domain": "../etc"}, 422, "INVALID_NAME"),
        ("domain_ingestion", {"domain": "a b; rm -rf"}, 422, "INVALID_NAME"),
        ("ward_ingestion", {"domain": "other"}, 422, "OTHER_DOMAIN"),
        ("ward_ingestion", {"sources": []}, 422, "INVALID_REQUEST"),
        ("ward_ingestion", {"engine": "spark"}, 422, "INVALID_REQUEST"),
    ],
)
async def test_r13_3_a_wrong_order_is_refused_before_anything_starts(
    app_over: Fixture,
    opened: Fixture,
    documents: Path,
    tool: str,
    change: dict[str, Any],
    status: int,
    code: str,
) -> None:
    async with opened(app_over()) as client:
        refused = await client.post(f"/api/ingestion/{tool}", json=order(documents, **change))
    assert (refused.status_code, refused.json()["code"]) == (status, code)


@pytest.mark.parametrize(
    "field", [{"name": "../x"}, {"system": "a/b"}, {"language": "de"}, {"name": "-"}, {"more": 1}]
)
async def test_r13_3_names_and_languages_of_sources_are_checked(
    app_over: Fixture, opened: Fixture, documents: Path, field: dict[str, Any]
) -> None:
    async with opened(app_over()) as client:
        body = {"sources": [{"root": str(documents), **field}]}
        refused = await client.post("/api/ingestion/ward_ingestion", json=body)
    assert refused.status_code == 422


async def test_r13_0_a_run_is_told_no_secret_of_the_server(
    app_over: Fixture, opened: Fixture, until: Fixture, documents: Path, gate: Gate, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    app = app_over()
    monkeypatch.setenv("TUDASTAR_TOKEN", "secret-token-0123456789")
    async with opened(app) as client:
        address = (await client.post("/api/ingestion/ward_ingestion", json=order(documents))).headers[
            "Location"
        ]
        await until(client, address, at_the_gate)
        run = processes_of(tmp_path)[0]
        assert "TUDASTAR_TOKEN" not in run.environ()
        folder = tmp_path / "runs" / address.split("/")[-1]
        assert folder.stat().st_mode & 0o077 == 0
        assert json.loads((folder / "order.json").read_text())["within"] == [str(documents)]
        await client.delete(address)
        await until(client, address)


async def test_r13_3_the_working_files_go_with_the_run(
    app_over: Fixture, opened: Fixture, until: Fixture, documents: Path, tmp_path: Path
) -> None:
    app = app_over(spark_submit=("/nowhere/spark-submit",), jobs=JobLimits(kept_jobs=2))
    async with opened(app) as client:
        started = []
        for _ in range(4):
            response = await client.post("/api/ingestion/ward_ingestion", json=order(documents))
            started.append(response.json()["runId"])
            await until(client, response.headers["Location"])
        kept = sorted(started[2:])
        for _ in range(100):
            if folders_of(tmp_path) == kept:
                break
            await asyncio.sleep(0.1)
        assert folders_of(tmp_path) == kept
        listed = (await client.get("/api/ingestion")).json()["runs"]
        assert sorted(run["runId"] for run in listed) == kept


def folders_of(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "runs").iterdir())
