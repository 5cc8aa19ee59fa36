from __future__ import annotations

import pytest

from ner.text.language import detect_language


@pytest.mark.parametrize(
    "text",
    [
        "Ki az a Jumurdsák?",
        "Mit csinál Dobó az ostrom alatt?",
        "hol van a korhaz",
        "mikor nyit a sebeszet",
        "nyitvatartás Mohács",
        "Kórházi osztályok telephelyei",
    ],
)
def test_hungarian(text: str) -> None:
    assert detect_language(text, default="en") == "hu"


@pytest.mark.parametrize(
    "text",
    [
        "Who is Jumurdzsák?",
        "where is the hospital",
        "opening hours surgery",
        "What does Dobó do during the siege?",
        "A tale of two cities",
    ],
)
def test_english(text: str) -> None:
    assert detect_language(text) == "en"


@pytest.mark.parametrize("text", ["", "   ", "1234 56", "🙂"])
def test_nothing_to_go_by_gives_the_default(text: str) -> None:
    assert detect_language(text) == "hu"
    assert detect_language(text, default="en") == "en"


def test_a_single_candidate_needs_no_look() -> None:
    assert detect_language("Where is the hospital?", ("hu",), "hu") == "hu"


def test_a_long_text_is_judged_by_samples_of_all_of_it() -> None:
    english = "The old man and the sea were there before us. "
    hungarian = "A gyerek a patakban fürdött és nem látta a törököt. "
    assert detect_language(english * 30 + hungarian * 1000) == "hu"
    assert detect_language(hungarian * 30 + english * 1000) == "en"
