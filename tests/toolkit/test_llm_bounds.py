"""Bounds of a call: in time, however the server spends it, and in calls at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from toolkit.errors import LlmTimeoutError
from toolkit.llm.client import OpenAiAssistant
from toolkit.testing.model_server import (
    END,
    Behaviour,
    Exchange,
    ModelServer,
    event,
    fails,
    hangs,
    says,
    streams,
)

Connect = Callable[..., OpenAiAssistant]


def slowly(behaviour: Behaviour, seconds: float) -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        await asyncio.sleep(seconds)
        await behaviour(exchange)

    return behave


async def collected(assistant: OpenAiAssistant, pieces: list[str] | None = None) -> list[str]:
    pieces = [] if pieces is None else pieces
    async for piece in assistant.stream_text("q", "s"):
        pieces.append(piece)
    return pieces


async def test_r8_4_a_slow_server_is_waited_for(server: ModelServer, connect: Connect) -> None:
    server.script = [slowly(says("jó"), 0.3), streams([event("j"), event("ó"), END], delay=0.2)]
    assistant = connect(silence_seconds=1.0)
    assert await assistant.generate_text("q", "s") == "jó"
    assert await collected(assistant) == ["j", "ó"]
    assert len(server.bodies) == 2


async def test_r8_4_silence_in_the_middle_of_a_stream(server: ModelServer, connect: Connect) -> None:
    server.script = [streams([event("Dobó")], then="hang"), says("jó")]
    assistant = connect(silence_seconds=0.2, max_concurrency=1)
    pieces: list[str] = []
    with pytest.raises(LlmTimeoutError, match=r"within 0\.2 s"):
        await collected(assistant, pieces)
    assert pieces == ["Dobó"]
    assert await asyncio.to_thread(server.disconnected.wait, 2)
    assert await assistant.generate_text("q", "s") == "jó"


async def test_r8_4_a_stream_that_never_ends(server: ModelServer, connect: Connect) -> None:
    server.script = [streams([event("la ")] * 200, delay=0.02)]
    pieces: list[str] = []
    with pytest.raises(LlmTimeoutError, match=r"within 0\.3 s"):
        await collected(connect(total_seconds=0.3), pieces)
    assert 0 < len(pieces) < 100


async def test_r8_4_a_body_that_drips(server: ModelServer, connect: Connect) -> None:
    async def drips(exchange: Exchange) -> None:
        await exchange.begin(200, "application/json")
        for _ in range(200):
            await exchange.write(b" ")
            await asyncio.sleep(0.02)

    server.script = [drips]
    started = time.perf_counter()
    with pytest.raises(LlmTimeoutError, match=r"within 0\.3 s"):
        await connect(total_seconds=0.3, silence_seconds=5.0).generate_text("q", "s")
    assert time.perf_counter() - started < 2


async def test_r8_4_without_retry_after_the_waits_grow(server: ModelServer, connect: Connect) -> None:
    times: list[float] = []

    def noted(behaviour: Behaviour) -> Behaviour:
        async def behave(exchange: Exchange) -> None:
            times.append(time.perf_counter())
            await behaviour(exchange)

        return behave

    server.script = [noted(fails(503)), noted(fails(429)), noted(says("jó"))]
    assert await connect(first_delay_seconds=0.1).generate_text("q", "s") == "jó"
    first, second, third = times
    assert second - first >= 0.075
    assert third - second >= 0.15


async def test_r8_4_texts_streams_and_objects_share_the_slots(server: ModelServer, connect: Connect) -> None:
    async def either(exchange: Exchange) -> None:
        answer = streams([event("1"), END]) if exchange.body["stream"] else says('{"a": 1}')
        await slowly(answer, 0.05)(exchange)

    server.script = [either]
    assistant = connect(max_concurrency=2)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    calls: list[Any] = []
    for _ in range(3):
        calls += [assistant.generate_text("q", "s"), collected(assistant)]
        calls.append(assistant.generate_json("q", "s", schema))
    answers = await asyncio.gather(*calls)
    assert answers == ['{"a": 1}', ["1"], {"a": 1}] * 3
    assert server.most_active == 2


async def test_r8_4_waiting_for_a_slot_counts_in_the_time_limit(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [streams([event("Dobó")], then="hang")]
    assistant = connect(max_concurrency=1, total_seconds=0.3)
    async with aclosing(assistant.stream_text("q", "s")) as pieces:
        await anext(pieces)
        for call in (assistant.generate_text("q", "s"), collected(assistant)):
            with pytest.raises(LlmTimeoutError):
                await call
    assert len(server.bodies) == 1


@pytest.mark.parametrize("failing", [fails(503), hangs], ids=["in a wait before a retry", "in a try"])
async def test_r8_4_cancelling_at_any_moment_frees_the_slot(
    failing: Behaviour, server: ModelServer, connect: Connect
) -> None:
    server.script = [failing, says("jó")]
    assistant = connect(max_concurrency=1, first_delay_seconds=5.0)
    for call in (assistant.generate_text("q", "s"), collected(assistant)):
        server.bodies.clear()
        server.requested.clear()
        task = asyncio.ensure_future(call)
        assert await asyncio.to_thread(server.requested.wait, 2)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await assistant.generate_text("q", "s") == "jó"


async def test_r8_4_cancelling_while_waiting_for_a_slot_takes_none(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [streams([event("Dobó")], then="hang"), says("jó")]
    assistant = connect(max_concurrency=1)
    async with aclosing(assistant.stream_text("q", "s")) as pieces:
        await anext(pieces)
        waiting = [asyncio.ensure_future(assistant.generate_text("q", "s")) for _ in range(3)]
        await asyncio.sleep(0.05)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert all(task.cancelled() for task in waiting)
    assert await assistant.generate_text("q", "s") == "jó"
    assert len(server.bodies) == 2
