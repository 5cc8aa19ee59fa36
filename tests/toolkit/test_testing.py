from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from toolkit.clarification import ClarificationSession, ClarifyingQuestion
from toolkit.documents import UniqueTextDocument
from toolkit.emitter import LLM_GENERATION, SEGMENT_BREAK, ProgressEvent
from toolkit.errors import LlmOutputError, LlmUnavailableError, PluginLoadError, TaskCancelledError
from toolkit.execution import wait_for
from toolkit.kinds import ClarifiableTool
from toolkit.llm.assistant import LlmAssistant
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.testing.harness import run_tool
from toolkit.testing.knowledge import MemoryDocument, MemoryEntity, MemoryKnowledge, MemoryKnowledgeBase
from toolkit.testing.llm import LlmCall, ScriptedLlm
from toolkit.testing.recording import RecordingEmitter, RecordingProgress
from toolkit.tool import ALL, ChatbotTool, ToolCall

NOVEL = MemoryKnowledge(
    [
        MemoryDocument(
            "I. rész", ["Gergő Évával játszott. Az erdő csendes volt.", "Dobó Egerben volt. Gergő is."]
        ),
        MemoryDocument("Levél", "Dobónak írtak. Éva aláírta.", system="levelek", url="https://example.org"),
        MemoryDocument("Notes", "Eger is a town.", language="en"),
    ],
    [
        MemoryEntity("Dobó István", "PER", ("Dobó", "Dobónak")),
        MemoryEntity("Gergő"),
        MemoryEntity("Éva", "PER", ("Évával",)),
    ],
    domain="regeny",
)


class DepartmentRequest(BaseModel):
    department: str | None = None


class DepartmentInfo(ChatbotTool[DepartmentRequest]):
    name = "department_info"
    domain = "korhaz"
    executable_instruction = "department_info: x"
    instruction = "department: az osztály"
    request_class = DepartmentRequest

    def init(self, services: Services) -> None:
        self.llm = services.llm

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        self.tool_progress_emitter(call.emitter).next(ProgressEvent("EXTRACTING"))
        drawn = wait_for(self.llm.generate_tool_request(call.user_prompt, "%s|%s", None, self))
        request = DepartmentRequest.model_validate(drawn.get(self.name) or {})
        if request.department is None:
            return None
        document = UniqueTextDocument(1, "Osztályok", None, 0, 1, request.department, 1.0)
        return ToolExecutionResult.as_context(self.name, {document})


def test_a_tool_runs_by_itself() -> None:
    llm = ScriptedLlm({"department_info": {"department": "sebészet"}})
    run = run_tool(DepartmentInfo, "Hol a sebészet?", llm=llm)
    assert run.result == ToolExecutionResult.as_context(
        "department_info", [UniqueTextDocument(1, "Osztályok", None, 0, 1, "sebészet", 1.0)]
    )
    assert run.emitter.events == [ProgressEvent("TOOL_PROGRESS:DEPARTMENT_INFO:EXTRACTING")]
    assert llm.calls == [
        LlmCall("generate_tool_request", "Hol a sebészet?", "|department: az osztály", "department_info")
    ]


def test_a_tool_for_which_nothing_is_drawn() -> None:
    assert run_tool(DepartmentInfo, "x").result is None
    assert run_tool(DepartmentInfo, "x", llm=ScriptedLlm({"department_info": None})).result is None


def test_a_failing_model_and_a_script_that_does_not_fit() -> None:
    with pytest.raises(LlmUnavailableError):
        run_tool(DepartmentInfo, "x", llm=ScriptedLlm({"department_info": LlmUnavailableError("down")}))
    with pytest.raises(LlmOutputError, match="department_info"):
        run_tool(DepartmentInfo, "x", llm=ScriptedLlm({"department_info": {"department": 3}}))


def test_a_tool_that_would_be_left_out_is_told() -> None:
    class Broken(DepartmentInfo):
        def init(self, services: Services) -> None:
            raise ConnectionError("no database")

    with pytest.raises(PluginLoadError, match="ConnectionError: no database"):
        run_tool(Broken, "x")


class ClinicFinder(ClarifiableTool[DepartmentRequest]):
    name = "clinic"
    executable_instruction = "clinic: x"
    eligible_system = ALL
    request_class = DepartmentRequest
    priority = 0

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        question = ClarifyingQuestion("department", "Melyik?", ("sebészet",))
        return ToolExecutionResult.needs_clarification(question, "{}", self.name)

    def execute_with_clarification(
        self, session: ClarificationSession, call: ToolCall
    ) -> ToolExecutionResult:
        return ToolExecutionResult.as_answered(f"{session.pending_question_id}={session.pending_answer}")


def test_r7_3_a_clarifiable_tool_is_resumed_with_a_session() -> None:
    session = ClarificationSession("{}", "department", "sebészet")
    resumed = run_tool(ClinicFinder, "x", session=session).result
    assert resumed == ToolExecutionResult.as_answered("department=sebészet")


async def test_the_scripted_model_speaks_the_protocol() -> None:
    llm: LlmAssistant = ScriptedLlm(objects=[{"a": 1}, {"a": "x"}], texts=["egy két  há", "négy"])
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert await llm.generate_json("q", "s", schema) == {"a": 1}
    with pytest.raises(LlmOutputError, match="does not fit the schema"):
        await llm.generate_json("q", "s", schema)
    assert [piece async for piece in llm.stream_text("q", "s")] == ["egy", " két", " ", " há"]
    assert await llm.generate_text("q", "s") == "négy"
    with pytest.raises(AssertionError, match="more often than the script has texts"):
        await llm.generate_text("q", "s")


def texts(documents: list[UniqueTextDocument]) -> list[str | None]:
    return [each.text for each in documents]


def test_knowledge_search_is_ranked_inflected_and_honours_systems() -> None:
    assert texts(NOVEL.search("Hol játszottak Évával?")) == ["Gergő Évával játszott."]
    assert texts(NOVEL.search("EGER")) == ["Eger is a town."]
    assert texts(NOVEL.search("dobonak", systems=["levelek"])) == ["Dobónak írtak."]
    assert NOVEL.search("dobonak", systems=["egyéb"]) == []
    assert len(NOVEL.search("volt Gergő", limit=1)) == 1
    assert NOVEL.languages == ("hu", "en")


def test_knowledge_pages_and_neighbours_of_sentences() -> None:
    (found,) = NOVEL.search("csendes erdő")
    assert found.key[1:] == (0, 1)
    assert texts(NOVEL.with_neighbours([found])) == ["Gergő Évával játszott.", "Az erdő csendes volt."]
    assert texts(NOVEL.page(found.document_id, 1)) == ["Dobó Egerben volt.", "Gergő is."]
    assert NOVEL.page(found.document_id, 9) == []


def test_knowledge_entities() -> None:
    (dobo,) = NOVEL.find_entities("Mit írtak Dobónak?")
    assert (dobo.name, dobo.label, dobo.mention_count, dobo.document_count) == ("Dobó István", "PER", 2, 2)
    assert set(dobo.aliases) == {"Dobó", "Dobónak", "Dobó István"}
    assert texts(NOVEL.entity_sentences(dobo, systems=["levelek"])) == ["Dobónak írtak."]
    assert NOVEL.find_entities("Dobóval") == []
    (gergo,) = NOVEL.find_entities("ki az a gergő?")
    (neighbour,) = NOVEL.neighbours(gergo)
    assert (neighbour.entity.name, neighbour.weight, texts(list(neighbour.evidence))) == (
        "Éva",
        1.0,
        ["Gergő Évával játszott."],
    )


def test_a_knowledge_base_knows_its_domains() -> None:
    base = MemoryKnowledgeBase(NOVEL)
    assert base.domains() == ["regeny"]
    assert base.open("regeny") is NOVEL
    with pytest.raises(LookupError, match="no domain 'korhaz'; there are: regeny"):
        base.open("korhaz")


def test_r9_6_recorded_segments() -> None:
    emitter = RecordingEmitter()
    for status, content in (
        (LLM_GENERATION, "egy"),
        ("TOOL_PROGRESS:T:X", None),
        (LLM_GENERATION, " kettő"),
        (SEGMENT_BREAK, None),
        (LLM_GENERATION, "három"),
    ):
        emitter.next(ProgressEvent(status, content))
    assert emitter.segments == ["egy kettő", "három"]


def test_r12_1_recorded_progress_can_cancel() -> None:
    progress = RecordingProgress(cancel_after=1)
    progress.report(1, 10, "első")
    with pytest.raises(TaskCancelledError):
        progress.report(2, 10)
    assert progress.reports == [(1, 10, "első")]


async def test_harness_runs_plain_tools_off_the_loop() -> None:
    result = await asyncio.to_thread(run_tool, DepartmentInfo, "x")
    assert result.result is None


def test_a_title_ends_no_sentence_in_the_store_for_tests() -> None:
    text = "A vezetője Dr. Fekete Zsuzsanna. Helyettese ifj. Dr. Szabó Gergely! Mrs. Harrow?"
    knowledge = MemoryKnowledge([MemoryDocument("Szemészet", text)])
    (document,) = knowledge.documents()
    assert [each.text for each in knowledge.page(document.document_id, 0)] == [
        "A vezetője Dr. Fekete Zsuzsanna.",
        "Helyettese ifj. Dr. Szabó Gergely!",
        "Mrs. Harrow?",
    ]
