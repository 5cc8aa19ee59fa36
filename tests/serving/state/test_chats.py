"""Chats and their messages, on both databases and with several API processes at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import func, select

from serving.errors import ApiError
from serving.state.records import Answer, TurnStatus
from serving.state.state import State
from serving.state.tables import metadata

OpenState = Callable[[], Awaitable[State]]


def message(text: str, domain: str = "hospital") -> dict[str, Any]:
    return {"message": text, "domain": domain}


async def code_of(call: Awaitable[Any]) -> tuple[int, str]:
    with pytest.raises(ApiError) as raised:
        await call
    return raised.value.status, raised.value.code


async def rows_of(state: State) -> dict[str, int]:
    async with state.database.reading() as connection:
        return {
            table.name: (await connection.execute(select(func.count()).select_from(table))).scalar_one()
            for table in metadata.sorted_tables
            if table.name != "servers"
        }


async def test_messages_of_two_processes_keep_their_pairs_and_places(open_state: OpenState) -> None:
    states = [await open_state() for _ in range(2)]

    async def turn(number: int) -> None:
        chats = states[number % 2].chats
        begun = await chats.begin("anna", message(f"kérdés {number}"), "c")
        await chats.finish(begun.turn_id, Answer(f"válasz {number}", generation=number))

    await asyncio.gather(*(turn(number) for number in range(24)))
    found = (await states[0].history.opened("anna", "c", 100)).messages
    assert [each["sequence"] for each in found] == list(range(48))
    pairs = [(found[at]["content"], found[at + 1]["content"]) for at in range(0, 48, 2)]
    assert sorted(pairs) == sorted((f"kérdés {number}", f"válasz {number}") for number in range(24))
    assert {each["status"] for each in found} == {TurnStatus.DONE}


async def test_a_chat_that_two_users_make_at_once_is_one_users(open_state: OpenState) -> None:
    states = [await open_state() for _ in range(2)]
    for name in ("a", "b", "c", "d"):
        begun = await asyncio.gather(
            states[0].chats.begin("anna", message("x"), name),
            states[1].chats.begin("bela", message("y"), name),
            return_exceptions=True,
        )
        (refused,) = (each for each in begun if isinstance(each, BaseException))
        assert isinstance(refused, ApiError)
        assert refused.code == "UNKNOWN_CHAT"
    assert (await rows_of(states[0]))["messages"] == 8


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("a\x00b", "ab"),
        ("fél \ud83d jel", "fél ? jel"),
        ("ő 😀 \u202e\r\n\t‌", "ő 😀 \u202e\r\n\t‌"),
        ("x" * 100_000, "x" * 100_000),
    ],
)
async def test_texts_that_no_database_takes_are_kept_without_what_it_refuses(
    state: State, sent: str, kept: str
) -> None:
    begun = await state.chats.begin("anna", message(sent) | {"toolParameters": {"x": sent}}, "c")
    answer = Answer(
        sent, content_type=sent, sources=[{"text": sent}], trace={"notes": [sent], "number": 1e300}
    )
    await state.chats.finish(begun.turn_id, answer)
    question, told = (await state.history.opened("anna", "c", 10)).messages
    assert (question["content"], told["content"]) == (kept, kept)
    assert (told["content_type"], told["sources"], told["trace"]) == (
        kept[:100],
        answer.sources,
        answer.trace,
    )
    assert (await state.history.rename("anna", "c", sent[:200]))["title"] == kept[:200]


async def test_an_owner_sees_renames_and_deletes_his_own_alone(state: State) -> None:
    for owner in ("anna", "bela"):
        await state.chats.begin(owner, message("x"), f"{owner}s")
    history = state.history
    for call in (
        history.opened("bela", "annas", 10),
        history.rename("bela", "annas", "y"),
        history.delete("bela", "annas"),
        state.chats.begin("bela", message("x"), "annas"),
        state.questions.pending("bela", "annas"),
        state.questions.claim("bela", "annas", "x"),
    ):
        assert await code_of(call) == (404, "UNKNOWN_CHAT")
    await history.delete_all("bela")
    assert [each["chat_id"] for each in await history.chats("anna", 10)] == ["annas"]
    assert await history.chats("bela", 10) == []


async def test_pages_of_chats_hold_each_once_also_of_one_moment(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("serving.state.chats.time.time", lambda: 1_700_000_000.123456)
    names = [f"c{number}" for number in range(7)]
    for name in names:
        await state.chats.begin("anna", message("x"), name)
    seen: list[str] = []
    before: tuple[float, str] | None = None
    while page := await state.history.chats("anna", 3, before):
        seen += [each["chat_id"] for each in page]
        before = (page[-1]["updated_at"], page[-1]["chat_id"])
    assert seen == names[::-1]


async def test_deleting_takes_all_rows_also_of_a_turn_on_its_way(state: State) -> None:
    begun = await state.chats.begin("anna", message("x"), "c")
    await state.history.delete("anna", "c")
    await state.chats.finish(begun.turn_id, Answer("too late"))
    await state.questions.ask(begun.turn_id, {"questions": []}, {"text": "too late"}, 1e12)
    await state.chats.checkpoint(begun.turn_id, {"questions": []})
    assert set((await rows_of(state)).values()) == {0}


async def test_deleting_and_answering_at_once_wait_for_each_other_and_never_for_good(
    open_state: OpenState,
) -> None:
    states = [await open_state() for _ in range(2)]

    async def turns(chats: Any) -> None:
        for number in range(15):
            begun = await chats.begin("anna", message(f"{number}"), "c")
            await chats.checkpoint(begun.turn_id, {"questions": []})
            await chats.finish(begun.turn_id, Answer("kész"))

    async def deletions() -> None:
        for _ in range(30):
            await states[1].history.delete_all("anna")

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for work in (turns(states[0].chats), turns(states[1].chats), deletions()):
            group.create_task(work)
    await states[1].history.delete_all("anna")
    assert set((await rows_of(states[0])).values()) == {0}


WRITE = """
import asyncio, json, sys
from pathlib import Path
from serving.state.database import database_url
from serving.state.records import Answer
from serving.state.state import State

async def turns(state, name, number):
    begun = await state.chats.begin("anna", {"message": f"{name} {number}", "domain": "d"}, f"c{number % 3}")
    await state.chats.finish(begun.turn_id, Answer(f"{name} {number}"))

async def main():
    state = await State(database_url(sys.argv[1], Path())).opened()
    print("ready", flush=True)
    sys.stdin.readline()
    await asyncio.gather(*(turns(state, sys.argv[2], number) for number in range(50)))
    await state.close()

asyncio.run(main())
"""


async def writing_process(url: str, name: str) -> asyncio.subprocess.Process:
    """It begins with a line on its standard input."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-c", WRITE, url, name, **pipes
    )
    assert process.stdout is not None
    await process.stdout.readline()
    return process


async def test_writers_of_two_processes_wait_for_one_another(state_url: str, state: State) -> None:
    processes = await asyncio.gather(*(writing_process(state_url, name) for name in ("a", "b")))
    ends = await asyncio.gather(*(process.communicate(b"\n") for process in processes))
    assert [
        (process.returncode, error.decode()) for process, (_, error) in zip(processes, ends, strict=True)
    ] == [(0, "")] * 2
    seen: list[tuple[str, str]] = []
    for name in ("c0", "c1", "c2"):
        found = (await state.history.opened("anna", name, 1000)).messages
        assert [each["sequence"] for each in found] == list(range(len(found)))
        seen += [
            (asked["content"], told["content"]) for asked, told in zip(found[::2], found[1::2], strict=True)
        ]
    assert sorted(seen) == sorted((f"{name} {number}",) * 2 for name in "ab" for number in range(50))
