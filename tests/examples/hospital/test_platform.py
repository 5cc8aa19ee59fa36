"""The hospital's tools in the running platform, over the ingested sample documents, without a model."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pipelines.formats.rich import read_rich

Ask = Callable[..., Awaitable[Any]]


@pytest.mark.parametrize(
    ("question", "department", "told"),
    [
        ("Hol van a kardiológia?", "kardiológia", "a B épület harmadik emeletén van"),
        ("Mi a sebészet telefonszáma?", "sebészet", "+36 99 555 116"),
        ("Ki vezeti a neurológiát?", "neurológia", "Dr. Varga Lajos"),
    ],
)
async def test_a_department_is_routed_and_its_pages_are_quoted(
    ask: Ask, question: str, department: str, told: str
) -> None:
    reply = await ask(question)
    assert reply.outcomes["department_info"] == "CONTEXT"
    assert [event["content"] for event in reply.of("TOOL_PROGRESS:DEPARTMENT_INFO:LOOKING_UP")] == [
        department
    ]
    assert told in reply.text
    (sources,) = reply.of("SOURCES")
    assert told in sources["sources"][0]["text"]


async def test_consulting_hours_are_routed_too(ask: Ask) -> None:
    reply = await ask("Mikor rendel a szemészet?")
    assert reply.outcomes["department_info"] == "CONTEXT"
    (sources,) = reply.of("SOURCES")
    assert "Szemészet | Szent Borbála Kórház" in [each["documentName"] for each in sources["sources"]]


async def test_other_questions_are_left_to_retrieval(ask: Ask) -> None:
    reply = await ask("Mennyibe kerül a parkolás?")
    assert reply.outcomes == {
        "department_info": "SKIPPED",
        "referral_letter": "SKIPPED",
        "visit_simulation": "SKIPPED",
        "clinic_finder": "NONE",
        "doctor_info": "NONE",
        "entity_analysis": "NONE",
        "patient_lookup": "NONE",
        "risk_assessment": "NONE",
        "suggestion": "NONE",
        "rag_retrieval": "CONTEXT",
    }


async def test_r4_6_r5_5_a_patient_is_looked_up_and_then_assessed(ask: Ask) -> None:
    reply = await ask("Mekkora Kőszegi Tünde stroke-kockázata?")
    (trace,) = reply.of("TRACE")
    ran = [entry["tool"] for entry in trace["trace"]["tools"] if entry["outcome"] == "CONTEXT"]
    assert ran == ["patient_lookup", "risk_assessment", "suggestion"]
    assert reply.outcomes["rag_retrieval"] == "SKIPPED"
    assert (
        "Kőszegi Tünde, CHA2DS2-VASc: 4\n+1 magas vérnyomás\n+1 cukorbetegség\n+1 65–74 éves\n+1 nő"
        in reply.text
    )


async def test_r4_8_the_case_is_never_seen_by_the_user(ask: Ask) -> None:
    reply = await ask("Mekkora Kőszegi Tünde stroke-kockázata?")
    assert "Kőszegi Tünde, 72 éves." in reply.text
    assert '"diagnoses"' not in str(reply.events)


async def test_what_the_pages_say_of_the_illness_follows_the_patient(ask: Ask) -> None:
    reply = await ask("Hová forduljon Kőszegi Tünde a cukorbetegségével?")
    assert "Itt kezeljük a cukorbetegség" in reply.text


async def test_r6_3_r4_10_the_risk_can_be_asked_for_by_name(ask: Ask) -> None:
    reply = await ask("?", toolName="risk_assessment", toolParameters={"patient": "Szűcs Lőrinc"})
    assert reply.outcomes == {"risk_assessment": "CONTEXT"}
    assert "Szűcs Lőrinc, CHA2DS2-VASc: 5" in reply.text


async def test_r9_5_the_letter_comes_as_a_pdf_with_hungarian_letters(ask: Ask) -> None:
    reply = await ask("Készíts beutalót Szűcs Lőrincnek a szemészetre!")
    (answer,) = reply.of("ANSWER")
    assert (answer["contentType"], reply.text) == ("BASE64_PDF", "")
    _, _, (page,), _ = read_rich(base64.b64decode(answer["content"]), "letter.pdf")
    for line in ("Címzett: szemészet", "Beteg: Szűcs Lőrinc, 81 éves", "szívelégtelenség (I50)"):
        assert line in page.text


async def test_r9_6_the_simulation_comes_in_segments_and_ends_once(ask: Ask) -> None:
    reply = await ask("Szimuláld egy beteg útját a szemészeten!")
    assert len(reply.of("SEGMENT_BREAK")) == 4
    assert [part.partition(":")[0] for part in reply.text.split("\n\n") if part] == [
        "Érkezés",
        "Betegfelvétel",
        "Az osztály",
        "Vizsgálat",
        "Távozás",
    ]
    assert "az M épület földszintjén található" in reply.text
    statuses = [event["progressStatus"] for event in reply.events]
    assert statuses.count("DONE") == 1
    assert (statuses[-1], reply.outcomes["visit_simulation"]) == ("DONE", "ANSWERED")


@pytest.fixture
def signed_in_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUDASTAR_TOOLS__PATIENT_LOOKUP__SIGNED_IN_ONLY", "true")


async def test_by_the_setting_an_anonymous_user_learns_nothing_of_patients(
    signed_in_only: None, ask: Ask
) -> None:
    reply = await ask("Mekkora Kőszegi Tünde stroke-kockázata?")
    assert (reply.outcomes["patient_lookup"], reply.outcomes["risk_assessment"]) == ("NONE", "NONE")
    assert not (await ask("Készíts beutalót Szűcs Lőrincnek a szemészetre!")).of("ANSWER")
