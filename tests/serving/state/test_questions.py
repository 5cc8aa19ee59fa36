"""Questions to the user: one answer gets one, and no process's death loses one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from serving.errors import ApiError
from serving.state.records import Answer, ResumedTurn, TurnStatus
from serving.state.state import State

OpenState = Callable[[], Awaitable[State]]
MESSAGE = {"message": "Milyen rendelés van?", "domain": "hospital"}
LATER = time.time() + 3600


def question(name: str) -> dict[str, Any]:
    return {"questionId": name, "text": f"{name}?", "options": ["igen", "nem"], "allowFreeText": True}


def progress(*names: str) -> dict[str, Any]:
    return {"questions": [{"question": question(name)} for name in names], "work": "kept"}


async def ask(state: State, *names: str, expires_at: float = LATER) -> str:
    begun = await state.chats.begin("anna", MESSAGE, "c")
    await state.questions.ask(begun.turn_id, progress(*names), question(names[0]), expires_at)
    return begun.turn_id


async def claim(state: State, answer: str = "igen") -> ResumedTurn:
    resumed = await state.questions.claim("anna", "c", answer)
    assert resumed is not None
    return resumed


async def pending(state: State) -> str:
    waiting = await state.questions.pending("anna", "c")
    assert waiting is not None
    return waiting.question.question_id


async def refused(call: Awaitable[Any]) -> str:
    with pytest.raises(ApiError) as raised:
        await call
    return raised.value.code


async def told(state: State) -> list[tuple[str, str, str]]:
    found = (await state.history.opened("anna", "c", 100)).messages
    assert [each["sequence"] for each in found] == list(range(len(found)))
    return [(each["kind"], each["status"], each["content"]) for each in found]


ASKED = [("MESSAGE", "DONE", MESSAGE["message"]), ("QUESTION", "DONE", "age?")]


async def test_of_two_claims_one_wins(open_state: OpenState) -> None:
    states = [await open_state() for _ in range(2)]
    for _ in range(5):
        turn_id = await ask(states[0], "age")
        claims = [each.questions.claim("anna", "c", "igen") for each in states * 2]
        results = await asyncio.gather(*claims, return_exceptions=True)
        (won,) = (each for each in results if isinstance(each, ResumedTurn))
        assert (won.turn_id, won.request, won.progress) == (turn_id, MESSAGE, progress("age"))
        lost = [each.code for each in results if isinstance(each, ApiError)]
        assert lost == ["QUESTION_ALREADY_ANSWERED"] * 3
        await states[results.index(won) % 2].chats.finish(turn_id, Answer("kész"))


async def test_what_cannot_be_answered_is_refused(state: State) -> None:
    assert await refused(state.questions.claim("anna", "c", "x")) == "UNKNOWN_CHAT"
    turn_id = await ask(state, "age", expires_at=time.time() - 1)
    for call in (state.questions.pending("anna", "c"), state.questions.claim("anna", "c", "x")):
        assert await refused(call) == "QUESTION_EXPIRED"
    await state.chats.finish(turn_id, Answer("kész"))
    assert await refused(state.questions.claim("anna", "c", "x")) == "NO_PENDING_QUESTION"
    await state.chats.begin("anna", MESSAGE, "c")
    assert await state.questions.claim("anna", "c", "x") is None


async def test_a_new_message_drops_the_question(state: State) -> None:
    await ask(state, "age")
    begun = await state.chats.begin("anna", MESSAGE, "c")
    assert begun.dropped_question == question("age")
    await state.chats.finish(begun.turn_id, Answer("kész"))
    assert await refused(state.questions.pending("anna", "c")) == "NO_PENDING_QUESTION"


async def test_questions_of_messages_at_the_same_time_wait_in_their_order(state: State) -> None:
    turns = [(await state.chats.begin("anna", MESSAGE, "c")).turn_id for _ in range(3)]
    for at, turn_id in reversed(list(enumerate(turns))):
        await state.questions.ask(turn_id, progress(f"q{at}"), question(f"q{at}"), LATER)
    for at, turn_id in enumerate(turns):
        assert await pending(state) == f"q{at}"
        assert (await claim(state)).turn_id == turn_id
        await state.chats.finish(turn_id, Answer("kész"))


async def died(state: State, survivor: State) -> None:
    """What the next one does when a process is gone."""
    await survivor.chats.settle_dead([state.servers.server_id])


async def test_an_answer_that_a_death_undid_is_given_again_in_its_own_place(open_state: OpenState) -> None:
    first, second = [await open_state() for _ in range(2)]
    turn_id = await ask(first, "age", "place")
    await claim(first, "nem")
    assert await refused(second.questions.claim("anna", "c", "x")) == "QUESTION_ALREADY_ANSWERED"
    await died(first, second)
    assert await told(second) == [*ASKED, ("REPLY", "DONE", "nem"), ("ANSWER", "INTERRUPTED", "")]
    assert await pending(second) == "age"
    resumed = await claim(second, "igen")
    assert resumed.progress == progress("age", "place")
    await second.chats.finish(turn_id, Answer("kész"))
    assert await told(second) == [*ASKED, ("REPLY", "DONE", "igen"), ("ANSWER", "DONE", "kész")]


async def test_an_undone_answer_still_expires(open_state: OpenState) -> None:
    first, second = [await open_state() for _ in range(2)]
    await ask(first, "age", expires_at=time.time() + 1)
    await claim(first)
    await died(first, second)
    await asyncio.sleep(1.1)
    assert await refused(second.questions.claim("anna", "c", "x")) == "QUESTION_EXPIRED"


async def test_a_death_after_the_answer_was_used_leaves_the_next_question_pending(
    open_state: OpenState,
) -> None:
    first, second = [await open_state() for _ in range(2)]
    turn_id = await ask(first, "age", "place")
    await claim(first, "igen")
    await first.chats.checkpoint(turn_id, progress("place"))
    await died(first, second)
    next_in_line = [*ASKED, ("REPLY", "DONE", "igen"), ("QUESTION", "DONE", "place?")]
    assert await told(second) == next_in_line
    resumed = await claim(second, "nem")
    assert resumed.progress == progress("place")
    await died(second, first)
    assert await told(first) == [*next_in_line, ("REPLY", "DONE", "nem"), ("ANSWER", "INTERRUPTED", "")]
    await claim(first, "talán")
    await first.chats.finish(turn_id, Answer("kész"))
    assert await told(first) == [*next_in_line, ("REPLY", "DONE", "talán"), ("ANSWER", "DONE", "kész")]


async def test_a_death_without_an_open_question_is_a_stated_end(open_state: OpenState) -> None:
    first, second = [await open_state() for _ in range(2)]
    turn_id = await ask(first, "age")
    await claim(first)
    await first.chats.checkpoint(turn_id, progress())
    await first.chats.begin("anna", MESSAGE, "c")
    await died(first, second)
    interrupted = ("ANSWER", "INTERRUPTED", "")
    assert await told(second) == [*ASKED, ("REPLY", "DONE", "igen"), interrupted, ASKED[0], interrupted]
    assert await refused(second.questions.claim("anna", "c", "x")) == "NO_PENDING_QUESTION"


async def test_a_process_that_was_held_for_dead_changes_nothing_of_what_another_took_over(
    open_state: OpenState,
) -> None:
    first, second = [await open_state() for _ in range(2)]
    turn_id = await ask(first, "age")
    await claim(first, "nem")
    await died(first, second)
    await claim(second, "igen")
    await first.chats.checkpoint(turn_id, progress())
    await first.chats.finish(turn_id, Answer("too late"))
    await first.questions.ask(turn_id, progress("late"), question("late"), LATER)
    await first.chats.give_back(turn_id, Answer("too late"))
    await died(first, first)
    assert await told(second) == [*ASKED, ("REPLY", "DONE", "igen"), ("ANSWER", "RUNNING", "")]
    await second.chats.finish(turn_id, Answer("kész"))
    assert (await told(second))[-1] == ("ANSWER", "DONE", "kész")


async def test_two_that_settle_at_once_and_an_answer_do_it_once(open_state: OpenState) -> None:
    dead, *living = [await open_state() for _ in range(3)]
    for _ in range(10):
        turn_id = await ask(dead, "age")
        await claim(dead, "nem")

        async def settle_and_claim(state: State) -> ResumedTurn | None:
            await died(dead, state)
            with suppress(ApiError):
                return await claim(state)
            return None

        results = await asyncio.gather(*(settle_and_claim(each) for each in living))
        (won,) = (at for at, result in enumerate(results) if result is not None)
        await living[won].chats.finish(turn_id, Answer("kész"))
        assert (await told(living[0]))[-1] == ("ANSWER", "DONE", "kész")


@pytest.mark.parametrize("open_questions", [True, False])
async def test_a_server_that_stops_gives_its_questions_back(state: State, open_questions: bool) -> None:
    turn_id = await ask(state, "age")
    await claim(state, "nem")
    if not open_questions:
        await state.chats.checkpoint(turn_id, progress())
    await state.chats.give_back(turn_id, Answer("eddig", TurnStatus.INTERRUPTED))
    reply = ("REPLY", "DONE", "nem")
    if open_questions:
        assert await told(state) == [*ASKED, reply, ("ANSWER", "INTERRUPTED", "")]
        assert await pending(state) == "age"
    else:
        assert await told(state) == [*ASKED, reply, ("ANSWER", "INTERRUPTED", "eddig")]
        assert await refused(state.questions.claim("anna", "c", "x")) == "NO_PENDING_QUESTION"
