from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, BeforeValidator, Field

from toolkit.clarification import ClarificationSession
from toolkit.discovery import ToolClass
from toolkit.documents import TextAnswer
from toolkit.errors import LlmRejectedError, PluginLoadError, ToolContractError, ToolParametersError
from toolkit.questionnaire import AbstractClarifiableTool
from toolkit.questions import Question
from toolkit.results import ResultMode, ToolExecutionResult
from toolkit.testing.conformance import ClarifiableToolConformance
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


class TestCareConformance(ClarifiableToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return CareTool

    @pytest.fixture
    def llm(self) -> ScriptedLlm:
        return ScriptedLlm({"care": {}})
