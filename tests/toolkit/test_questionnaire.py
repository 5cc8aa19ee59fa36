from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, BeforeValidator, Field

from toolkit.clarification import ClarificationSession
from toolkit.contexts import PromptAndContext, ToolContexts
from toolkit.discovery import ToolClass
from toolkit.documents import TextAnswer
from toolkit.errors import LlmRejectedError, PluginLoadError, ToolContractError, ToolParametersError
from toolkit.execution import wait_for
from toolkit.llm.drawing import draw_request
from toolkit.questionnaire import AbstractClarifiableContextConsumerTool, AbstractClarifiableTool
from toolkit.questions import Options, Question
from toolkit.results import ResultMode, ToolExecutionResult
from toolkit.testing.conformance import ClarifiableToolConformance, ContextConsumerToolConformance
from toolkit.testing.harness import run_tool
from toolkit.testing.llm import ScriptedLlm
from toolkit.tool import ALL, ToolCall


class Age(StrEnum):
    ADULT = "ADULT"
    CHILD = "CHILD"
    UNKNOWN = "UNKNOWN"


def known_place(value: object) -> object:
    if isinstance(value, str) and value.casefold() not in ("debrecen", "berettyóújfalu"):
        raise ValueError("no such place")
    return value


class CareRequest(BaseModel):
    age: Age = Age.UNKNOWN
    place: Annotated[str | None, BeforeValidator(known_place)] = None
    weeks: int | None = Field(None, alias="hét", ge=1)


class CareTool(AbstractClarifiableTool[CareRequest]):
    name = "care"
    eligible_system = ALL
    priority = 0
    request_class = CareRequest
    executable_instruction = "care: true if care is looked for; false otherwise"
    questions = (
        Question(
            "age",
            {"magyar": "Kinek keres ellátást?", "angol": "Who is it for?"},
            {
                Age.ADULT: {"magyar": "Felnőtt", "angol": "Adult"},
                Age.CHILD: {"magyar": "Gyermek", "angol": "Child"},
            },
            unknown=(Age.UNKNOWN,),
        ),
        Question(
            "place",
            "Hol?",
            ("Debrecen", "Berettyóújfalu"),
            allow_free_text=True,
            when=lambda request: request.age is Age.ADULT,
        ),
        Question("weeks", "Hány hetes?", when=lambda request: request.age is Age.CHILD),
    )

    async def execute_with_request(self, request: CareRequest, call: ToolCall) -> ToolExecutionResult:
        return ToolExecutionResult.as_guaranteed_context(
            self.name, TextAnswer.as_set(request.model_dump_json())
        )


def begun(tool: ToolClass = CareTool, drawn: Mapping[str, Any] | None = None, **options: Any) -> Any:
    llm = ScriptedLlm({tool.name: drawn or {}})
    return run_tool(tool, "?", llm=llm, **options).result


def resumed(partial: str, question: str, answer: str, tool: ToolClass = CareTool, **options: Any) -> Any:
    session = ClarificationSession(partial, question, answer)
    return run_tool(tool, "?", session=session, **options).result


def text_of(result: ToolExecutionResult | None) -> str | None:
    assert result is not None
    (document,) = result.documents
    return document.text


def test_r7_3_it_asks_in_order_and_works_when_all_is_known() -> None:
    first = begun()
    assert first.mode is ResultMode.NEEDS_CLARIFICATION
    assert first.question.to_wire() == {
        "questionId": "age",
        "text": "Kinek keres ellátást?",
        "options": ["Felnőtt", "Gyermek"],
        "allowFreeText": False,
    }
    assert first.partial_json == '{"age":"UNKNOWN","place":null,"weeks":null}'
    second = resumed(first.partial_json, "age", "Felnőtt")
    assert (second.question.question_id, second.question.allow_free_text) == ("place", True)
    assert second.partial_json == '{"age":"ADULT","place":null,"weeks":null}'
    third = resumed(second.partial_json, "place", "Debrecen")
    assert text_of(third) == '{"age":"ADULT","place":"Debrecen","weeks":null}'
    assert third.guaranteed


def test_r7_8a_nothing_is_asked_that_is_drawn_or_makes_no_sense() -> None:
    assert text_of(begun(drawn={"age": "ADULT", "place": "Debrecen"})) is not None
    assert begun(drawn={"age": "CHILD"}).question.question_id == "weeks"
    assert text_of(begun(drawn={"age": "CHILD", "weeks": 3})) == '{"age":"CHILD","place":null,"weeks":3}'


@pytest.mark.parametrize(
    ("question", "answer", "value"),
    [
        ("age", "Gyermek", '"age":"CHILD"'),
        ("age", " gyermek ", '"age":"CHILD"'),
        ("age", "CHILD", '"age":"UNKNOWN"'),
        ("age", "x", '"age":"UNKNOWN"'),
        ("place", "debrecen", '"place":"Debrecen"'),
        ("place", "berettyóújfalu", '"place":"Berettyóújfalu"'),
        ("place", "Eger", '"place":null'),
        ("weeks", "5", '"weeks":5'),
        ("weeks", "0", '"weeks":null'),
        ("weeks", "öt", '"weeks":null'),
        ("weeks", " ", '"weeks":null'),
    ],
)
def test_r7_2_an_answer_becomes_the_value_of_its_field_or_is_asked_for_again(
    question: str, answer: str, value: str
) -> None:
    age = {"place": "ADULT", "weeks": "CHILD"}.get(question, "UNKNOWN")
    result = resumed(f'{{"age":"{age}"}}', question, answer)
    fits = "null" not in value and "UNKNOWN" not in value
    assert value in (result.partial_json or text_of(result))
    if not fits:
        assert result.question.question_id == question


def test_r3_8_the_question_is_put_in_the_users_language() -> None:
    question = begun(user_lang="angol").question
    assert (question.text, question.options) == ("Who is it for?", ("Adult", "Child"))
    assert begun(user_lang="német").question.text == "Who is it for?"
    result = resumed("{}", "age", "Child", user_lang="angol")
    assert result.question.question_id == "weeks"


def test_r3_9_when_nothing_is_drawn_it_is_not_for_this_tool() -> None:
    assert run_tool(CareTool, "?").result is None
    assert run_tool(CareTool, "?", llm=ScriptedLlm({"care": None})).result is None


def test_an_error_of_the_model_is_raised() -> None:
    with pytest.raises(LlmRejectedError):
        run_tool(CareTool, "?", llm=ScriptedLlm({"care": LlmRejectedError("no")}))


@pytest.mark.parametrize("partial", ["", "{", "[]", '{"age": "OLD"}'])
def test_r7_3_a_broken_partial_request_is_named(partial: str) -> None:
    with pytest.raises(ToolParametersError, match=r"'care' cannot go on.*CareRequest"):
        resumed(partial, "age", "Felnőtt")


def test_r7_3_an_unknown_question_is_named() -> None:
    with pytest.raises(ToolParametersError, match="no question 'sex'; it has age, place, weeks"):
        resumed("{}", "sex", "x")


class Needy(BaseModel):
    age: Age


@pytest.mark.parametrize(
    ("request_class", "field"), [(CareRequest, "sex"), (Needy, "age")], ids=["no field", "no default"]
)
def test_a_question_about_what_cannot_be_missing_is_refused_at_load(
    request_class: type[BaseModel], field: str
) -> None:
    faulty = type(
        "Faulty", (CareTool,), {"request_class": request_class, "questions": (Question(field, "?"),)}
    )
    with pytest.raises(
        PluginLoadError, match=f"asks for '{field}': make it a field of {request_class.__name__}"
    ):
        run_tool(faulty, "?")


def test_an_option_whose_value_does_not_fit_is_the_authors_fault() -> None:
    faulty = type("Faulty", (CareTool,), {"questions": (Question("weeks", "?", {"soon": "Soon", 2: "Two"}),)})
    assert begun(faulty).question.options == ("Soon", "Two")
    with pytest.raises(ToolContractError, match="option for 'soon'"):
        resumed("{}", "weeks", "Soon", faulty)


class PersonRequest(BaseModel):
    name: str | None = None
    person: str | None = None


class PersonTool(AbstractClarifiableTool[PersonRequest]):
    """Options out of data, in plain methods."""

    name = "person"
    eligible_system = ALL
    priority = 0
    request_class = PersonRequest
    executable_instruction = "person: true if somebody is named; false otherwise"
    people = ("Kovács Ilona", "Kovács András", "Tóth Eszter")

    def init(self, services: Any) -> None:
        self.questions = (Question("person", "Kicsoda?", self.named),)
        super().init(services)

    def named(self, request: PersonRequest, call: ToolCall) -> Options:
        assert threading.current_thread() is not threading.main_thread()
        return {each: f"{each}, orvos" for each in self.people if each.startswith(request.name or "?")}

    def execute_with_request(self, request: PersonRequest, call: ToolCall) -> ToolExecutionResult | None:
        again = wait_for(draw_request(self.llm, self, call))
        assert again is not None
        found = TextAnswer.as_set(request.person)
        return ToolExecutionResult.as_context(self.name, found) if request.person else None


class AsyncPersonTool(PersonTool):
    """The same in `async` ones."""

    async def named(self, request: PersonRequest, call: ToolCall) -> Options:  # type: ignore[override]
        await asyncio.sleep(0)
        return [each for each in self.people if each.startswith(request.name or "?")]

    async def execute_with_request(  # type: ignore[override]
        self, request: PersonRequest, call: ToolCall
    ) -> ToolExecutionResult | None:
        found = TextAnswer.as_set(request.person)
        return ToolExecutionResult.as_context(self.name, found) if request.person else None


@pytest.mark.parametrize(
    ("tool", "options"),
    [
        (PersonTool, ("Kovács Ilona, orvos", "Kovács András, orvos")),
        (AsyncPersonTool, ("Kovács Ilona", "Kovács András")),
    ],
)
def test_r7_9_a_name_that_fits_several_is_asked_about(tool: type[PersonTool], options: Sequence[str]) -> None:
    llm = ScriptedLlm({"person": {"name": "Kovács"}})
    first = run_tool(tool, "?", llm=llm).result
    assert first is not None
    assert first.question is not None
    assert first.question.options == options
    second = resumed(first.partial_json or "", "person", options[1], tool, llm=llm)
    assert text_of(second) == "Kovács András"


@pytest.mark.parametrize("tool", [PersonTool, AsyncPersonTool])
def test_r7_9_one_that_fits_one_is_taken_and_one_that_fits_none_is_not_asked_about(
    tool: type[PersonTool],
) -> None:
    assert text_of(begun(tool, {"name": "Tóth"})) == "Tóth Eszter"
    assert begun(tool, {"name": "Nagy"}) is None


def test_r7_9_data_that_changed_meanwhile_is_asked_about_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = begun(AsyncPersonTool, {"name": "Kovács"})
    monkeypatch.setattr(AsyncPersonTool, "people", ("Kovács Ilona", "Kovács Béla"))
    again = resumed(first.partial_json, "person", "Kovács András", AsyncPersonTool)
    assert again.question.options == ("Kovács Ilona", "Kovács Béla")


class ChoiceRequest(BaseModel):
    document: str | None = None


class ChoiceTool(AbstractClarifiableContextConsumerTool[ChoiceRequest]):
    name = "choice"
    eligible_system = ALL
    priority = 10
    request_class = ChoiceRequest
    executable_instruction = "choice: true if a document is meant; false otherwise"

    def init(self, services: Any) -> None:
        self.questions = (Question("document", "Melyik?", self.found),)
        super().init(services)

    async def draw(self, call: ToolCall) -> ChoiceRequest:
        return ChoiceRequest()

    def found(self, request: ChoiceRequest, call: ToolCall, prior_tool_contexts: ToolContexts) -> Options:
        entries = [entry for entries in prior_tool_contexts.values() for entry in entries]
        return [each.text or "" for entry in entries for each in entry.context]

    def execute_with_request(
        self, request: ChoiceRequest, call: ToolCall, prior_tool_contexts: ToolContexts
    ) -> ToolExecutionResult | None:
        count = len(self.found(request, call, prior_tool_contexts))
        found = TextAnswer.as_set(f"{request.document} of {count}")
        return ToolExecutionResult.as_context(self.name, found) if request.document else None


def test_r7_7_a_context_consumer_asks_out_of_the_contexts_and_is_resumed_with_them() -> None:
    contexts = {"1:a": [PromptAndContext("?", (TextAnswer.of("Egy"), TextAnswer.of("Kettő")))]}
    first = begun(ChoiceTool, contexts=contexts)
    assert first.question.options == ("Egy", "Kettő")
    second = resumed(first.partial_json, "document", "Kettő", ChoiceTool, contexts=contexts)
    assert text_of(second) == "Kettő of 2"
    assert begun(ChoiceTool) is None


class TestCareConformance(ClarifiableToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return CareTool

    @pytest.fixture
    def llm(self) -> ScriptedLlm:
        return ScriptedLlm({"care": {}})


class TestPersonConformance(ClarifiableToolConformance):
    @pytest.fixture(params=[PersonTool, AsyncPersonTool])
    def tool_class(self, request: pytest.FixtureRequest) -> ToolClass:
        tool: ToolClass = request.param
        return tool

    @pytest.fixture
    def llm(self) -> ScriptedLlm:
        return ScriptedLlm({"person": {"name": "Kovács"}})


class TestChoiceConformance(ContextConsumerToolConformance, ClarifiableToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return ChoiceTool
