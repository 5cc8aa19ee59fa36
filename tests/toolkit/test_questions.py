from __future__ import annotations

import pytest
from pydantic import BaseModel

from toolkit.documents import TextAnswer
from toolkit.questions import Question, in_language, with_evidence, with_value


class Stay(BaseModel):
    nights: int | None = None
    room: str | None = None


@pytest.mark.parametrize(("room", "open_"), [(None, True), (" ", True), ("?", True), ("12", False)])
def test_r7_8a_a_question_is_open_while_its_field_is_missing(room: str | None, open_: bool) -> None:
    assert Question("room", "Which?", unknown=("?",)).is_open(Stay(room=room)) is open_


def test_r7_8a_a_question_is_open_only_where_it_makes_sense() -> None:
    question = Question("room", "Which?", when=lambda stay: stay.nights is not None)
    assert not question.is_open(Stay())
    assert question.is_open(Stay(nights=2))


async def test_r7_9_free_text_is_taken_beside_computed_options() -> None:
    question = Question("room", "Which?", lambda stay: ["12", "14"], allow_free_text=True)
    _, asked = await question.put(Stay(), "angol")
    assert asked is not None
    assert (asked.options, asked.allow_free_text) == (("12", "14"), True)
    assert (await question.answered(Stay(), "13", "angol")).room == "13"


async def test_r7_9_of_two_options_with_one_text_the_first_counts() -> None:
    question = Question("nights", "How long?", lambda stay: {1: "short", 2: "short", 9: "long"})
    _, asked = await question.put(Stay(), "angol")
    assert asked is not None
    assert asked.options == ("short", "long")
    assert (await question.answered(Stay(), "short", "angol")).nights == 1


async def test_r7_9_an_answer_to_computed_options_is_one_of_them() -> None:
    question = Question("room", "Which?", lambda stay: [])
    assert (await question.answered(Stay(), "13", "angol")).room is None


def test_r3_8_a_text_without_the_users_language() -> None:
    assert in_language({"magyar": "igen", "angol": "yes"}, "német") == "yes"
    assert in_language({"magyar": "igen"}, "német") == "igen"
    with pytest.raises(ValueError, match="at least one language"):
        in_language({}, "német")


def test_a_value_is_validated_and_the_rest_is_kept() -> None:
    assert with_value(Stay(room="12"), "nights", "3") == Stay(room="12", nights=3)


def test_r7_9_evidence_is_shortened_between_words() -> None:
    assert with_evidence("Cecey", []) == "Cecey"
    assert (
        with_evidence("Cecey", [TextAnswer.of("Egy\n  vitéz."), TextAnswer.of("x")]) == "Cecey – Egy vitéz."
    )
    long = with_evidence("Cecey", [TextAnswer.of("vitéz " * 50)])
    assert long == f"Cecey – {'vitéz ' * 26}…"
