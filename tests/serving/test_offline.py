"""The offline assistant: words, routing, extraction, gate, quotes."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Any

import pytest
from pydantic import BaseModel, Field

from serving.answering import AnswerTask
from serving.judging import Settled
from serving.offline.assistant import OfflineAssistant
from serving.offline.judge import OfflineJudge
from serving.offline.quotes import QuoteAnswerer, best_sources
from serving.offline.words import content_words, covered_words, text_keys
from serving.prompt import number_sources
from serving.trace import Trace
from toolkit.documents import TextAnswer, UniqueTextDocument
from toolkit.errors import LlmOutputError
from toolkit.results import ToolExecutionResult
from toolkit.tool import ChatbotTool, ToolCall

HU = Settled("hu", ())


def sentences(*texts: str, score: float = 1.0) -> list[UniqueTextDocument]:
    return [UniqueTextDocument(1, "Könyv", None, 4, at, text, score) for at, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("Ki az a Jumurdsák?", "hu", ["Jumurdsák"]),
        ("Mit csinál Dobó az ostrom alatt?", "hu", ["Dobó", "ostrom"]),
        ("MIKOR rendel a kardiologia? A KARDIOLÓGIA!", "hu", ["rendel", "kardiologia"]),
        ("What is the visiting time on May 3?", "en", ["visiting", "time", "3"]),
        ("Hol?", "hu", []),
    ],
)
def test_content_words(question: str, language: str, expected: list[str]) -> None:
    assert content_words(question, language) == expected


@pytest.mark.parametrize(
    ("word", "text", "language"),
    [
        ("Dobó", "Ekkor Dobónak szóltak.", "hu"),
        ("kardiológia", "a kardiológián rendel", "hu"),
        ("víz", "viz", "hu"),
        ("rendelés", "rendelési idő", "hu"),
        ("visits", "a visit", "en"),
        ("10:30", "10:30-kor", "hu"),
    ],
)
def test_forms_of_a_word_are_found(word: str, text: str, language: str) -> None:
    keys = text_keys(text.replace("-kor", " kor"), language)
    assert covered_words([word], keys, language) == [word]


@pytest.mark.parametrize(("word", "text"), [("Éva", "Ádám elment."), ("ostrom", "osztrák"), ("12", "123")])
def test_other_words_are_not(word: str, text: str) -> None:
    assert covered_words([word], text_keys(text, "hu"), "hu") == []


async def test_r3_8_language_and_important_words() -> None:
    judge = OfflineJudge()
    assert await judge.settle("Ki az a Jumurdsák?", None) == Settled("hu", ("Jumurdsák",))
    assert await judge.settle("Who is Captain Harrow?", None) == Settled("en", ("Captain", "Harrow"))
    assert (await judge.settle("Who is Captain Harrow?", "hu")).language == "hu"


async def test_r5_4_the_gate_wants_all_content_words_in_three_texts() -> None:
    judge = OfflineJudge()
    full = [f"Dobó az ostrom {at}. napján a falon állt." for at in (1, 2, 3)]
    apart = ["Dobó a falon állt.", "Az ostrom véget ért."]
    question = "Mit csinál Dobó az ostrom alatt?"
    assert (await judge.suffices(question, sentences(*full), HU)).suffices
    verdict = await judge.suffices(question, sentences(*full[:2], *apart), HU)
    reason = "texts that hold every content word of the question: 2"
    assert (verdict.suffices, verdict.reason) == (False, reason)
    assert not (await judge.suffices("Hol?", sentences(*full), HU)).suffices


def task(question: str, documents: list[UniqueTextDocument], language: str = "hu", **more: Any) -> AnswerTask:
    return AnswerTask(question, Settled(language, ()), number_sources(documents), **more)


async def said(given: AnswerTask) -> tuple[str, list[int]]:
    pieces: list[str] = []

    async def say(piece: str) -> None:
        pieces.append(piece)

    sources = await QuoteAnswerer().answer(given, say, Trace())
    return "".join(pieces), [source.document.sentence_number for source in sources]


def test_what_a_tool_vouches_for_goes_before_what_fits_better() -> None:
    documents = sentences("Dobó hétfőn rendel Egerben.", "Az ifjabb Dobó kedden rendel.", "Kedden zárva.")
    given = task("Mikor rendel Dobó Egerben?", documents, vouched=frozenset({2, 3}))
    assert [source.number for source in best_sources(given)] == [2, 3, 1]


async def test_r8_3_quotes_are_verbatim_with_number_name_page_and_sentence_counted_from_one() -> None:
    documents = sentences("Esett az eső.", "Dobó  a falon\nállt az ostromkor.", "Dobó evett.")
    text, numbers = await said(task("Mit csinált Dobó az ostromkor?", documents))
    assert text == (
        "A tudástár alapján, szó szerint idézve:\n\n"
        "„Dobó  a falon\nállt az ostromkor.” [1]\n— Könyv, 5. oldal, 2. mondat\n\n"
        "„Dobó evett.” [2]\n— Könyv, 5. oldal, 3. mondat"
    )
    assert numbers == [1, 2]


async def test_a_summary_and_a_tools_own_text_are_named_as_such() -> None:
    summary = UniqueTextDocument(1, "Könyv", None, 0, -1, "Dobó védi a várat.", 1.0)
    text, _ = await said(task("Ki Dobó?", [summary, TextAnswer.of("Dobó (PER)", "Dobó")]))
    assert "„Dobó védi a várat.” [1]\n— Könyv, 1. oldal, összefoglaló" in text
    assert "Dobó (PER) [2]\n— Dobó, a tudástár összesítése" in text


def test_three_to_six_quotes_each_text_once() -> None:
    many = sentences(*[f"Dobó {at}. napja." for at in range(20)], "Dobó 3. napja.")
    found = best_sources(task("Mit tett Dobó?", many))
    assert len(found) == 6
    assert len({source.document.text for source in found}) == 6


def test_rare_words_count_more_and_every_word_is_heard() -> None:
    texts = [f"Dobó a várban járt {at}." for at in range(8)]
    documents = sentences(*texts, "A lőpor felrobbant.", "Esett.")
    found = best_sources(task("Mi lett Dobó lőporával?", documents))
    assert found[0].document.text == "A lőpor felrobbant."


def test_nothing_is_quoted_that_has_little_to_do_with_the_question() -> None:
    documents = sentences("A hétfői nap hosszú.", "Kedden esett.")
    assert best_sources(task("Mekkora a kvantumszámítógép memóriája hétfőn?", documents)) == []


def test_what_a_tool_vouches_for_is_quoted_whatever_its_words() -> None:
    given = task("Mikor nyit?", sentences("H–P 8–16"), vouched=frozenset({1}))
    assert [source.document.text for source in best_sources(given)] == ["H–P 8–16"]


class Age(StrEnum):
    ADULT = "ADULT"
    CHILD = "CHILD"


class Place(BaseModel):
    town: str | None = Field(None, description='pl. "Debrecen", "Berettyóújfalu"')
    floor: int | None = None


class ClinicRequest(BaseModel):
    age: Age | None = Field(None, description="ADULT = felnőtt, CHILD = gyermek")
    clinic: str | None = None
    day: dt.date | None = None
    place: Place | None = None
    urgent: bool | None = None
    ages: list[Age] | None = Field(None, description="ADULT: felnőtt; CHILD: gyermek")


class ClinicTool(ChatbotTool[ClinicRequest]):
    name = "clinic"
    request_class = ClinicRequest
    instruction = 'clinic: a szakrendelés neve (pl. "kardiológia", "bőrgyógyászat").'
    executable_instruction = (
        "clinic: Szakrendelést keres?\n- true, ha rendelőt keres\n- false, ha ebédet rendelne"
    )

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        return None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Gyermek kardiológiát keresek Debrecenben 2026.05.03-án!",
            {"age": "CHILD", "clinic": "kardiológia", "day": "2026-05-03", "place": "Debrecen", "ages": ["CHILD"]},
        ),
        (
            "Bőrgyógyászat felnőtteknek, urgent",
            {"age": "ADULT", "clinic": "bőrgyógyászat", "urgent": True, "ages": ["ADULT"]},
        ),
        ("Floor 3?", {"floor": 3}),
        ("Jó napot!", None),
    ],
)  # fmt: skip
async def test_r3_5_parameters_are_extracted_by_matching(
    question: str, expected: dict[str, Any] | None
) -> None:
    found = await OfflineAssistant().generate_tool_request(question, "Mit keres? %s %s", None, ClinicTool())
    if expected is None:
        assert found == {"clinic": None}
        return
    request = ClinicRequest.model_validate(found["clinic"])
    dumped = request.model_dump(mode="json", exclude_none=True)
    place = dumped.pop("place", {})
    if "town" in place:
        dumped["place"] = place["town"]
    if "floor" in place:
        dumped["floor"] = place["floor"]
    assert dumped == expected


async def test_r3_5_an_apostrophe_is_no_quotation_mark() -> None:
    class Apostrophe(ClinicTool):
        instruction = "clinic: the patient's clinic and doctor's room, as 'kardiológia' or 'bőrgyógyászat'."

    found = await OfflineAssistant().generate_tool_request("Hol a bőrgyógyászat?", "%s%s", None, Apostrophe())
    assert (found["clinic"] or {}).get("clinic") == "bőrgyógyászat"


async def test_r3_3_routing_matches_the_description_but_not_its_negative_part() -> None:
    judge = OfflineJudge()
    assert await judge.needed_tools("Melyik szakrendelést keressem?", [ClinicTool()], HU) == ["clinic"]
    assert await judge.needed_tools("Milyen ebédet adnak?", [ClinicTool()], HU) == []


async def test_generate_text_quotes_and_json_that_names_nothing_is_a_typed_error() -> None:
    assistant = OfflineAssistant()
    text = await assistant.generate_text("Ki Dobó?\nDobó a kapitány. Esett. Dobót szerették.", "")
    assert text.splitlines()[:2] == ["A tudástár alapján, szó szerint idézve:", "Dobó a kapitány."]
    with pytest.raises(LlmOutputError, match="TUDASTAR_LLM__BASE_URL"):
        await assistant.generate_json("Jó napot!", "", ClinicTool().request_json_schema())
    stream: AsyncIterator[str] = assistant.stream_text("Who is it?\nIt is Harrow.", "")
    assert (await anext(stream)).startswith("Quoted word for word")
