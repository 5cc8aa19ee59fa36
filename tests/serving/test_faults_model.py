"""A model's server that misbehaves: the user gets an answer all the same, and the trace tells what failed."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from model_decisions import fitting, wanted_schema
from pydantic import BaseModel

from toolkit.llm.client import OpenAiAssistant
from toolkit.llm.settings import LlmSettings
from toolkit.testing.model_server import (
    END,
    Behaviour,
    Exchange,
    ModelServer,
    event,
    fails,
    replies,
    running_model_server,
    says,
    streams,
)
from toolkit.tool import ChatbotTool, ToolCall

Ask = Callable[..., Any]
MakeApp = Callable[..., Any]
Connect = Callable[..., OpenAiAssistant]

QUESTION = "Hol parkolhatnak a betegek?"
ANSWER = streams([event("Északon"), event(" [1]."), END])
QUOTE = "„A betegek a kórház északi oldalán parkolhatnak.” [1]"
UNREACHABLE = "A nyelvi modell most nem adott használható választ, ezért a válasz idézetekből áll."
TIMEOUT = "LlmTimeoutError"


@pytest.fixture(scope="module")
def _server() -> Iterator[ModelServer]:
    with running_model_server() as server:
        yield server


@pytest.fixture
def server(_server: ModelServer) -> ModelServer:
    _server.reset()
    return _server


@pytest.fixture
async def connect(server: ModelServer) -> AsyncIterator[Connect]:
    """Makes assistants for that server, with settings fit for tests; closes them."""
    made: list[OpenAiAssistant] = []

    def make(**settings: Any) -> OpenAiAssistant:
        usual = {"base_url": server.url, "model": "m", "first_delay_seconds": 0.01, "max_retries": 1}
        made.append(OpenAiAssistant(LlmSettings(**(usual | settings))))
        return made[-1]

    yield make
    for each in made:
        await each.aclose()


def model(decides: Callable[[str], Behaviour] = says, answers: Behaviour = ANSWER) -> Behaviour:
    """One behaviour for the decisions, given the right JSON, and one for the answer."""

    async def behave(exchange: Exchange) -> None:
        if exchange.body["stream"]:
            await answers(exchange)
        else:
            schema = wanted_schema(exchange)
            assert schema is not None
            await decides(fitting(schema))(exchange)

    return behave


async def slow(exchange: Exchange) -> None:
    await asyncio.sleep(5.0)


def answer_and_notes(events: list[dict[str, Any]]) -> tuple[str, list[str]]:
    """The text and the trace's notes; the stream's end and the sources are what they should be."""
    assert [each["progressStatus"] for each in events[-3:]] == ["SOURCES", "TRACE", "DONE"]
    assert [source["number"] for source in events[-3]["sources"]] == [1]
    text = "".join(each["content"] for each in events if each["progressStatus"] == "LLM_GENERATION")
    return text, events[-2]["trace"]["notes"]


@pytest.mark.parametrize(
    "decides",
    [
        says,
        lambda right: says(f"Íme, a döntésem:\n```json\n{right}\n```\nRemélem, {{segít}}."),
        lambda right: says(f'<think>Legyen {{}}?</think>{right[:-1]}, "sosemvolt": true}}'),
    ],
    ids=["plainly", "in prose", "with thoughts and a tool that is not there"],
)
async def test_r8_2_decisions_are_found_wherever_they_stand(
    decides: Callable[[str], Behaviour], server: ModelServer, connect: Connect, make_app: MakeApp, chat: Ask
) -> None:
    server.script = [model(decides)]
    text, notes = answer_and_notes(await chat(make_app(llm=connect()), QUESTION, trace=True))
    assert (text, notes) == ("Északon [1].", [])


@pytest.mark.parametrize(
    ("behaviour", "fault"),
    [
        (fails(503), "LlmUnavailableError"),
        (fails(429), "LlmRateLimitError"),
        (fails(401), "LlmRejectedError"),
        (replies(b"<html>proxy</html>", "text/html"), "LlmOutputError"),
        (says("Nem tudom."), "LlmOutputError"),
        (says('{"language": "h', "length"), "LlmTruncatedError"),
        (slow, "LlmTimeoutError"),
    ],
)
async def test_r8_4_without_the_models_decisions_text_matching_decides(
    behaviour: Behaviour, fault: str, server: ModelServer, connect: Connect, make_app: MakeApp, chat: Ask
) -> None:
    server.script = [model(lambda right: behaviour)]
    llm = connect(total_seconds=1.0)
    text, notes = answer_and_notes(await chat(make_app(llm=llm), QUESTION, trace=True))
    assert text == "Északon [1]."
    assert any(f"text matching decided: {fault}" in note for note in notes), notes


@pytest.mark.parametrize(
    ("behaviour", "said", "fault"),
    [
        (fails(503), "", "LlmUnavailableError"),
        (slow, "", TIMEOUT),
        (replies(b"data: {broken\n\n", "text/event-stream"), "", "LlmUnavailableError"),
        (replies(bytes(range(256)), "text/event-stream"), "", "LlmUnavailableError"),
        (streams([event(None, "length")]), "", "LlmTruncatedError"),
        (streams([event("Északon [1]"), b"data: \x00\xff{{{\n\n"]), "Északon [1]", "LlmUnavailableError"),
        (streams([event("Északon [1]")], then="break"), "Északon [1]", "LlmUnavailableError"),
        (streams([event("Északon [1]")], then="hang"), "Északon [1]", TIMEOUT),
        (streams([event("Északon [1]")]), "Északon [1]", "LlmOutputError"),
    ],
)
async def test_r8_4_without_the_models_answer_quotes_stand_behind_what_it_said(
    behaviour: Behaviour,
    said: str,
    fault: str,
    server: ModelServer,
    connect: Connect,
    make_app: MakeApp,
    chat: Ask,
) -> None:
    server.script = [model(answers=behaviour)]
    llm = connect(total_seconds=1.0)
    text, notes = answer_and_notes(await chat(make_app(llm=llm), QUESTION, trace=True))
    broke_off = f"{said}\n\n(A nyelvi modell válasza itt megszakadt.)\n\n" if said else ""
    assert text.startswith(f"{broke_off}{UNREACHABLE}\n\n")
    assert QUOTE in text
    assert any(f"so the answer quotes: {fault}" in note for note in notes), notes


async def test_r8_2_an_answer_that_is_cut_off_is_kept_and_says_so(
    server: ModelServer, connect: Connect, make_app: MakeApp, chat: Ask
) -> None:
    thoughts = event("<think>Hol is?</think>")
    server.script = [model(answers=streams([thoughts, event("Északon [1]"), event(None, "length")]))]
    text, notes = answer_and_notes(await chat(make_app(llm=connect()), QUESTION, trace=True))
    assert text == "Északon [1]\n\n(A nyelvi modell válasza elérte a hosszkorlátot, ezért itt véget ér.)"
    assert notes == [
        "the model's answer was cut off after 11 characters, at the limit of tokens; raise max_tokens"
    ]


async def test_r8_4_a_server_that_is_not_there(make_app: MakeApp, chat: Ask, connect: Connect) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    llm = connect(base_url=f"http://127.0.0.1:{port}/v1")
    text, notes = answer_and_notes(await chat(make_app(llm=llm), QUESTION, trace=True))
    assert text.startswith(UNREACHABLE)
    assert QUOTE in text
    assert "cannot be reached" in notes[0]


class Day(BaseModel):
    day: str


class Opening(ChatbotTool[Day]):
    name = "opening"
    request_class = Day
    executable_instruction = "opening: parkolhatnak betegek"

    def init(self, services: Any) -> None:
        self._llm = services.llm

    async def execute_with_result(self, call: ToolCall) -> Any:
        return await self._llm.generate_tool_request(call.user_prompt, "%s", None, self)


async def test_r3_12_a_model_that_fails_within_a_tool_fails_the_tool_alone(
    server: ModelServer, connect: Connect, make_app: MakeApp, chat: Ask
) -> None:
    async def no_parameters(exchange: Exchange) -> None:
        named = exchange.body.get("response_format", {}).get("json_schema", {}).get("name")
        await (says("bocsánat") if named == "opening" else model())(exchange)

    server.script = [no_parameters]
    events = await chat(make_app(Opening, llm=connect()), QUESTION, trace=True)
    text, _ = answer_and_notes(events)
    assert text == "Északon [1]."
    (tool,) = (each for each in events[-2]["trace"]["tools"] if each["tool"] == "opening")
    assert tool["outcome"] == "FAILED"
    assert "LlmOutputError" in tool["reason"]
