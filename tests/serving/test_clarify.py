"""Questions to the user: put, answered, in line, dropped, expired, and after a restart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from retrieval.tools.rag import RAGRetrievalTool
from serving.app import create_app
from serving.settings import Settings
from toolkit.clarification import ClarificationSession, ClarifyingQuestion
from toolkit.contexts import ToolContexts
from toolkit.documents import InternalContextDocument, TextAnswer, UniqueTextDocument
from toolkit.kinds import ClarifiableContextConsumerTool, ClarifiableTool, OrchestratorActivatedTool
from toolkit.knowledge import KnowledgeBase
from toolkit.results import ToolExecutionResult
from toolkit.testing.llm import ScriptedLlm
from toolkit.tool import ALL, ChatbotTool, ToolCall

Ask = Callable[..., Any]
MakeApp = Callable[..., Any]

QUESTION = "Milyen rendelés van?"
LOG: list[str] = []


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    LOG.clear()


class Clinic(BaseModel):
    age: str | None = None
    place: str | None = None


AGE = ClarifyingQuestion("age", "Felnőtt vagy gyermek?", ("Felnőtt", "Gyermek"))
PLACE = ClarifyingQuestion("place", "Melyik helyen?", ("Fő utca", "Malom utca"), allow_free_text=True)


def document(number: int, text: str) -> UniqueTextDocument:
    return UniqueTextDocument(number, "Rendelés", None, 0, 0, text, 1.0)


class ClinicFinder(ClarifiableTool[Clinic]):
    name = "clinic_finder"
    eligible_system = ALL
    priority = 0
    request_class = Clinic
    executable_instruction = "clinic_finder: true, ha rendelést keres"

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        LOG.append(f"{self.name}: {call.user_prompt}")
        return self.go_on(Clinic())

    def execute_with_clarification(
        self, session: ClarificationSession, call: ToolCall
    ) -> ToolExecutionResult | None:
        LOG.append(f"{self.name} {session.pending_question_id}={session.pending_answer}: {call.user_prompt}")
        if session.pending_answer == "semmi":
            return None
        request = Clinic.model_validate_json(session.partial_request_json)
        return self.go_on(request.model_copy(update={session.pending_question_id: session.pending_answer}))

    def go_on(self, request: Clinic) -> ToolExecutionResult:
        for field, question in (("age", AGE), ("place", PLACE)):
            if getattr(request, field) is None:
                return ToolExecutionResult.needs_clarification(question, request.model_dump_json(), self.name)
        found = [document(1, f"{request.age} rendelés: {request.place}, 8–12.")]
        return ToolExecutionResult.as_guaranteed_context(self.name, found)


class Beside(OrchestratorActivatedTool[Clinic]):
    """In the group of the tool that asks."""

    name = "beside"
    eligible_system = ALL
    priority = 0
    request_class = Clinic
    executable_instruction = "beside: never"

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        LOG.append(self.name)
        found = [document(2, "Rendelés mellett."), InternalContextDocument.of("belső")]
        return ToolExecutionResult.as_context(self.name, found)


class Later(ClarifiableContextConsumerTool[Clinic]):
    """In a later group: it asks too, and consumes contexts."""

    name = "later"
    eligible_system = ALL
    priority = 7
    request_class = Clinic
    executable_instruction = "later: never"

    def execute_with_prior_context(
        self, call: ToolCall, prior_tool_contexts: ToolContexts
    ) -> ToolExecutionResult:
        LOG.append(f"later: {sorted(prior_tool_contexts)}")
        return ToolExecutionResult.needs_clarification(AGE, "{}", self.name)

    def execute_with_clarification_and_prior_context(
        self, session: ClarificationSession, prior_tool_contexts: ToolContexts, call: ToolCall
    ) -> ToolExecutionResult:
        texts = [each.text for found in prior_tool_contexts.values() for each in found[0].context]
        LOG.append(f"later {session.pending_answer}: {texts}")
        return ToolExecutionResult.as_answer(self.name, TextAnswer.as_set(f"Vége: {session.pending_answer}"))


@asynccontextmanager
async def serving(
    base: KnowledgeBase, state: str, *tools: type[ChatbotTool[Any]], **settings: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an app that is started and stopped as a server does it."""
    made = Settings(_env_file=None, state=state, **settings)
    app = create_app(made, knowledge=base, built_ins=(RAGRetrievalTool, *tools), plugins=())
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client,
    ):
        yield client


async def post(client: httpx.AsyncClient, path: str, **body: Any) -> list[dict[str, Any]]:
    response = await client.post(f"/api/chatbot/{path}", json=body)
    assert response.status_code == 200, response.text
    lines = [line for line in response.text.split("\n\n") if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


async def refused(client: httpx.AsyncClient, path: str, **body: Any) -> tuple[int, str]:
    response = await client.post(f"/api/chatbot/{path}", json=body)
    return response.status_code, response.json()["code"]


async def chat(client: httpx.AsyncClient, **more: Any) -> list[dict[str, Any]]:
    return await post(client, "chat", message=QUESTION, domain="hospital", chatId="c", **more)


async def clarify(client: httpx.AsyncClient, answer: str, **more: Any) -> list[dict[str, Any]]:
    return await post(client, "clarify", chatId="c", answer=answer, **more)


def asked(events: Sequence[dict[str, Any]]) -> list[str]:
    return [
        each["question"]["questionId"] for each in events if each["progressStatus"] == "INTERACTIVE_QUESTION"
    ]


def of(events: Sequence[dict[str, Any]], status: str, field: str) -> Any:
    (event,) = (each for each in events if each["progressStatus"] == status)
    return event[field]


async def test_r7_3_r13_2_a_question_its_answers_and_the_context_that_they_lead_to(
    knowledge_base: Any,
) -> None:
    async with serving(knowledge_base, "sqlite://", ClinicFinder, Beside) as client:
        first = await chat(client)
        assert first[2:] == [
            {"progressStatus": "CONTEXT_SEARCH", "chatId": "c"},
            {"progressStatus": "INTERACTIVE_QUESTION", "chatId": "c", "question": AGE.to_wire()},
            {"progressStatus": "DONE", "chatId": "c"},
        ]
        assert asked(await clarify(client, " Gyermek ")) == ["place"]
        last = await clarify(client, "a sarkon", trace=True)
    sources = of(last, "SOURCES", "sources")
    assert sources[0]["text"] == "Gyermek rendelés: a sarkon, 8–12."
    assert [
        "beside",
        f"clinic_finder: {QUESTION}",
        f"clinic_finder age=Gyermek: {QUESTION}",
        f"clinic_finder place=a sarkon: {QUESTION}",
    ] == LOG
    trace = of(last, "TRACE", "trace")
    assert [(each["tool"], each["outcome"]) for each in trace["tools"]] == [
        ("beside", "CONTEXT"),
        ("clinic_finder", "NEEDS_CLARIFICATION"),
        ("clinic_finder", "NEEDS_CLARIFICATION"),
        ("clinic_finder", "CONTEXT"),
        ("rag_retrieval", "SKIPPED"),
    ]


async def test_r7_3_none_on_resume_uses_the_question_up_and_the_next_group_runs(knowledge_base: Any) -> None:
    async with serving(knowledge_base, "sqlite://", ClinicFinder) as client:
        await chat(client)
        await clarify(client, "Felnőtt")
        last = await clarify(client, "semmi", trace=True)
    trace = of(last, "TRACE", "trace")
    assert [(each["tool"], each["outcome"]) for each in trace["tools"]][-2:] == [
        ("clinic_finder", "NONE"),
        ("rag_retrieval", "CONTEXT"),
    ]


class Second(ClinicFinder):
    name = "z_second"
    executable_instruction = "z_second: never"


async def test_r7_4_questions_wait_in_line_and_a_follow_up_goes_before_them(knowledge_base: Any) -> None:
    async with serving(knowledge_base, "sqlite://", ClinicFinder, Second) as client:
        ids = [asked(await chat(client))]
        for answer in ("Felnőtt", "Fő utca", "Gyermek"):
            ids.append(asked(await clarify(client, answer)))
        last = await clarify(client, "Malom utca", trace=True)
    assert ids == [["age"], ["place"], ["age"], ["place"]]
    assert [
        f"clinic_finder: {QUESTION}",
        f"z_second: {QUESTION}",
        f"clinic_finder age=Felnőtt: {QUESTION}",
        f"clinic_finder place=Fő utca: {QUESTION}",
        f"z_second age=Gyermek: {QUESTION}",
        f"z_second place=Malom utca: {QUESTION}",
    ] == LOG
    assert [each["tool"] for each in of(last, "TRACE", "trace")["tools"]][-1] == "rag_retrieval"


async def test_r7_4_r5_7_an_answer_of_a_tool_beside_goes_before_questions(knowledge_base: Any) -> None:
    class Answering(Beside):
        name = "answering"
        executable_instruction = "answering: never"

        def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
            return ToolExecutionResult.as_answer(self.name, TextAnswer.as_set("Kész."))

    async with serving(knowledge_base, "sqlite://", ClinicFinder, Answering) as client:
        events = await chat(client, trace=True)
        assert await refused(client, "clarify", chatId="c", answer="Felnőtt") == (409, "NO_PENDING_QUESTION")
    assert of(events, "ANSWER", "content") == "Kész."
    assert of(events, "TRACE", "trace")["notes"] == ["clinic_finder: dropped, since answering answered"]


@pytest.mark.parametrize("restart", [False, True])
async def test_r7_6_r7_7_finished_work_is_never_done_again_also_after_a_restart(
    knowledge_base: Any, tmp_path: Any, restart: bool
) -> None:
    state, tools = f"sqlite:///{tmp_path}/state.sqlite", (Beside, Later)
    async with serving(knowledge_base, state, *tools) as client:
        assert asked(await chat(client)) == ["age"]
        if not restart:
            last = await clarify(client, "Felnőtt")
    if restart:
        async with serving(knowledge_base, state, *tools) as client:
            last = await clarify(client, "Felnőtt")
    assert LOG == [
        "beside",
        "later: ['1:beside']",
        "later Felnőtt: ['Rendelés mellett.', 'belső']",
    ]
    assert of(last, "ANSWER", "content") == "Vége: Felnőtt"


async def test_r7_5_of_two_answers_at_once_one_gets_the_question(knowledge_base: Any) -> None:
    class Slow(ClinicFinder):
        name = "slow"
        executable_instruction = "slow: never"

        async def execute_with_clarification(self, session: ClarificationSession, call: ToolCall) -> Any:
            await asyncio.sleep(0.3)
            return super().execute_with_clarification(session, call)

    async with serving(knowledge_base, "sqlite://", Slow) as client:
        await chat(client)
        both = [
            client.post("/api/chatbot/clarify", json={"chatId": "c", "answer": "Felnőtt"}) for _ in range(2)
        ]
        answers = await asyncio.gather(*both)
    assert sorted(each.status_code for each in answers) == [200, 409]
    (late,) = (each.json() for each in answers if each.status_code == 409)
    assert late["code"] == "QUESTION_ALREADY_ANSWERED"
    assert len([entry for entry in LOG if "age=" in entry]) == 1


async def test_r7_5_an_answer_waits_until_the_work_is_done(knowledge_base: Any) -> None:
    class SlowBeside(Beside):
        async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:  # type: ignore[override]
            await asyncio.sleep(0.5)
            return super().execute_with_result(call)

    async with serving(knowledge_base, "sqlite://", ClinicFinder, SlowBeside) as client:
        first = asyncio.create_task(chat(client))
        while not LOG:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert asked(await clarify(client, "Felnőtt")) == ["place"]
        assert first.done()
        assert asked(await first) == ["age"]


async def test_r7_8_what_cannot_be_answered_has_its_code_and_changes_nothing(knowledge_base: Any) -> None:
    async with serving(knowledge_base, "sqlite://", ClinicFinder) as client:
        assert await refused(client, "clarify", chatId="c", answer="x") == (404, "UNKNOWN_CHAT")
        await chat(client)
        assert await refused(client, "clarify", chatId="other", answer="x") == (404, "UNKNOWN_CHAT")
        assert await refused(client, "clarify", chatId="c", answer=" ") == (422, "EMPTY_ANSWER")
        response = await client.post("/api/chatbot/clarify", json={"chatId": "c", "answer": "felnőtt"})
        assert (response.status_code, response.json()["code"]) == (422, "INVALID_OPTION")
        assert (
            response.json()["detail"] == "'felnőtt' is none of the options; valid are: 'Felnőtt', 'Gyermek'."
        )
        assert asked(await clarify(client, "Felnőtt")) == ["place"]
        await clarify(client, "Fő utca")
        assert await refused(client, "clarify", chatId="c", answer="x") == (409, "NO_PENDING_QUESTION")


async def test_r7_8_an_expired_question_is_gone(knowledge_base: Any) -> None:
    async with serving(knowledge_base, "sqlite://", ClinicFinder, question_hours=1e-9) as client:
        await chat(client)
        assert await refused(client, "clarify", chatId="c", answer="Felnőtt") == (410, "QUESTION_EXPIRED")


async def test_r7_8_a_new_message_drops_the_question_and_the_stream_says_so(knowledge_base: Any) -> None:
    async with serving(knowledge_base, "sqlite://", ClinicFinder) as client:
        await chat(client)
        events = await chat(client)
        assert events[1] == {"progressStatus": "QUESTION_DROPPED", "chatId": "c", "question": AGE.to_wire()}
        assert asked(events) == ["age"]
        assert asked(await clarify(client, "Felnőtt")) == ["place"]


async def test_r7_1_r4_10_a_tool_started_by_its_name_may_ask_too(knowledge_base: Any) -> None:
    async with serving(knowledge_base, "sqlite://", ClinicFinder, Beside) as client:
        assert asked(await chat(client, toolName="clinic_finder")) == ["age"]
        await clarify(client, "Felnőtt")
        last = await clarify(client, "Fő utca")
        assert of(last, "SOURCES", "sources")[0]["text"] == "Felnőtt rendelés: Fő utca, 8–12."
        assert "beside" not in LOG
        await chat(client, toolName="clinic_finder")
        await clarify(client, "Felnőtt")
        last = await clarify(client, "semmi", trace=True)
    assert "beside" in LOG
    assert of(last, "TRACE", "trace")["orchestrator"] == "default_orchestrator"


async def test_r7_3_several_sub_queries_and_hops_with_questions(knowledge_base: Any) -> None:
    llm = ScriptedLlm(
        objects=[
            {"language": "hu", "important_words": []},
            {"sub_queries": ["egyik", "másik"]},
            *[{"clinic_finder": True, "rag_retrieval": False}] * 2,
            {"further_queries": ["harmadik"]},
            {"clinic_finder": True, "rag_retrieval": False},
            {"further_queries": []},
        ],
        texts=["Kész [1]."],
    )
    made = Settings(_env_file=None, state="sqlite://")
    app = create_app(
        made, knowledge=knowledge_base, llm=llm, built_ins=(RAGRetrievalTool, ClinicFinder), plugins=()
    )
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client,
    ):
        await chat(client)
        for answer in ("Felnőtt", "A", "Gyermek", "semmi", "Felnőtt"):
            last = await clarify(client, answer)
        assert asked(last) == ["place"]
        last = await clarify(client, "B", trace=True)
    assert of(last, "TRACE", "trace")["subQueries"] == ["egyik", "másik", "harmadik"]
    assert [entry for entry in LOG if "=" not in entry] == [
        "clinic_finder: egyik",
        "clinic_finder: másik",
        "clinic_finder: harmadik",
    ]
    assert {each["text"] for each in of(last, "SOURCES", "sources")} == {"Felnőtt rendelés: A, 8–12."}
