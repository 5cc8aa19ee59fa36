"""What each of the hospital's tools gives back, by itself."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from toolkit.contexts import PromptAndContext, ToolContexts
from toolkit.documents import InternalContextDocument, TextAnswer
from toolkit.emitter import LLM_GENERATION, SEGMENT_BREAK, ProgressEvent
from toolkit.results import ResultMode, ToolExecutionResult
from toolkit.testing.harness import ToolHarness, run_tool
from toolkit.testing.knowledge import MemoryKnowledgeBase
from toolkit.testing.llm import ScriptedLlm
from toolkit.tool import ToolCall
from tudastar_hospital.department_info import DepartmentInfoTool
from tudastar_hospital.patient_lookup import PatientLookupTool
from tudastar_hospital.patients import Patient, load_patients
from tudastar_hospital.referral_letter import ReferralLetterTool
from tudastar_hospital.risk_assessment import RiskAssessmentTool
from tudastar_hospital.stroke_risk import counted_items
from tudastar_hospital.suggestion import SuggestionTool
from tudastar_hospital.visit_simulation import VisitSimulationTool

Texts = Callable[[ToolExecutionResult | None], list[tuple[str, str, str | None]]]

ORI = "Őri Gergő, 58 éves. Diagnózisok: pitvarfibrilláció (I48). Gyógyszerek: bizoprolol 5 mg. Labor: TSH 1.9 mU/l."


def case(name: str) -> Patient:
    return next(each for each in load_patients() if each.name == name)


def handed_on(*names: str) -> tuple[PromptAndContext, ...]:
    """What the look-up gives for those patients."""
    cases = [InternalContextDocument.of(case(name).model_dump_json()) for name in names]
    return (PromptAndContext("?", (TextAnswer.of("summary"), *cases)),)


def test_a_department_is_looked_up_on_its_own_pages(pages: MemoryKnowledgeBase) -> None:
    llm = ScriptedLlm({"department_info": {"department": "SZEMESZET", "asked": "place"}})
    run = run_tool(DepartmentInfoTool, "Hol a szemészet?", llm=llm, knowledge=pages)
    store = pages.open("hospital")
    document = store.search("szemészet épület", limit=1)[0]
    assert run.result == ToolExecutionResult.as_context(
        "department_info", store.page(document.document_id, document.page)
    )
    best = max(run.result.documents, key=lambda each: each.sentence_score)
    assert best.text == "A szemészet az M épület földszintjén van."
    assert run.emitter.events == [
        ProgressEvent("TOOL_PROGRESS:DEPARTMENT_INFO:READING_QUESTION"),
        ProgressEvent("TOOL_PROGRESS:DEPARTMENT_INFO:LOOKING_UP", "SZEMESZET"),
    ]


@pytest.mark.parametrize("parameters", [None, {"department": None}, {"department": "urológia"}])
def test_r3_9_no_department_or_an_unknown_one_gives_none(
    pages: MemoryKnowledgeBase, parameters: dict[str, Any] | None
) -> None:
    llm = ScriptedLlm({"department_info": parameters})
    assert run_tool(DepartmentInfoTool, "?", llm=llm, knowledge=pages).result is None


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Milyen gyógyszert szed Őri Gergő?", "Őri Gergő"),
        ("Mi a baja Ori Gergonek?", "Őri Gergő"),
        ("Add ide Fűzi Boldizsárral kapcsolatban!", "Fűzi Boldizsár"),
        ("Kőszegi Tündétől mit vettek le?", "Kőszegi Tünde"),
        ("Kőszegi Tündérkert", None),
        ("Dr. Kovács Ilona", None),
    ],
)
def test_a_patient_is_found_by_the_name_in_any_form(question: str, name: str | None) -> None:
    assert [each.name for each in load_patients() if each.is_named_in(question)] == ([name] if name else [])


def test_r4_8_the_summary_is_for_the_answer_and_the_case_for_other_tools(texts: Texts) -> None:
    result = run_tool(PatientLookupTool, "Ki az az Őri Gergő?").result
    assert texts(result) == [
        ("TextAnswer", "Őri Gergő", ORI),
        ("InternalContextDocument", "Őri Gergő", case("Őri Gergő").model_dump_json()),
    ]
    assert result is not None
    assert result.guaranteed
    assert [each.text for each in result.public_documents] == [ORI]


def test_the_drawn_name_goes_before_the_question_and_the_language_is_kept(texts: Texts) -> None:
    llm = ScriptedLlm({"patient_lookup": {"patient": "Bükki Örs"}})
    (summary, _) = texts(run_tool(PatientLookupTool, "Őri Gergő?", llm=llm, user_lang="angol").result)
    assert summary[2] == (
        "Bükki Örs, aged 45. Diagnoses: epekő (K80). Medicines: drotaverin 40 mg. Lab values: bilirubin 21 µmol/l."
    )


@pytest.mark.parametrize(
    ("signed_in_only", "user_data", "found"),
    [("true", None, False), (True, None, False), (True, {"id": 1}, True), ("false", None, True)],
)
def test_by_a_setting_patients_are_for_signed_in_users(
    signed_in_only: bool | str, user_data: dict[str, Any] | None, found: bool
) -> None:
    settings = {"patient_lookup": {"signed_in_only": signed_in_only}}
    run = run_tool(PatientLookupTool, "Őri Gergő?", settings=settings, user_data=user_data)
    assert (run.result is not None) is found


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("Őri Gergő", {}),
        ("Kőszegi Tünde", {"hypertension": 1, "diabetes": 1, "aged 65 to 74": 1, "female": 1}),
        ("Szűcs Lőrinc", {"heart failure": 1, "aged 75 or more": 2, "stroke, TIA or embolism": 2}),
        ("Tűr Hedvig", {"hypertension": 1, "aged 75 or more": 2, "vascular disease": 1, "female": 1}),
    ],
)
def test_the_score_shows_what_counted(name: str, points: dict[str, int]) -> None:
    assert {item.angol: item.points for item in counted_items(case(name))} == points


def test_r4_7_the_risk_is_computed_from_what_the_lookup_found(texts: Texts) -> None:
    contexts: ToolContexts = {"patient_lookup": handed_on("Szűcs Lőrinc", "Győri Emőke")}
    run = run_tool(RiskAssessmentTool, "?", others=[PatientLookupTool], contexts=contexts)
    report = (
        "Szűcs Lőrinc, CHA2DS2-VASc: 5\n+1 szívelégtelenség\n+2 legalább 75 éves\n+2 stroke, TIA vagy embólia"
    )
    assert texts(run.result) == [("TextAnswer", "CHA2DS2-VASc", report)]
    assert run.result is not None
    assert run.result.guaranteed


@pytest.mark.parametrize("contexts", [{}, {"patient_lookup": ()}, {"patient_lookup": handed_on("Bükki Örs")}])
def test_r4_7_without_a_fitting_case_there_is_no_risk(contexts: ToolContexts) -> None:
    run = run_tool(RiskAssessmentTool, "Mekkora a kockázat?", others=[PatientLookupTool], contexts=contexts)
    assert run.result is None


def test_r6_3_r4_7_started_without_contexts_it_calls_the_lookup_itself(texts: Texts) -> None:
    llm = ScriptedLlm({"risk_assessment": {"patient": "Őri Gergő"}})
    run = run_tool(RiskAssessmentTool, "?", llm=llm, others=[PatientLookupTool])
    assert texts(run.result) == [("TextAnswer", "CHA2DS2-VASc", "Őri Gergő, CHA2DS2-VASc: 0")]
    with ToolHarness(PatientLookupTool, RiskAssessmentTool) as harness:
        result = harness.tool(RiskAssessmentTool).execute_with_result(ToolCall("Őri Gergőé?", "hospital"))
        assert isinstance(result, Awaitable)
        assert texts(asyncio.run(result)) == texts(run.result)


def test_r4_5_suggestions_come_from_the_cases_of_all_sub_queries(pages: MemoryKnowledgeBase) -> None:
    contexts: ToolContexts = {
        "1:patient_lookup": handed_on("Csűry Zalán"),
        "2:patient_lookup": handed_on("Kőszegi Tünde"),
        "1:entity_analysis": (PromptAndContext("?", (TextAnswer.of("szemészet"),)),),
    }
    run = run_tool(SuggestionTool, "?", knowledge=pages, contexts=contexts)
    found = pages.open("hospital").search("cukorbetegség", limit=1)
    assert run.result == ToolExecutionResult.as_context("suggestion", found)
    assert [each.text for each in found] == ["A cukorbetegség gondozása a B épületben folyik."]


def test_r4_5_without_a_patient_nothing_is_suggested(pages: MemoryKnowledgeBase) -> None:
    assert run_tool(SuggestionTool, "?", knowledge=pages).result is None


LETTER = {"referral_letter": {"patient": "Szűcs Lőrinc", "department": "szemészet"}}


def test_r9_5_the_letter_is_an_answer_with_a_content_type(pages: MemoryKnowledgeBase) -> None:
    others = [PatientLookupTool, DepartmentInfoTool]
    runs = [
        run_tool(ReferralLetterTool, "?", llm=ScriptedLlm(LETTER), knowledge=pages, others=others).result
        for _ in range(2)
    ]
    assert [(each.mode, each.content_type) for each in runs if each] == [
        (ResultMode.ANSWER, "BASE64_PDF")
    ] * 2
    first, second = (each.answer_text for each in runs if each)
    assert first == second
    assert base64.b64decode(first, validate=True).startswith(b"%PDF-")


@pytest.mark.parametrize(
    ("question", "department"),
    [
        ("Küldd a szemészetre!", "szemészet"),
        ("Küldd Őri Gergőt!", None),
        ("Küldd Őri Gergőt!", "urológia"),
        ("Küldd Őri Gergőt és Bükki Örsöt!", "szemészet"),
    ],
)
def test_r3_9_a_letter_needs_one_patient_and_a_department(
    pages: MemoryKnowledgeBase, question: str, department: str | None
) -> None:
    llm = ScriptedLlm({"referral_letter": {"department": department}})
    others = [PatientLookupTool, DepartmentInfoTool]
    assert run_tool(ReferralLetterTool, question, llm=llm, knowledge=pages, others=others).result is None


def test_r9_6_the_simulation_streams_segments_and_hands_on_the_whole(pages: MemoryKnowledgeBase) -> None:
    llm = ScriptedLlm({"visit_simulation": {"department": "szemészet"}})
    run = run_tool(VisitSimulationTool, "?", llm=llm, knowledge=pages)
    segments = [
        "Érkezés: A parkolás díjtalan. A busz a kapu előtt áll meg.\n\n",
        "Az osztály: A szemészet az M épület földszintjén van. Péntekenként rendel.\n\n",
        "Vizsgálat: Nincs beutaló.\n\n",
    ]
    assert run.result == ToolExecutionResult.as_answered("visit_simulation")
    assert run.emitter.segments == segments
    assert set(run.emitter.statuses) == {LLM_GENERATION, SEGMENT_BREAK}
    assert run.emitter.statuses.count(SEGMENT_BREAK) == len(segments) - 1
    assert run.callback.responses == [("visit_simulation", "".join(segments))]


def test_r3_9_without_a_department_nothing_is_simulated(pages: MemoryKnowledgeBase) -> None:
    run = run_tool(VisitSimulationTool, "?", knowledge=pages)
    assert (run.result, run.emitter.events, run.callback.responses) == (None, [], [])
