from __future__ import annotations

import unicodedata

import pytest

from ner.text.clean import clean
from ner.text.sentences import LONGEST_SENTENCE, split_sentences


def split(text: str, language: str = "hu") -> list[str]:
    spans = split_sentences(text, language)
    covered = "".join(text[start:end] for start, end in spans)
    assert "".join(covered.split()) == "".join(text.split())
    assert all(text[start:end].strip() == text[start:end] for start, end in spans)
    return [" ".join(text[start:end].split()) for start, end in spans]


HUNGARIAN = [
    "Dr. Kovács János a Kossuth u. 5. szám alatt rendel. | Id. Szabó Pál nem.",
    "Például pl. a Budapest Kft. is ilyen, stb. | Ez más.",
    "1552. szeptember 9-én kezdődött. | A 2. osztály és a II. emelet. | IV. Béla király volt.",
    "Vö. az 5. cikk (2) bekezdésével. | (3) A Bizottság dönt.",
    "Kb. 20 fő, ill. ennél több, ún. önkéntes jött el.",
    "– Hová mész? – kérdezte. | – Haza! – felelte Gergő. | Elment.",
    "„Nem megyek.” | „De igen!” – szólt rá.",
    "Azt mondta: „Nem megyek!”, és elment.",
    "Várj… | Ki jön? | Nem tudom... talán a török.",
    "J. R. R. Tolkien írta. | Kovács J. Béla fordította.",
    "A fontos (l. fent). | (Zárójeles mondat.) | Vége.",
    "2004. 12. 31. előtt. | 2010-ben is.",
    "A Bartók B. út 3. sz. háza régi.",
    "Kr. e. 500 körül élt.",
    "Született: 1952. 9. 9. | Helye: Eger. | Brüsszel, 2011. szeptember 29. | Közlemény.",
    "Budapest, 1948. | Szeged, 1949. III. 25. | Vége.",
    "I. Bevezetés és célok. | a) Első pont.",
    "Nem baj. | :) Majd lesz. | iPhone is van (!) Kettő.",
]
ENGLISH = [
    "John Sr. goes for a walk.",
    "Operating income incl. JV was SEK 2.1 b. with an operating margin of 4.0%",
    "Open at the office. | (Weekly off on Sunday.)",
    "29 Nov 2021 . | 30 Nov 2021 . | 29 Nov 2021 .",
    "Mr. Holmes met Dr. Watson, e.g. at No. 221 Baker St. in London. | They left.",
    "“Good!” said Holmes. | “Excellent!”",
    "James Mortimer, M.R.C.S., came at 5 p.m. and left. | So did I. | Then he slept.",
    "The U.S. Department of Justice and Fed. R. Bankr. P. 2008. | It ended on Nov. 30.",
    "f. Bankruptcy Fraud was seen. | “Yes.” | “No!”",
    "He said no. | Then he left the U.S. in 1848. | He died.",
]


@pytest.mark.parametrize("marked", HUNGARIAN)
def test_hungarian(marked: str) -> None:
    assert split(marked.replace(" | ", " ")) == marked.split(" | ")


@pytest.mark.parametrize("marked", ENGLISH)
def test_english(marked: str) -> None:
    assert split(marked.replace(" | ", " "), "en") == marked.split(" | ")


@pytest.mark.parametrize("marked", HUNGARIAN)
def test_composed_and_decomposed_text_are_split_alike(marked: str) -> None:
    decomposed = unicodedata.normalize("NFD", marked.replace(" | ", " "))
    assert split(clean(decomposed).text) == marked.split(" | ")


def test_a_paragraph_a_line_is_not_glued() -> None:
    text = "A pap folytatta:\n- Jaj, a szürke!\nKifut a vizből\n- kérdezte halkan.\nVége\n*\nA hold kisütött."
    assert split(text) == [
        "A pap folytatta:",
        "- Jaj, a szürke!",
        "Kifut a vizből",
        "- kérdezte halkan.",
        "Vége",
        "*",
        "A hold kisütött.",
    ]


def test_wrapped_lines_are_not_cut() -> None:
    text = (
        "Mr. Sherlock Holmes, who was usually very late in the mornings, save\n"
        "upon those not infrequent occasions when he was up all night, was seated\n"
        "at the breakfast table with the famous and very learned physician Doctor\n"
        "Watson of Baker Street. I stood upon the hearth-rug and picked up the\n"
        "stick which our visitor had left behind him the night before.\n"
        "\n"
        "THE NEXT DAY\n"
        "It was a fine, thick piece of wood, bulbous-headed, of the sort which\n"
        "is known as a “Penang lawyer.”\n"
    )
    assert split(text, "en") == [
        "Mr. Sherlock Holmes, who was usually very late in the mornings, save upon those not "
        "infrequent occasions when he was up all night, was seated at the breakfast table with the "
        "famous and very learned physician Doctor Watson of Baker Street.",
        "I stood upon the hearth-rug and picked up the stick which our visitor had left behind him "
        "the night before.",
        "THE NEXT DAY",
        "It was a fine, thick piece of wood, bulbous-headed, of the sort which is known as a "
        "“Penang lawyer.”",
    ]


def test_lists_and_headings_stand_alone() -> None:
    text = (
        "Mohácsi Kórház\n\nMegye: Baranya megye\nOsztályok:\n- Sebészet, Szepessy tér 7.\n"
        "- belgyógyászat\n1. Első\n2. Második"
    )
    assert split(text) == [
        "Mohácsi Kórház",
        "Megye: Baranya megye",
        "Osztályok:",
        "- Sebészet, Szepessy tér 7.",
        "- belgyógyászat",
        "1. Első",
        "2. Második",
    ]


def test_a_blank_line_ends_a_sentence_also_without_a_stop() -> None:
    assert split("Első bekezdés\n \nmásodik bekezdés") == ["Első bekezdés", "második bekezdés"]


def test_an_endless_sentence_is_cut_at_clauses() -> None:
    spans = split_sentences("alma, körte és szilva, " * 1000, "hu")
    assert len(spans) > 10
    assert all(end - start <= LONGEST_SENTENCE for start, end in spans)
    assert split("x" * (2 * LONGEST_SENTENCE + 1)) == ["x" * LONGEST_SENTENCE, "x" * LONGEST_SENTENCE, "x"]


def test_four_million_characters_have_right_offsets() -> None:
    sentence = "A fákon ülő madár énekelt 1552. szeptember 9-én. "
    spans = split_sentences(sentence * 80_000, "hu")
    length = len(sentence)
    assert spans == [(at * length, (at + 1) * length - 1) for at in range(80_000)]


@pytest.mark.parametrize("text", ["", " \n\n ", "\t"])
def test_nothing_in_nothing_out(text: str) -> None:
    assert split_sentences(text, "hu") == []
