from __future__ import annotations

from typing import Any

import pytest

from toolkit.clarification import ClarifyingQuestion

AGES = ("Felnőtt", "Gyermek", "Mindkettő érdekel")


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ("Felnőtt", True),
        ("  Mindkettő érdekel\n", True),
        ("felnőtt", False),
        ("Felnőttek", False),
        ("", False),
        ("  ", False),
    ],
)
def test_r7_2_with_options_and_no_free_text_only_an_option_is_accepted(answer: str, accepted: bool) -> None:
    assert ClarifyingQuestion("age", "Kinek?", AGES).accepts(answer) is accepted


def test_r7_2_free_text_beside_options() -> None:
    question = ClarifyingQuestion("place", "Hol?", ("Debrecen",), allow_free_text=True)
    assert question.accepts("Berettyóújfalu")
    assert not question.accepts(" ")


def test_r7_2_no_options_means_free_text() -> None:
    question = ClarifyingQuestion("place", "Hol?")
    assert question.allow_free_text
    assert question.accepts("Eger")


def test_r7_3_the_wire_form() -> None:
    question = ClarifyingQuestion("adultOrChild", "Kinek?", list(AGES))  # type: ignore[arg-type]
    assert question.to_wire() == {
        "questionId": "adultOrChild",
        "text": "Kinek?",
        "options": ["Felnőtt", "Gyermek", "Mindkettő érdekel"],
        "allowFreeText": False,
    }


@pytest.mark.parametrize(
    "parts",
    [
        {"question_id": ""},
        {"text": " "},
        {"options": ("Felnőtt", " ")},
        {"options": "Felnőtt"},
    ],
)
def test_a_question_that_cannot_be_shown_is_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="question"):
        ClarifyingQuestion(**{"question_id": "age", "text": "Kinek?", "options": AGES, **parts})
