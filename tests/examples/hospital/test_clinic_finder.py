"""The finder of consultations: by itself, round by round, and in the running platform."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from serving.offline.assistant import OfflineAssistant
from toolkit.clarification import ClarificationSession
from toolkit.results import ToolExecutionResult
from toolkit.testing.harness import run_tool
from toolkit.testing.knowledge import MemoryKnowledgeBase
from tudastar_hospital.clinic_finder import ClinicFinderTool, Site

ORTHOPAEDICS = "Ortopédiai szakrendelést keresek."


def run(
    pages: MemoryKnowledgeBase, question: str, asking: ToolExecutionResult | None = None, answer: str = ""
) -> ToolExecutionResult | None:
    """The tool with the offline assistant: at first, or with the answer to what it asked."""
    session = None
    if asking is not None:
        assert asking.question is not None
        assert asking.question.accepts(answer)
        session = ClarificationSession(asking.partial_json or "", asking.question.question_id, answer)
    return run_tool(
        ClinicFinderTool, question, llm=OfflineAssistant(), knowledge=pages, session=session
    ).result


def found(result: ToolExecutionResult | None) -> list[str | None]:
    assert result is not None
    assert result.guaranteed
    return [each.text for each in result.documents]


def question_id(result: ToolExecutionResult | None) -> str | None:
    return result.question.question_id if result and result.question else None


def test_r7_3_it_asks_for_the_age_group_and_looks_the_hours_up(consultations: MemoryKnowledgeBase) -> None:
    first = run(consultations, ORTHOPAEDICS)
    assert first is not None
    assert first.question is not None
    assert first.question.options == ("Felnőtt", "Gyermek", "Mindkettő érdekel")
    assert found(run(consultations, ORTHOPAEDICS, first, "Gyermek")) == [
        "Gyermekrendelések, Malom utcai telep.",
        "gyermekortopédia M épület, 13.00–16.00.",
    ]
    assert found(run(consultations, ORTHOPAEDICS, first, "Felnőtt")) == [
        "Felnőtt szakrendelések, Fő utcai telep.",
        "ortopédia A épület, 8.00–14.00.",
    ]


def test_r7_9_then_for_the_site_where_there_are_several_until_an_answer_fits(
    consultations: MemoryKnowledgeBase,
) -> None:
    first = run(consultations, ORTHOPAEDICS)
    second = run(consultations, ORTHOPAEDICS, first, "Mindkettő érdekel")
    assert second is not None
    assert second.question is not None
    assert (second.question.options, second.question.allow_free_text) == (tuple(Site), True)
    third = run(consultations, ORTHOPAEDICS, second, "Debrecenben")
    assert question_id(third) == "place"
    assert found(run(consultations, ORTHOPAEDICS, third, "a malom utcában")) == [
        "Gyermekrendelések, Malom utcai telep.",
        "gyermekortopédia M épület, 13.00–16.00.",
    ]


def test_r7_8a_what_the_question_tells_is_not_asked(consultations: MemoryKnowledgeBase) -> None:
    told = "Felnőtt szakrendelést keresek a Malom utcai telepen."
    assert found(run(consultations, told)) == [
        "Felnőtt szakrendelések, Malom utcai telep.",
        "szemészet M épület, 8.00–12.00.",
    ]
    assert question_id(run(consultations, "Felnőtt szakrendelést keresek.")) == "place"


@pytest.mark.parametrize(
    "question", ["Hol van a szemészet?", "Mikor rendel a szemészet?", "Neurológiai szakrendelés gyermeknek?"]
)
def test_r3_9_none_where_no_consultation_is_looked_for_or_there_is_none(
    consultations: MemoryKnowledgeBase, question: str
) -> None:
    assert run(consultations, question) is None


async def test_r7_3_the_user_is_asked_twice_and_gets_the_hours(
    ask: Callable[..., Awaitable[Any]], clarify: Callable[..., Awaitable[Any]]
) -> None:
    first = await ask(ORTHOPAEDICS)
    assert first.question == {
        "questionId": "age",
        "text": "Felnőttnek vagy gyermeknek keres rendelést?",
        "options": ["Felnőtt", "Gyermek", "Mindkettő érdekel"],
        "allowFreeText": False,
    }
    second = await clarify(first, "Mindkettő érdekel")
    assert second.question["options"] == ["Fő utcai telep", "Malom utcai telep"]
    last = await clarify(second, "Malom utca")
    assert "gyermekortopédia M épület, 1. emelet hétfő 13.00–16.00" in last.text
    assert last.outcomes["clinic_finder"] == "CONTEXT"


async def test_r7_8a_where_one_site_has_it_the_user_is_asked_once(
    ask: Callable[..., Awaitable[Any]], clarify: Callable[..., Awaitable[Any]]
) -> None:
    last = await clarify(await ask(ORTHOPAEDICS), "Felnőtt")
    assert "kedd 8.00–14.00, csütörtök 12.00–18.00" in last.text
