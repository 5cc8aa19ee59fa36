"""Which sentences tell who somebody is."""

from __future__ import annotations

from typing import Any

import pytest

from retrieval.telling import most_telling


def row(text: str, name: str, language: str = "hu") -> dict[str, Any]:
    start = text.index(name)
    return {"text": text, "language": language, "start": start, "stop": start + len(name)}


@pytest.mark.parametrize(
    ("language", "name", "telling", "others"),
    [
        (
            "hu",
            "Varga",
            "Varga Benedek fia volt a falu kovácsa, úgy mondják.",
            [
                "– Nem láttam én azt, – felelte Varga, a fejét rázva.",
                "Aztán este lett, és Varga is hazament végül.",
            ],
        ),
        (
            "hu",
            "Borbála",
            "Ott ült Borbála, a molnár legkisebb lánya, és hallgatott.",
            ["Borbála, a kezét tördelve, az ajtóig szaladt akkor.", "A kocsit Borbála hajtotta át a hídon."],
        ),
        (
            "hu",
            "Illés",
            "Egyszer csak belépett a bátyja, Illés, és leült közénk.",
            [
                "Tegnap Illés is ott volt a vásárban, meg a többiek.",
                "Amikor Illés végre megjött, mindenki felállt.",
            ],
        ),
        (
            "en",
            "Harrow",
            "They say that Harrow was a captain of the old river fleet.",
            [
                "In the end nobody saw Harrow leave the harbour again.",
                '"I never met Harrow before," the keeper said.',
            ],
        ),
        (
            "en",
            "Mabel",
            "Upstairs sat Mabel, the keeper's niece, with her books.",
            ["Upstairs sat Mabel, looking at the sea, with her books.", "Mabel!"],
        ),
    ],
)
def test_predicates_and_appositions_come_first(
    language: str, name: str, telling: str, others: list[str]
) -> None:
    rows = [row(text, name, language) for text in (*others, telling)]
    assert most_telling(rows)[0][0]["text"] == telling


def test_equal_sentences_stay_in_reading_order() -> None:
    rows = [{**row("Azon a napon senki sem látta Vargát a kútnál.", "Vargát"), "at": at} for at in range(40)]
    assert [each["at"] for each, _ in most_telling(rows)] == list(range(40))


def test_a_language_without_patterns_is_scored_by_place_and_length() -> None:
    assert (
        most_telling([row("Varga ist ein Schmied im Dorfe gewesen, sagt man.", "Varga", "de")])[0][1] == 2.5
    )
