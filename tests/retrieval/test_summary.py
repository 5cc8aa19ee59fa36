from __future__ import annotations

import pytest

from retrieval.summary import central_sentences

PAGE = [
    "– A malom, a malom, a malom!",
    "A malom a patak partján állt.",
    "Igen.",
    "A molnár a malom kerekét javította a patak fölött.",
    "Az udvaron egy kutya aludt a napon.",
]


def test_the_sentences_with_the_most_frequent_words_come_first() -> None:
    assert central_sentences(PAGE, "hu", 2) == [1, 3]


def test_what_was_said_counts_less_in_the_next_choice() -> None:
    twice = [
        "A malom kereke forog a patakon.",
        "A malom kerekei forogtak a patakon.",
        "A kutya aludt az udvar napos kövén.",
    ]
    assert central_sentences(twice, "hu", 2) == [0, 2]


@pytest.mark.parametrize(
    ("texts", "chosen"),
    [([], []), (["", "…"], []), (["Igen.", "– Nem megyek."], [1]), (["– Egy kis malom állt ott."], [0])],
)
def test_where_there_is_nothing_better_short_ones_and_speech_are_taken(
    texts: list[str], chosen: list[int]
) -> None:
    assert sorted(central_sentences(texts, "hu", 3)) == chosen
