"""The question that comes out of the documents: which doctor of a name is meant."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from toolkit.clarification import ClarificationSession
from toolkit.results import ResultMode, ToolExecutionResult
from toolkit.testing.harness import run_tool
from toolkit.testing.knowledge import MemoryKnowledgeBase
from toolkit.testing.llm import ScriptedLlm
from tudastar_hospital.doctor_info import DoctorInfoTool
from tudastar_hospital.doctors import doctors_meant

KOVACS = ["Kovács András", "Kovács Ilona", "Kovács Péterné"]
SZABO = ["id. Szabó Gergely", "ifj. Szabó Gergely"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Mikor rendel Kovács doktor?", [KOVACS]),
        ("Kovács doktornál mikor van rendelés?", [KOVACS]),
        ("Hol van dr. Kovács?", [KOVACS]),
        ("hol van kovács doktornő", [KOVACS]),
        ("Mikor rendel Kovács?", [KOVACS]),
        ("Mikor rendel Kovács Ilona?", [["Kovács Ilona"]]),
        ("Dr. Kovács Ilonához megyek.", [["Kovács Ilona"]]),
        ("Kovácsné doktornőhöz megyek.", [["Kovács Péterné"]]),
        ("Kovács András vagy Kovács Ilona?", [["Kovács András"], ["Kovács Ilona"]]),
        ("Szabó Gergellyel beszélnék.", [SZABO]),
        ("Mikor rendel Szabó főorvos úr?", [SZABO]),
        ("Mikor rendel ifj. dr. Szabó Gergely?", [SZABO[1:]]),
        ("Az idősebb Szabó doktorhoz megyek.", [SZABO[:1]]),
        ("Tóth doktornőhöz megyek.", [["Tóth Eszter"]]),
        ("Dr. Kovács István mikor rendel?", []),
        ("Nagy doktor mikor rendel?", []),
        ("Kovács a foglalkozása.", []),
        ("A szabó és a kovács iparos.", []),
        ("Németh Judit mikor fogad?", []),
        ("", []),
    ],
)
def test_r7_9_whom_a_name_may_mean(doctors: MemoryKnowledgeBase, text: str, meant: list[list[str]]) -> None:
    groups = doctors_meant(text, doctors.open("hospital"), ())
    assert [[each.name for each in group] for group in groups] == meant


def run(
    knowledge: MemoryKnowledgeBase, question: str, session: ClarificationSession | None = None, **drawn: str
) -> ToolExecutionResult | None:
    llm = ScriptedLlm({"doctor_info": drawn or None})
    return run_tool(DoctorInfoTool, question, llm=llm, knowledge=knowledge, session=session).result


def test_r7_9_a_name_of_several_is_asked_about_with_evidence(doctors: MemoryKnowledgeBase) -> None:
    first = run(doctors, "Mikor rendel Kovács doktor?")
    assert first is not None
    assert first.question is not None
    assert first.question.to_wire() == {
        "questionId": "person",
        "text": "Melyik orvosra gondol?",
        "options": [
            "Kovács András – A sebészetet Dr Kovács András vezeti.",
            "Kovács Ilona – Dr Kovács Ilona kardiológus.",
            "Kovács Péterné – A bőrt Dr Kovács Péterné gyógyítja.",
        ],
        "allowFreeText": False,
    }
    session = ClarificationSession(first.partial_json or "", "person", first.question.options[1])
    second = run(doctors, "Mikor rendel Kovács doktor?", session)
    assert second is not None
    assert second.guaranteed
    assert [each.text for each in second.documents] == [
        "Dr Kovács Ilona kardiológus.",
        "A szívet gyógyítja.",
        "Hétfőn rendel.",
        "Kovács Andrással nem rokona egymásnak.",
    ]


def test_r7_9_father_and_son_are_told_apart_by_what_stands_before_the_name(
    doctors: MemoryKnowledgeBase,
) -> None:
    first = run(doctors, "Mikor rendel Szabó Gergely?")
    assert first is not None
    assert first.question is not None
    assert first.question.options == (
        "id. Szabó Gergely – Id Dr Szabó Gergely belgyógyász.",
        "ifj. Szabó Gergely – Ifj. Dr Szabó Gergely ortopéd.",
    )


@pytest.mark.parametrize(
    ("question", "guaranteed"),
    [("Mikor rendel Tóth doktornő?", True), ("Mikor rendel Kovács András?", False)],
)
def test_r7_9_r5_5_a_name_of_one_is_not_asked_about_and_an_own_page_is_vouched_for(
    doctors: MemoryKnowledgeBase, question: str, guaranteed: bool
) -> None:
    result = run(doctors, question)
    assert result is not None
    assert (result.mode, result.guaranteed) == (ResultMode.CONTEXT, guaranteed)


def test_the_drawn_name_goes_before_the_question(doctors: MemoryKnowledgeBase) -> None:
    result = run(doctors, "Mikor rendel ő?", doctor="Tóth")
    assert result is not None
    assert result.documents[0].text == "Dr Tóth Eszter gyerekeket gyógyít."


def test_r3_2_who_it_is_is_never_drawn() -> None:
    assert list(DoctorInfoTool().request_json_schema()["properties"]) == ["doctor"]


@pytest.mark.parametrize("question", ["Mikor rendel Nagy doktor?", "Mennyibe kerül a parkolás?"])
def test_r3_9_none_for_a_name_that_fits_nobody(doctors: MemoryKnowledgeBase, question: str) -> None:
    assert run(doctors, question) is None


async def test_r7_9_the_user_picks_the_doctor_and_gets_the_hours(
    ask: Callable[..., Awaitable[Any]], clarify: Callable[..., Awaitable[Any]]
) -> None:
    first = await ask("Mikor rendel Kovács doktor?")
    options = first.question["options"]
    assert [option.partition(" – ")[0] for option in options] == KOVACS
    assert options[1] == "Kovács Ilona – Dr. Kovács Ilona a kardiológiai osztály vezetője."
    last = await clarify(first, options[2])
    assert "Rendelés kedd 8.00–14.00 felnőtt bőrgyógyászat szerda 9.00–12.00" in last.text
    assert "hétfőn 9 és 13 óra között" not in last.text
    assert last.outcomes["rag_retrieval"] == "SKIPPED"


async def test_r7_9_with_the_whole_name_nothing_is_asked(ask: Callable[..., Awaitable[Any]]) -> None:
    reply = await ask("Mikor rendel Kovács András?")
    assert not reply.of("INTERACTIVE_QUESTION")
    assert reply.outcomes["doctor_info"] == "CONTEXT"
    assert "hétfőn 9 és 13 óra között" in reply.text
