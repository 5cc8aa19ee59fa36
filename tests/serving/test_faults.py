"""Tools that misbehave: the user gets an answer all the same, and the trace tells what failed."""

from __future__ import annotations

import asyncio
import math
import threading
import time
import tracemalloc
from collections.abc import Callable
from typing import Any, ClassVar

import httpx
import pytest
from pydantic import BaseModel

from retrieval.tools.rag import RAGRetrievalTool
from serving.app import WORKER_THREADS
from serving.events import LONGEST_QUEUE
from toolkit.documents import TextAnswer, UniqueTextDocument
from toolkit.emitter import ProgressEvent
from toolkit.kinds import OrchestratorActivatedTool
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ChatbotTool, ToolCall

Ask = Callable[..., Any]
MakeApp = Callable[..., Any]

QUESTION = "Hol parkolhatnak a betegek?"
SECONDS = 0.3
"""Time limit of a tool here."""


class Nothing(BaseModel):
    pass


class Faulty(OrchestratorActivatedTool[Nothing]):
    """Started by every question, before the retrieval."""

    name = "faulty"
    eligible_system = ALL
    priority = 0
    request_class = Nothing
    executable_instruction = "faulty: always"

    def execute_with_result(self, call: ToolCall) -> Any:
        return None


class Routed(ChatbotTool[Nothing]):
    """Needed by questions about parking."""

    name = "routed"
    request_class = Nothing
    executable_instruction = "routed: parkolhatnak betegek"

    def execute_with_result(self, call: ToolCall) -> Any:
        return None


def text(events: list[dict[str, Any]]) -> str:
    return "".join(event["content"] for event in events if event["progressStatus"] == "LLM_GENERATION")


def traced(events: list[dict[str, Any]], tool: str = "faulty") -> tuple[str, str | None]:
    """Outcome and reason of a tool; the answer and the end of the stream are what they should be."""
    assert [event["progressStatus"] for event in events[-3:]] == ["SOURCES", "TRACE", "DONE"]
    assert "„A betegek a kórház északi oldalán parkolhatnak.” [" in text(events)
    (entry,) = (each for each in events[-2]["trace"]["tools"] if each["tool"] == tool)
    return entry["outcome"], entry["reason"]


def document(**fields: Any) -> UniqueTextDocument:
    usual = {"document_id": 7, "document_name": "d", "document_url": None, "page": 0, "sentence_number": 0}
    return UniqueTextDocument(**(usual | {"text": "északi", "sentence_score": 1.0} | fields))


def context(*documents: Any) -> ToolExecutionResult:
    return ToolExecutionResult.as_context("faulty", documents)


@pytest.mark.parametrize(
    ("execute", "reason"),
    [
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda: exit(1), "PluginError"),
        (lambda: 5, "returned int instead of a ToolExecutionResult or None"),
        (lambda: [document()], "returned list instead of"),
        (
            lambda: context("északi"),
            "TypeError: a result's documents are UniqueTextDocument, and északi is none",
        ),
        (lambda: context(None), "TypeError: a result's documents are UniqueTextDocument, and None is none"),
        (lambda: ToolExecutionResult.as_context("faulty", None), "TypeError"),  # type: ignore[arg-type]
        (lambda: ToolExecutionResult("MAYBE", "faulty"), "ValueError: 'MAYBE'"),  # type: ignore[arg-type]
        (lambda: context(document(document_id="7")), "TypeError: a document's document_id is 7 of type str"),
        (lambda: context(document(text=5)), "TypeError: a document's text is 5 of type int"),
        (lambda: context(document(page=None)), "TypeError: a document's page is None"),
        (
            lambda: context(document(sentence_score="1")),
            "TypeError: a document's sentence_score is 1 of type str",
        ),
        (lambda: ToolExecutionResult.as_answer("faulty", [document()], 5), "content type"),  # type: ignore[arg-type]
        (lambda: ToolExecutionResult.needs_clarification(None, "{}", "faulty"), "asks"),  # type: ignore[arg-type]
    ],
)
@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
async def test_r3_12_what_a_tool_gives_back_cannot_break_the_answer(
    execute: Callable[[], Any], reason: str, is_async: bool, make_app: MakeApp, chat: Ask
) -> None:
    class Plain(Faulty):
        def execute_with_result(self, call: ToolCall) -> Any:
            return execute()

    class Async(Faulty):
        async def execute_with_result(self, call: ToolCall) -> Any:
            return execute()

    events = await chat(make_app(Async if is_async else Plain), QUESTION, trace=True)
    outcome, told = traced(events)
    assert outcome == "FAILED"
    assert reason in str(told)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, -1.0, 0])
@pytest.mark.parametrize("given", ["északi oldal", None, "", "\ud800 fél\u2028karakter"])
async def test_r3_12_odd_texts_and_scores_do_no_harm(
    score: float, given: str | None, make_app: MakeApp, chat: Ask
) -> None:
    class Odd(Faulty):
        def execute_with_result(self, call: ToolCall) -> Any:
            odd = [document(text=given, sentence_score=score), TextAnswer.of(given)]
            return ToolExecutionResult.as_guaranteed_context("another_tool", [*odd, document(page=-1)])

    class Good(Faulty):
        name = "good"
        executable_instruction = "good: always"

        def execute_with_result(self, call: ToolCall) -> Any:
            parking = TextAnswer.of("A betegek a kórház északi oldalán parkolhatnak.")
            return ToolExecutionResult.as_context(self.name, [parking])

    events = await chat(make_app(Odd, Good), QUESTION, trace=True)
    assert [event["progressStatus"] for event in events[-3:]] == ["SOURCES", "TRACE", "DONE"]
    assert "A betegek a kórház északi oldalán parkolhatnak." in text(events)
    assert {tool["outcome"] for tool in events[-2]["trace"]["tools"]} == {"CONTEXT", "SKIPPED"}


class Stubborn(Faulty):
    """Takes no cancellation."""

    ended: ClassVar[threading.Event]

    async def execute_with_result(self, call: ToolCall) -> Any:
        for _ in range(30):
            try:
                await asyncio.sleep(0.1)
            except asyncio.CancelledError:
                continue
        self.ended.set()


class Asleep(Faulty):
    async def execute_with_result(self, call: ToolCall) -> Any:
        await asyncio.sleep(60)


class Blocked(Faulty):
    released: ClassVar[threading.Event]

    def execute_with_result(self, call: ToolCall) -> Any:
        self.released.wait(30)


@pytest.mark.parametrize("tool", [Asleep, Blocked, Stubborn])
async def test_r3_12_a_tool_that_hangs_is_left_at_the_time_limit(
    tool: type[Faulty], make_app: MakeApp, chat: Ask
) -> None:
    Blocked.released = Stubborn.ended = threading.Event()
    app = make_app(tool, limits={"tool_seconds": SECONDS})
    started = time.perf_counter()
    try:
        events = await chat(app, QUESTION, trace=True)
    finally:
        Blocked.released.set()
    assert SECONDS <= time.perf_counter() - started < SECONDS + 2
    assert traced(events) == ("TIMED_OUT", "no result within 0.3 s")


async def test_tools_that_never_end_do_not_use_up_the_threads(make_app: MakeApp, chat: Ask) -> None:
    Blocked.released = threading.Event()
    app = make_app(Blocked, limits={"tool_seconds": SECONDS})
    try:
        hanging = [chat(app, QUESTION, trace=True) for _ in range(WORKER_THREADS + 4)]
        for events in await asyncio.wait_for(asyncio.gather(*hanging), 20):
            assert traced(events)[0] == "TIMED_OUT"
        assert traced(await asyncio.wait_for(chat(app, QUESTION, trace=True), 5))[0] == "TIMED_OUT"
    finally:
        Blocked.released.set()


class NoRetrieval(RAGRetrievalTool):
    """In the place of the general retrieval, and broken."""

    domain = "hospital"
    name = "no_retrieval"
    executable_instruction = "no_retrieval: always"

    def execute_with_result(self, call: ToolCall) -> Any:
        raise OSError("the disk is gone")


async def test_r3_12_what_could_not_be_looked_up_is_not_told_as_not_found(
    make_app: MakeApp, chat: Ask
) -> None:
    for language, told in (
        ("hu", "Nem tudtam rendesen utánanézni"),
        ("en", "I could not look this up properly"),
    ):
        events = await chat(make_app(NoRetrieval), QUESTION, language=language)
        answer = "".join(e["content"] for e in events if e["progressStatus"] == "LLM_GENERATION")
        assert answer.startswith(told)


class Flooding(Faulty):
    """Sends 100,000 events as fast as it can."""

    event: ClassVar[ProgressEvent]

    def execute_with_result(self, call: ToolCall) -> Any:
        assert call.emitter is not None
        for _ in range(100_000):
            call.emitter.next(self.event)


class FloodingLoop(Flooding):
    async def execute_with_result(self, call: ToolCall) -> Any:
        super().execute_with_result(call)


@pytest.mark.parametrize("tool", [Flooding, FloodingLoop])
@pytest.mark.parametrize(
    "event", [ProgressEvent("STEP", "x" * 100), ProgressEvent("TOOL_PROGRESS:FAULTY:STEP", "x" * 100)]
)
async def test_a_flood_of_events_is_bounded(
    event: ProgressEvent, tool: type[Flooding], make_app: MakeApp, chat: Ask
) -> None:
    Flooding.event = event
    app = make_app(tool)
    await chat(app, QUESTION)
    tracemalloc.start()
    events = await chat(app, QUESTION, trace=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert traced(events) == ("NONE", None)
    flood = sum(each["progressStatus"] == event.progress_status for each in events)
    assert flood == LONGEST_QUEUE if tool is FloodingLoop else flood >= LONGEST_QUEUE
    assert peak < 2_000 * flood + 5_000_000, "beyond what this client itself keeps of each event"


async def test_a_flood_of_texts_is_joined_and_none_is_lost(make_app: MakeApp, chat: Ask) -> None:
    Flooding.event = ProgressEvent("LLM_GENERATION", "szó ")
    events = await chat(make_app(FloodingLoop), QUESTION)
    assert text(events).startswith("szó " * 100_000 + "A tudástár")
    assert sum(event["progressStatus"] == "LLM_GENERATION" for event in events) < 2_000


class Babbling(Faulty):
    def execute_with_result(self, call: ToolCall) -> Any:
        emitter: Any = call.emitter
        for nonsense in (None, "x", ProgressEvent("STEP", 5), ProgressEvent(None), ProgressEvent("DONE")):  # type: ignore[arg-type]
            emitter.next(nonsense)
        emitter.next(ProgressEvent("STEP", "\ud800"))
        raise RuntimeError("babbled")


async def test_events_that_are_none_are_left_out(make_app: MakeApp, chat: Ask) -> None:
    events = await chat(make_app(Babbling), QUESTION, trace=True)
    assert traced(events) == ("FAILED", "RuntimeError: babbled")
    assert [event["content"] for event in events if event["progressStatus"] == "STEP"] == ["?"]


class Gated(Routed):
    gate: ClassVar[Callable[[], Any]]

    def is_eligible(self, user_data: Any) -> Any:
        return type(self).gate()


@pytest.mark.parametrize(
    ("gate", "reason"),
    [(lambda: 1 / 0, "is_eligible failed: ZeroDivisionError"), (lambda: None, "the user is not eligible")],
)
async def test_r3_3_a_gate_that_fails_is_shut(
    gate: Callable[[], Any], reason: str, make_app: MakeApp, chat: Ask, client_for: Callable[..., Any]
) -> None:
    Gated.gate = gate
    app = make_app(Gated)
    assert traced(await chat(app, QUESTION, trace=True), "routed") == ("SKIPPED", reason)
    async with client_for(app) as client:
        body = {"message": QUESTION, "domain": "hospital", "toolName": "routed"}
        response: httpx.Response = await client.post("/api/chatbot/chat", json=body)
    assert (response.status_code, response.json()["code"]) == (403, "TOOL_NOT_ELIGIBLE")


class Stranger(ChatbotTool[Nothing]):
    name = "stranger"
    request_class = Nothing

    def execute_with_result(self, call: ToolCall) -> None:
        return None


class AskingForAnother(Faulty):
    asked: ClassVar[Any]

    def init(self, services: Services) -> None:
        self._llm = services.llm

    async def execute_with_result(self, call: ToolCall) -> Any:
        found = await self._llm.generate_tool_request(call.user_prompt, "%s %s", None, self.asked)
        assert found == {"stranger": None}


@pytest.mark.parametrize(
    ("asked", "outcome"),
    [(Stranger(), "NONE"), ("stranger", "FAILED"), (Stranger, "FAILED"), (None, "FAILED")],
)
async def test_parameters_of_a_tool_that_is_not_registered(
    asked: Any, outcome: str, make_app: MakeApp, chat: Ask
) -> None:
    AskingForAnother.asked = asked
    assert traced(await chat(make_app(AskingForAnother), QUESTION, trace=True))[0] == outcome
