"""Servers that are killed at any moment: nothing that was said is lost, and nothing that was done is done again."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from kill_server import DOMAIN, FIELDS, PARTS

SCRIPT = Path(__file__).parents[1] / "support" / "kill_server.py"
CHATS = ("a", "b", "c", "d")
PATIENCE = 60.0
STATED = ("DONE", "INTERRUPTED")

pytestmark = pytest.mark.slow


class Servers:
    """Servers one after the other, over one state."""

    def __init__(self, state: str, log: Path) -> None:
        self._command = [sys.executable, str(SCRIPT), state, str(log)]

    async def __aenter__(self) -> Servers:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._forking = await asyncio.create_subprocess_exec(*self._command, **pipes)
        return self

    async def __aexit__(self, *exception: object) -> None:
        assert self._forking.stdin is not None
        self._forking.stdin.close()
        await self._forking.wait()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[tuple[int, str]]:
        """The process id and address of a new server; it is killed at the end if it has not ended by then."""
        assert self._forking.stdin is not None
        assert self._forking.stdout is not None
        self._forking.stdin.write(b"\n")
        async with asyncio.timeout(PATIENCE):
            pid, url = json.loads(await self._forking.stdout.readline())
        try:
            yield pid, url
        finally:
            await end(pid, signal.SIGKILL)


async def end(pid: int, number: signal.Signals) -> None:
    """Returns when the process is gone."""
    async with asyncio.timeout(PATIENCE):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
            while True:
                os.kill(pid, 0)
                await asyncio.sleep(0.005)


class User:
    """Writes in one chat, answers all that is asked, and remembers what was accepted."""

    def __init__(self, chat_id: str, choices: random.Random) -> None:
        self.chat_id = chat_id
        self._choices = choices
        self._said = 0
        self.accepted: list[str] = []
        """Messages whose CHAT event was seen."""
        self.replies: dict[str, str] = {}
        """The newest answer that was accepted, by the question's text."""

    async def write(self, client: httpx.AsyncClient) -> None:
        """Write on and on."""
        while True:
            question = await self.pending(client)
            if question is None:
                await self.say(client)
            else:
                await self.reply(client, question)

    async def pending(self, client: httpx.AsyncClient) -> str | None:
        """The text of the question that waits."""
        last = (await self.history(client))[-1:]
        while last and last[0]["kind"] == "ANSWER" and last[0]["status"] == "INTERRUPTED":
            response = await client.post("/api/chatbot/clarify", json={"chatId": self.chat_id, "answer": " "})
            if response.json()["code"] == "NO_PENDING_QUESTION":
                return None
            assert response.json()["code"] == "EMPTY_ANSWER", response.text
            return [each for each in await self.history(client) if each["kind"] == "QUESTION"][-1]["content"]
        return last[0]["content"] if last and last[0]["kind"] == "QUESTION" else None

    async def say(self, client: httpx.AsyncClient) -> None:
        """One message."""
        self._said += 1
        text = f"{self.chat_id}{self._said}."
        tool = {"toolName": "telling"} if self._choices.random() < 0.25 else {}
        body = {"chatId": self.chat_id, "message": text, "domain": DOMAIN, **tool}
        async for _ in accepted(client, "/api/chatbot/chat", body):
            self.accepted.append(text)

    async def reply(self, client: httpx.AsyncClient, question: str) -> None:
        """One answer."""
        self._said += 1
        text = f"{self.chat_id}{self._said} válasz"
        body = {"chatId": self.chat_id, "answer": text}
        async for _ in accepted(client, "/api/chatbot/clarify", body):
            self.replies[question] = text

    async def history(self, client: httpx.AsyncClient) -> list[dict[str, Any]]:
        """All messages of the chat; none before its first."""
        found: list[dict[str, Any]] = []
        after: int | None = -1
        while after is not None:
            response = await client.get(
                f"/api/chatbot/chats/{self.chat_id}", params={"after": after, "limit": 100}
            )
            if response.status_code == 404:
                assert not self.accepted
                return []
            page = response.json()
            found += page["messages"]
            after = page["next"]
        return found

    def check(self, found: list[dict[str, Any]]) -> None:
        """Each message once, in its place, with one answer that has a stated end."""
        assert [each["sequence"] for each in found] == list(range(len(found)))
        assert [each["role"] for each in found] == ["user", "assistant"] * (len(found) // 2)
        assert {each["status"] for each in found} <= set(STATED), found
        said = [each["content"] for each in found if each["kind"] == "MESSAGE"]
        assert Counter(said) == Counter(set(said))
        assert [each for each in said if each in set(self.accepted)] == self.accepted
        replied: dict[str, str] = {}
        for asked, reply in zip(found[1::2], found[2::2], strict=False):
            if reply["kind"] == "REPLY":
                assert asked["kind"] == "QUESTION", found
                assert asked["content"] not in replied
                replied[asked["content"]] = reply["content"]
        for question, text in self.replies.items():
            assert _newer(replied[question], text), (question, replied[question], text)


def _newer(kept: str, accepted: str) -> bool:
    """A reply that was sent again, and whose CHAT event a kill swallowed, may stand for the one before."""
    return int(kept.split()[0][1:]) >= int(accepted.split()[0][1:])


async def accepted(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> AsyncIterator[None]:
    """Gives once, when the request was accepted; then reads to the end of the stream."""
    async with client.stream("POST", path, json=body) as response:
        assert response.status_code == 200, (await response.aread()).decode()
        last = ""
        async for line in response.aiter_lines():
            if '"CHAT"' in line:
                yield
            last = line or last
    assert '"DONE"' in last or "SERVER_STOPPING" in last, last


def log_of(path: Path) -> Counter[tuple[str, ...]]:
    lines = path.read_text().splitlines() if path.exists() else []
    return Counter(tuple(json.loads(line)) for line in lines)


def questions_of(message: str) -> list[tuple[str, str]]:
    """(field, sub-query) in the order in which they are asked."""
    return [(field, f"{message} {part}") for part in PARTS for field in FIELDS]


class Watch:
    """That no finished work is done again."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._kept: Counter[tuple[str, ...]] = Counter()

    def look(self, found: list[dict[str, Any]]) -> None:
        """After a restart: what the state has kept as finished has its number of runs for good."""
        runs = log_of(self._log)
        asked = {each["content"] for each in found if each["kind"] == "QUESTION"}
        for message in (each["content"] for each in found if each["kind"] == "MESSAGE"):
            all_questions = questions_of(message)
            put = [(field, query) for field, query in all_questions if f"{query} {field}?" in asked]
            assert put == all_questions[: len(put)], "a question was answered that is not in the history"
            for field, query in put[:-1]:
                entry = ("resume", field, query)
                assert runs[entry] >= 1
                self._kept.setdefault(entry, runs[entry])

    def check(self) -> None:
        """At the end."""
        runs = log_of(self._log)
        assert {entry: runs[entry] for entry in self._kept} == dict(self._kept)
        again = {entry: count for entry, count in runs.items() if entry[0] == "run" and count > 1}
        assert again == {}
        assert len([entry for entry in runs if entry[0] == "resume"]) > 10


async def chosen_moment(choices: random.Random, log: Path) -> None:
    """Some time after the beginning, or just after a tool went on with an answer: then most is being written."""
    if choices.random() < 0.4:
        await asyncio.sleep(choices.uniform(0.02, 1.0))
        return
    wanted = resumptions(log) + choices.randrange(1, 6)
    async with asyncio.timeout(PATIENCE):
        while resumptions(log) < wanted:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    await asyncio.sleep(choices.uniform(0.0, 0.03))


def resumptions(log: Path) -> int:
    return log.read_bytes().count(b'["resume"') if log.exists() else 0


async def life(
    client: httpx.AsyncClient, users: list[User], pid: int, moment: Awaitable[None], how: signal.Signals
) -> None:
    """All write until the server is killed under them."""
    writing = [asyncio.create_task(user.write(client)) for user in users]
    await moment
    early = [task for task in writing if task.done()]
    await end(pid, how)
    ends = await asyncio.gather(*writing, return_exceptions=True)
    assert not early, early
    foreign = [each for each in ends if not isinstance(each, httpx.TransportError)]
    assert not foreign or how is signal.SIGTERM, foreign


async def start_tasks(client: httpx.AsyncClient, number: int) -> list[str]:
    """Addresses of two tasks."""
    started = []
    for name in ("counting", "repeatable"):
        response = await client.post(
            f"/api/tasks/{name}",
            json={"steps": 20, "seconds": 0.01},
            headers={"Idempotency-Key": f"{name}{number}"},
        )
        assert response.status_code == 202, response.text
        started.append(response.headers["Location"])
    return started


async def check_all(client: httpx.AsyncClient, users: list[User], watch: Watch) -> None:
    for user in users:
        found = await user.history(client)
        user.check(found)
        watch.look(found)


async def finish(client: httpx.AsyncClient, users: list[User], tasks: list[str]) -> None:
    """Answer all that waits; every turn and task comes to its end."""
    for user in users:
        while (question := await user.pending(client)) is not None:
            await user.reply(client, question)
        await user.say(client)
        while (question := await user.pending(client)) is not None:
            await user.reply(client, question)
        assert (await user.history(client))[-1]["status"] == "DONE"
    await asyncio.gather(*(task_ended(client, address) for address in tasks))


async def task_ended(client: httpx.AsyncClient, address: str) -> None:
    deadline = time.monotonic() + PATIENCE
    status = "QUEUED"
    while status in ("QUEUED", "RUNNING"):
        assert time.monotonic() < deadline, address
        await asyncio.sleep(0.05)
        status = (await client.get(address)).json()["status"]
    assert status in ("SUCCEEDED", "INTERRUPTED"), status


@pytest.mark.parametrize(("state_url", "kills"), [("sqlite", 40), ("postgresql", 10)], indirect=["state_url"])
async def test_nothing_is_lost_doubled_or_done_again_over_kills(
    state_url: str, tmp_path: Path, kills: int
) -> None:
    choices = random.Random(f"{kills}")
    users, log = [User(name, choices) for name in CHATS], tmp_path / "log"
    watch, tasks = Watch(log), []
    async with Servers(state_url, log) as servers:
        for number in range(kills + kills // 5):
            how = signal.SIGTERM if number % 6 == 5 else signal.SIGKILL
            async with (
                servers.one() as (pid, url),
                httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client,
            ):
                await check_all(client, users, watch)
                tasks += await start_tasks(client, number)
                await life(client, users, pid, chosen_moment(choices, log), how)
        async with servers.one() as (_, url), httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            await check_all(client, users, watch)
            await finish(client, users, tasks)
            await check_all(client, users, watch)
    watch.check()
    assert sum(len(user.replies) for user in users) > kills
