"""Dictionary forms of names and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.name_lemmas import gold_names
from ner.text.lemmas import lemma, name_candidates, name_lemma

INFLECTED = {
    "Gergőnek": "Gergő",
    "Gergőt": "Gergő",
    "Annát": "Anna",
    "Cecének": "Cece",
    "Ceceynek": "Cecey",
    "Jumurdsákot": "Jumurdsák",
    "Jumurdsáknak": "Jumurdsák",
    "Dobóval": "Dobó",
    "Péterrel": "Péter",
    "Damjaniccsal": "Damjanics",
    "Dobó Istvánnal": "Dobó István",
    "Kovács Ilonának": "Kovács Ilona",
    "Kovácsnénak": "Kovácsné",
    "Astrupp Lillianra": "Astrupp Lillian",
    "Raed Arafatnál": "Raed Arafat",
    "Magyarországon": "Magyarország",
    "Egyesült Államokban": "Egyesült Államok",
    "Kolozsvárott": "Kolozsvár",
    "Los Angelesbe": "Los Angeles",
    "Bolognába": "Bologna",
    "AC Milanban": "AC Milan",
    "Európai Unióban": "Európai Unió",
    "Európai Unió Bíróságát": "Európai Unió Bírósága",
    "NATO-ban": "NATO",
    "MTK-s": "MTK",
    "BBC-é": "BBC",
    "Kossuth-díjat": "Kossuth-díj",
    "Szabóék": "Szabó",
    "Bramfellékhez": "Bramfell",
}
BASE = (
    "Éva Mekcsey Jumurdsák Sándor Dobó István Zoltán Kálmán Péter Anna Sára Klára Eger Egerben-völgy Párt Kart "
    "Fiat Korn Borba Orban Törvényszék Budapest Robert Vincent Groningen Havel Morgan Newton Kossuth-díj Róbert Bernát"
).split()


@pytest.mark.parametrize(("surface", "expected"), INFLECTED.items())
def test_the_last_word_of_a_name_loses_its_ending(surface: str, expected: str) -> None:
    assert name_lemma(surface, "hu") == expected


@pytest.mark.parametrize("name", BASE)
def test_a_base_form_is_never_shortened(name: str) -> None:
    assert name_lemma(name, "hu") == name


def test_a_name_that_may_be_either_has_both_forms_as_candidates() -> None:
    assert name_candidates("Lodert", "hu") == ("Lodert", "Loder")
    assert "Zilah" in name_candidates("Zilahon", "hu")
    assert name_candidates("Dobó Istvánnal", "hu")[:2] == ("Dobó Istvánnal", "Dobó István")


def test_an_english_name_loses_its_genitive_alone() -> None:
    names = ["Harrow's", "James’", "Boston", "Austen"]
    assert [name_lemma(name, "en") for name in names] == ["Harrow", "James", "Boston", "Austen"]


def test_a_name_of_a_language_that_is_not_known_stays() -> None:
    assert name_lemma("Gergőnek", "tlh") == "Gergőnek"
    assert lemma("Gergőnek", "") == "Gergőnek"


@pytest.mark.parametrize(
    "odd",
    [
        "",
        " ",
        "-",
        "- -",
        "a",
        "🙂",
        "🙂-nak",
        "\x00",
        "\u202eabc",
        "x" * 100_000,
        "Anna " * 20_000,
        "-ban",
        "1",
        "'s",
    ],
)
def test_odd_input_comes_through(odd: str) -> None:
    for language in ("hu", "en", ""):
        assert isinstance(name_lemma(odd, language), str)
        assert name_candidates(odd, language)[0] == odd
        assert isinstance(lemma(odd, language), str)


def test_words_have_the_dictionarys_form() -> None:
    assert [lemma(word, "hu") for word in ("várakat", "kórházban", "Dobónak")] == ["vár", "kórház", "Dobó"]
    assert lemma("directors", "en") == "director"


@pytest.mark.slow
def test_gold_names_of_nerkor_find_their_lemma(shared_data: Path) -> None:
    names = list(gold_names(shared_data / "hu_ner_nerkor" / "devel.jsonl"))
    right = [name_lemma(surface, "hu").casefold() == gold.casefold() for _, surface, gold in names]
    base = [ok for ok, (_, surface, gold) in zip(right, names, strict=True) if surface == gold]
    assert sum(right) / len(right) > 0.955
    assert sum(base) / len(base) > 0.99
