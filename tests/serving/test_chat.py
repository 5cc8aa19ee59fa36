"""The chat over the small store: events, routed tools, explicit tools, answers, failures."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from toolkit.documents import InternalContextDocument, TextAnswer, UniqueTextDocument
from toolkit.emitter import ProgressEvent, emit_words
from toolkit.errors import LlmUnavailableError
from toolkit.kinds import OrchestratorActivatedTool
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ChatbotTool, ToolCall

Ask = Callable[..., Any]
MakeApp = Callable[..., Any]


def statuses(events: list[dict[str, Any]]) -> list[str]:
    return [event["progressStatus"] for event in events]


def text(events: list[dict[str, Any]]) -> str:
    return "".join(event["content"] for event in events if event["progressStatus"] == "LLM_GENERATION")


def one(events: list[dict[str, Any]], status: str, field: str) -> Any:
    (event,) = (event for event in events if event["progressStatus"] == status)
    return event[field]


class Nothing(BaseModel):
    pass


async def test_r13_1_the_events_of_an_answer_with_quotes(make_app: MakeApp, chat: Ask) -> None:
    events = await chat(make_app(), "Hol parkolhatnak a betegek?", chatId="my-chat")
    assert events == [
        {"progressStatus": "CHAT", "chatId": "my-chat"},
        {"progressStatus": "QUESTION_ANALYSIS", "chatId": "my-chat"},
        {"progressStatus": "CONTEXT_SEARCH", "chatId": "my-chat"},
        {"progressStatus": "ANSWER_GENERATION", "chatId": "my-chat"},
        {
            "progressStatus": "LLM_GENERATION",
            "chatId": "my-chat",
            "content": "A tudástár alapján, szó szerint idézve:",
        },
        {
            "progressStatus": "LLM_GENERATION",
            "chatId": "my-chat",
            "content": "\n\n„A betegek a kórház északi oldalán parkolhatnak.” [1]\n"
            "— Parkolás.txt, 1. oldal, 1. mondat",
        },
        {
            "progressStatus": "SOURCES",
            "chatId": "my-chat",
            "sources": [
                {
                    "number": 1,
                    "documentId": "8149815039825122791",
                    "documentName": "Parkolás.txt",
                    "documentUrl": None,
                    "page": 0,
                    "sentenceNumber": 0,
                    "text": "A betegek a kórház északi oldalán parkolhatnak.",
                    "sentenceScore": pytest.approx(4.159, abs=0.001),
                    "generated": False,
                }
            ],
        },
        {"progressStatus": "DONE", "chatId": "my-chat"},
    ]


async def test_r8_3_the_same_question_gets_the_same_answer(make_app: MakeApp, chat: Ask) -> None:
    app = make_app()
    first, second = [await chat(app, "Mikor rendel a kardiológia?", chatId="c") for _ in range(2)]
    assert first == second


async def test_r3_8_the_answer_is_in_the_language_of_the_question(make_app: MakeApp, chat: Ask) -> None:
    app = make_app()
    assert text(await chat(app, "When are visiting hours?", "english")).startswith("Quoted word for word")
    asked = await chat(app, "Mikor van visiting hours?", "english", language="hu")
    assert text(asked).startswith("A tudástár alapján")


async def test_nothing_found_is_said(make_app: MakeApp, chat: Ask) -> None:
    events = await chat(make_app(), "Mekkora a Hold tömege?")
    assert text(events).startswith("A tudástárban nem találtam")
    assert one(events, "SOURCES", "sources") == []


class OpeningHours(BaseModel):
    day: Literal["hétfő", "kedd"] | None = None


class HoursTool(ChatbotTool[OpeningHours]):
    name = "opening_hours"
    request_class = OpeningHours
    instruction = "day: a nap neve."
    executable_instruction = (
        "opening_hours: Nyitvatartás kell?\n"
        " - true, ha a nyitvatartást kérdezi\n"
        " - false, ha parkolást kérdez"
    )
    system_prompt_supplement = "A nyitvatartás hiteles."

    def init(self, services: Services) -> None:
        self._llm = services.llm

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        found = await self._llm.generate_tool_request(call.user_prompt, "Melyik nap?", None, self)
        parameters = found.get(self.name)
        if parameters is None:
            return None
        day = parameters["day"]
        return ToolExecutionResult.as_answer(self.name, TextAnswer.as_set(f"{day}: 8–16"))


async def test_r3_3_a_routed_tool_answers_when_its_description_fits(make_app: MakeApp, chat: Ask) -> None:
    events = await chat(make_app(HoursTool), "Mi a nyitvatartás kedden?", trace=True)
    assert one(events, "ANSWER", "content") == "kedd: 8–16"
    assert one(events, "ANSWER", "contentType") is None
    assert one(events, "TRACE", "trace")["answeredBy"] == "opening_hours"
    assert statuses(events)[-2:] == ["TRACE", "DONE"]
    assert "SOURCES" not in statuses(events)


async def test_r3_3_it_stays_out_when_it_does_not(make_app: MakeApp, chat: Ask) -> None:
    events = await chat(make_app(HoursTool), "Hol parkolhatnak a betegek?", trace=True)
    assert "ANSWER" not in statuses(events)
    tools = one(events, "TRACE", "trace")["tools"]
    assert (tools[0]["tool"], tools[0]["outcome"], tools[0]["reason"]) == (
        "opening_hours",
        "SKIPPED",
        "not needed for the question",
    )


async def test_r4_10_given_parameters_reach_the_tool_without_a_model(make_app: MakeApp, chat: Ask) -> None:
    app = make_app(HoursTool)
    events = await chat(app, "?!", toolName="opening_hours", toolParameters={"day": "hétfő"})
    assert one(events, "ANSWER", "content") == "hétfő: 8–16"


async def test_r4_10_parameters_that_do_not_fit(make_app: MakeApp, client_for: Callable[..., Any]) -> None:
    body = {"message": "x", "domain": "hospital", "toolName": "opening_hours"}
    async with client_for(make_app(HoursTool)) as client:
        for parameters, told in (
            ({"day": "X"}, "kedd"),
            ({"dya": "hétfő"}, "dya: there is no such field"),
        ):
            response = await client.post("/api/chatbot/chat", json={**body, "toolParameters": parameters})
            assert (response.status_code, response.json()["code"]) == (422, "INVALID_TOOL_PARAMETERS")
            assert told in response.json()["detail"]


async def test_r3_9_a_named_tool_with_nothing_to_say_gives_way(make_app: MakeApp, chat: Ask) -> None:
    events = await chat(make_app(HoursTool), "Hol parkolhatnak a betegek?", toolName="opening_hours")
    assert "északi" in text(events)


class StreamingTool(ChatbotTool[Nothing]):
    name = "streaming"
    request_class = Nothing
    executable_instruction = "streaming: szimuláció indítása"

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        self.tool_progress_emitter(call.emitter).next(ProgressEvent("STEP", "1"))
        emit_words(call.emitter, "első lépés", delay=0)
        assert call.emitter is not None
        call.emitter.next(ProgressEvent("SEGMENT_BREAK"))
        emit_words(call.emitter, "második", delay=0)
        call.emitter.next(ProgressEvent("DONE"))
        assert call.final_callback is not None
        call.final_callback.on_success(self.name, "első lépésmásodik")
        return ToolExecutionResult.as_answered(self.name)


async def test_r9_6_a_tool_streams_by_itself_and_the_platform_alone_ends(
    make_app: MakeApp, chat: Ask
) -> None:
    events = await chat(make_app(StreamingTool), "x", toolName="streaming")
    assert [(event["progressStatus"], event.get("content")) for event in events] == [
        ("CHAT", None),
        ("QUESTION_ANALYSIS", None),
        ("TOOL_PROGRESS:STREAMING:STEP", "1"),
        ("LLM_GENERATION", "első"),
        ("LLM_GENERATION", " lépés"),
        ("SEGMENT_BREAK", None),
        ("LLM_GENERATION", "második"),
        ("DONE", None),
    ]


class FailingTool(OrchestratorActivatedTool[Nothing]):
    name = "failing"
    eligible_system = ALL
    priority = 0
    request_class = Nothing
    executable_instruction = "failing: always"

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        raise ZeroDivisionError("broken inside")


class SlowTool(FailingTool):
    name = "slow"
    executable_instruction = "slow: always"

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        time.sleep(1.5)
        return ToolExecutionResult.as_answered(self.name)


class WrongTool(FailingTool):
    name = "wrong"
    executable_instruction = "wrong: always"

    def execute_with_result(self, call: ToolCall) -> Any:
        return "a text"


async def test_r3_12_a_failing_tool_is_traced_and_the_user_gets_an_answer(
    make_app: MakeApp, chat: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    app = make_app(FailingTool, SlowTool, WrongTool, limits={"tool_seconds": 0.2})
    started = time.perf_counter()
    events = await chat(app, "Hol parkolhatnak a betegek?", trace=True)
    assert time.perf_counter() - started < 1.0
    assert "északi" in text(events)
    tools = one(events, "TRACE", "trace")["tools"]
    assert [(tool["tool"], tool["outcome"], tool["reason"]) for tool in tools] == [
        ("failing", "FAILED", "ZeroDivisionError: broken inside"),
        ("slow", "TIMED_OUT", "no result within 0.2 s"),
        ("wrong", "FAILED", "returned str instead of a ToolExecutionResult or None"),
        ("rag_retrieval", "CONTEXT", None),
    ]
    assert {"tool failing failed", "tool slow: no result within 0.2 s"} <= {
        record.getMessage() for record in caplog.records
    }


class Model:
    """A model that answers from a script; `fails` raises before, or after, the first piece."""

    def __init__(self, pieces: list[str], *, fails: bool = False, judges: bool = True) -> None:
        self.pieces = pieces
        self.fails = fails
        self.judges = judges
        self.prompts: list[tuple[str, str]] = []
        self.closed = 0

    async def generate_json(
        self, user_prompt: str, system_prompt: str, schema: Mapping[str, Any]
    ) -> dict[str, Any]:
        if not self.judges:
            raise LlmUnavailableError("no server")
        fields = set(schema["properties"])
        if fields == {"language", "important_words"}:
            return {"language": "hu", "important_words": ["betegek", "nincs benne"]}
        if fields == {"sub_queries"}:
            return {"sub_queries": [user_prompt]}
        return dict.fromkeys(fields, True)

    async def generate_tool_request(
        self, user_prompt: str, system_prompt: str, tasks: str | None, tool: ChatbotTool[Any]
    ) -> dict[str, dict[str, Any] | None]:
        return {tool.name: None}

    async def generate_text(self, user_prompt: str, system_prompt: str) -> str:
        return "".join(self.pieces)

    async def stream_text(self, user_prompt: str, system_prompt: str) -> AsyncIterator[str]:
        self.prompts.append((user_prompt, system_prompt))
        try:
            for piece in self.pieces:
                yield piece
                await asyncio.sleep(0)
            if self.fails:
                raise LlmUnavailableError("the server went away")
        finally:
            self.closed += 1


async def test_a_models_answer_is_streamed_and_its_citations_are_the_sources(
    make_app: MakeApp, chat: Ask
) -> None:
    model = Model(["Az északi", " oldalon [1", "]."])
    events = await chat(make_app(llm=model), "Hol parkolhatnak a betegek?", trace=True)
    assert text(events) == "Az északi oldalon [1]."
    assert [source["number"] for source in one(events, "SOURCES", "sources")] == [1]
    trace = one(events, "TRACE", "trace")
    assert (trace["answeredBy"], trace["importantWords"]) == ("model", ["betegek"])
    (user, system), *_ = model.prompts
    assert "[1] A betegek a kórház északi oldalán parkolhatnak." in user
    assert "magyar" in system
    assert model.closed == 1


@pytest.mark.parametrize("said", [[], ["Az északi oldalon [1]"]])
async def test_r8_4_when_the_model_fails_the_answer_quotes_and_says_so(
    make_app: MakeApp, chat: Ask, said: list[str]
) -> None:
    model = Model(said, fails=True, judges=False)
    events = await chat(make_app(llm=model), "Hol parkolhatnak a betegek?", trace=True)
    answer = text(events)
    assert answer.startswith("".join(said))
    assert "A nyelvi modell most nem adott használható választ, ezért a válasz idézetekből áll." in answer
    assert ("megszakadt" in answer) == bool(said)
    assert "„A betegek a kórház északi oldalán parkolhatnak.” [1]" in answer
    trace = one(events, "TRACE", "trace")
    assert trace["answeredBy"] == "quotes"
    assert trace["notes"][-1] == (
        "the model failed, so the answer quotes: LlmUnavailableError: the server went away"
    )
    assert statuses(events)[-1] == "DONE"


class SecretTool(OrchestratorActivatedTool[Nothing]):
    name = "secret"
    eligible_system = ALL
    priority = 0
    request_class = Nothing
    executable_instruction = "secret: always"
    system_prompt_supplement = "A titok %s és $name marad."

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        documents: list[UniqueTextDocument] = [
            TextAnswer.of("A betegek északon parkolhatnak.", "Eszköz"),
            InternalContextDocument.of("betegek parkolhatnak: TITOK"),
        ]
        return ToolExecutionResult.as_guaranteed_context(self.name, documents)


async def test_r4_8_r5_5_r3_10_internal_texts_stay_inside_and_supplements_reach_the_model(
    make_app: MakeApp, chat: Ask
) -> None:
    model = Model(["Északon [1]."])
    events = await chat(make_app(SecretTool, llm=model), "Hol parkolhatnak a betegek?", trace=True)
    assert "TITOK" not in str(events) + str(model.prompts)
    (_, system), *_ = model.prompts
    assert system.endswith("secret: A titok %s és $name marad.")
    tools = one(events, "TRACE", "trace")["tools"]
    assert [(tool["tool"], tool["outcome"]) for tool in tools] == [
        ("secret", "CONTEXT"),
        ("rag_retrieval", "SKIPPED"),
    ]
    (source,) = one(events, "SOURCES", "sources")
    assert (source["generated"], source["documentName"]) == (True, "Eszköz")
