"""What a model thinks before it answers reaches nobody."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toolkit.errors import LlmError, LlmOutputError, LlmTruncatedError
from toolkit.llm.client import OpenAiAssistant
from toolkit.llm.thoughts import ThoughtStripper, without_thoughts
from toolkit.testing.model_server import END, ModelServer, event, says, streams

Connect = Callable[..., OpenAiAssistant]

TEXTS = [
    ("<think>Ki is?</think>Dobó.", "Dobó."),
    ("\n <think>\nKi is?\n</think>\n\nDobó. \n", "Dobó. \n"),
    ("<think></think>\n<think>Ki?</think> Dobó.", "Dobó."),
    ("<think>a < b, </thin k> és <think></think>Dobó.", "Dobó."),
    ("Dobó <think>nem gondolat</think>.", "Dobó <think>nem gondolat</think>."),
    ("  <thin", "  <thin"),
    ("<thinking aloud> Dobó.", "<thinking aloud> Dobó."),
    (" <b>Dobó</b>", " <b>Dobó</b>"),
    ("<think>Ki is lehetett?", ""),
    ("<think>Ki?</think>\n", ""),
    ("<think>Ki?</think>\n<think>És", ""),
    (" \n", ""),
    ("", ""),
]


@pytest.mark.parametrize(("text", "answer"), TEXTS)
def test_thoughts_are_dropped_wherever_the_text_is_cut_in_two(text: str, answer: str) -> None:
    assert without_thoughts(text) == answer
    for at in range(len(text) + 1):
        stripper = ThoughtStripper()
        assert stripper.feed(text[:at]) + stripper.feed(text[at:]) + stripper.rest() == answer


@pytest.mark.parametrize(("text", "answer"), TEXTS)
def test_thoughts_are_dropped_letter_by_letter(text: str, answer: str) -> None:
    stripper = ThoughtStripper()
    assert "".join(map(stripper.feed, text)) + stripper.rest() == answer


def test_text_is_not_held_back_longer_than_needed() -> None:
    stripper = ThoughtStripper()
    assert [stripper.feed(piece) for piece in ("<think>x</th", "ink>", "\n", "D", "<think>")] == [
        "",
        "",
        "",
        "D",
        "<think>",
    ]


async def collected(assistant: OpenAiAssistant, pieces: list[str] | None = None) -> list[str]:
    pieces = [] if pieces is None else pieces
    async for piece in assistant.stream_text("q", "s"):
        pieces.append(piece)
    return pieces


async def test_r8_1_thoughts_stay_out_of_a_text(server: ModelServer, connect: Connect) -> None:
    server.script = [says("<think>Ki is?</think>\n\nDobó István.")]
    assert await connect().generate_text("q", "s") == "Dobó István."


async def test_r8_1_thoughts_stay_out_of_a_stream(server: ModelServer, connect: Connect) -> None:
    writes = [event("<thi"), event("nk>Ki"), event(" is?</"), event("think>\n"), event("Dobó"), event(".")]
    server.script = [streams([*writes, END])]
    assert await collected(connect()) == ["Dobó", "."]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_r8_1_reasoning_in_a_field_of_its_own_is_not_the_answer(
    field: str, server: ModelServer, connect: Connect
) -> None:
    thoughts = [event(None, **{field: "Ki"}), event("", **{field: " is?"})]
    server.script = [streams([*thoughts, event("Dobó."), END]), says("Dobó.", **{field: "Ki is?"})]
    assistant = connect()
    assert await collected(assistant) == ["Dobó."]
    assert await assistant.generate_text("q", "s") == "Dobó."


async def test_r8_2_thoughts_that_never_end_hold_no_answer(server: ModelServer, connect: Connect) -> None:
    server.script = [says('<think>Legyen {"ok": false}?'), says('<think>x</think>{"ok": true}')]
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    assert await connect().generate_json("q", "s", schema) == {"ok": True}


async def test_r8_4_thoughts_alone_are_tried_again_as_an_empty_answer(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [says("<think>Ki is?</think>"), says("Dobó.")]
    assistant = connect(max_retries=1)
    assert await assistant.generate_text("q", "s") == "Dobó."

    server.reset()
    server.script = [streams([event("<think>Ki is?"), END]), streams([event("Dobó."), END])]
    assert await collected(assistant) == ["Dobó."]


async def test_r8_2_a_text_that_is_cut_off_is_a_typed_error_that_has_it(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [says("<think>x</think>Dobó Ist", "length")]
    with pytest.raises(LlmTruncatedError, match=r"after 8 characters, .*; raise max_tokens") as caught:
        await connect().generate_text("q", "s")
    assert caught.value.output == "Dobó Ist"
    assert len(server.bodies) == 1


async def test_r8_2_a_stream_that_is_cut_off_says_so_behind_its_last_piece(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [streams([event("Dobó"), event(" Ist"), event(None, "length"), b"data: [DONE]\n\n"])]
    pieces: list[str] = []
    with pytest.raises(LlmTruncatedError, match="cut off after 8 characters") as caught:
        await collected(connect(), pieces)
    assert pieces == ["Dobó", " Ist"]
    assert caught.value.output == "Dobó Ist"


@pytest.mark.parametrize("delta", [event("<think>Ki is"), event(None, reasoning_content="Ki is")])
async def test_r8_2_a_model_that_thinks_to_the_limit_is_not_asked_again(
    delta: bytes, server: ModelServer, connect: Connect
) -> None:
    server.script = [
        streams([delta, event(None, "length"), b"data: [DONE]\n\n"]),
        says(None, "length", reasoning_content="Ki is"),
    ]
    assistant = connect()
    with pytest.raises(LlmTruncatedError, match="cut off before its first word") as caught:
        await collected(assistant)
    assert caught.value.output == ""
    with pytest.raises(LlmTruncatedError, match="cut off before its first word"):
        await assistant.generate_text("q", "s")
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (event(None, "content_filter"), "content filter broke the answer off"),
        (event(None, "stop", refusal="Erre nem felelek."), "refuses to answer: Erre nem felelek"),
    ],
)
async def test_r8_2_a_stream_that_is_broken_off_on_purpose_is_a_typed_error(
    end: bytes, message: str, server: ModelServer, connect: Connect
) -> None:
    server.script = [streams([event("Dobó"), end, b"data: [DONE]\n\n"])]
    pieces: list[str] = []
    with pytest.raises(LlmOutputError, match=message):
        await collected(connect(), pieces)
    assert pieces == ["Dobó"]


async def test_r8_4_a_blank_stream_is_tried_again_and_then_a_typed_error(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [streams([event(" "), event("\n"), END])]
    with pytest.raises(LlmError, match="an empty stream"):
        await collected(connect(max_retries=1))
    assert len(server.bodies) == 2
