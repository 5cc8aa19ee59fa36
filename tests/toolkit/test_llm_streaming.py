from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from contextlib import aclosing

import pytest

from toolkit.errors import LlmError, LlmOutputError, LlmUnavailableError
from toolkit.llm.client import OpenAiAssistant
from toolkit.llm.surrogates import SurrogateJoiner
from toolkit.testing.model_server import END, Behaviour, ModelServer, event, fails, replies, says, streams

Connect = Callable[..., OpenAiAssistant]

TEXT = "Árvíztűrő tükörfúrógép: 🏰 Dobó „István”, ő\u0301"


async def collected(assistant: OpenAiAssistant, pieces: list[str] | None = None) -> list[str]:
    pieces = [] if pieces is None else pieces
    async for piece in assistant.stream_text("q", "s"):
        pieces.append(piece)
    return pieces


async def test_r8_1_pieces_come_as_they_are_sent(server: ModelServer, connect: Connect) -> None:
    server.script = [streams([event("Dobó"), event(""), event(" István"), event(None), END])]
    assert await collected(connect()) == ["Dobó", " István"]
    assert server.bodies[0]["stream"] is True


async def test_characters_stay_whole_at_one_byte_a_chunk(server: ModelServer, connect: Connect) -> None:
    data = event(TEXT) + END
    server.script = [streams(data[at : at + 1] for at in range(len(data)))]
    assert "".join(await collected(connect())) == TEXT


async def test_a_character_in_two_escapes_of_two_events_is_joined(
    server: ModelServer, connect: Connect
) -> None:
    escaped = b'data: {"choices": [{"index": 0, "delta": {"content": "%s"}}]}\n\n'
    server.script = [streams([escaped % b"v\\ud83c", escaped % b"\\udff0r", escaped % b"\\ud83c", END])]
    pieces = await collected(connect())
    assert pieces == ["v", "🏰r", "\ufffd"]


def test_halves_of_characters() -> None:
    joiner = SurrogateJoiner()
    assert [joiner.feed(piece) for piece in ("a\ud83c", "\udff0", "\udff0", "b\ud83c", "c", "")] == [
        "a",
        "🏰",
        "\ufffd",
        "b",
        "\ufffdc",
        "",
    ]
    assert joiner.rest() == ""


@pytest.mark.parametrize(
    "behaviour", [fails(503), fails(429), replies(b"data: {broken\n\n", "text/event-stream"), streams([END])]
)
async def test_r8_4_what_fails_before_the_first_piece_is_tried_again(
    behaviour: Behaviour, server: ModelServer, connect: Connect
) -> None:
    server.script = [behaviour, streams([event("jó"), END])]
    assert await collected(connect()) == ["jó"]


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        (streams([event("Dobó")], then="break"), LlmUnavailableError),
        (streams([event("Dobó"), b'data: {"error": {"message": "elfogyott"}}\n\n']), LlmUnavailableError),
        (streams([event("Dobó"), b"data: {broken\n\n"]), LlmUnavailableError),
        (streams([event("Dobó"), b"data: \xff\xfe\n\n"]), LlmUnavailableError),
        (streams([event("Dobó")]), LlmOutputError),
    ],
)
async def test_r8_4_what_fails_later_is_a_typed_error_after_the_pieces(
    behaviour: Behaviour, kind: type[LlmError], server: ModelServer, connect: Connect
) -> None:
    server.script = [behaviour]
    pieces: list[str] = []
    with pytest.raises(kind):
        await collected(connect(), pieces)
    assert pieces == ["Dobó"]
    assert len(server.bodies) == 1


async def test_r8_4_closing_the_iterator_closes_the_connection_and_frees_the_slot(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [streams([event("Dobó")], then="hang"), says("jó")]
    assistant = connect(max_concurrency=1)
    async with aclosing(assistant.stream_text("q", "s")) as pieces:
        assert await anext(pieces) == "Dobó"
    assert await asyncio.to_thread(server.disconnected.wait, 2)
    assert await assistant.generate_text("q", "s") == "jó"


async def test_r8_4_an_iterator_that_is_just_left_is_closed_too(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [streams([event("Dobó")], then="hang"), says("jó")]
    assistant = connect(max_concurrency=1)
    async for _ in assistant.stream_text("q", "s"):
        break
    gc.collect()
    assert await asyncio.to_thread(server.disconnected.wait, 2)
    assert await assistant.generate_text("q", "s") == "jó"


async def test_r8_4_cancelling_the_reader_closes_the_connection(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [streams([event("Dobó")], then="hang"), says("jó")]
    assistant = connect(max_concurrency=1)
    task = asyncio.create_task(collected(assistant))
    assert await asyncio.to_thread(server.requested.wait, 2)
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(server.disconnected.wait, 2)
    assert await assistant.generate_text("q", "s") == "jó"


async def test_many_abandoned_streams_do_not_use_up_the_connections(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [streams([event("Dobó")], then="hang")]
    assistant = connect(max_concurrency=2)
    for _ in range(15):
        async with aclosing(assistant.stream_text("q", "s")) as pieces:
            await anext(pieces)
    server.script = [says("jó")]
    assert await assistant.generate_text("q", "s") == "jó"
