from __future__ import annotations

import unicodedata

import pytest

from ner.text.clean import clean
from ner.text.tokens import fold, tokenize, words


def pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in tokenize(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A Kossuth-díj 3,5 millió.", ["A", "Kossuth-díj", "3,5", "millió", "."]),
        ("Dr. Kovács 2. o'clock R&D", ["Dr", ".", "Kovács", "2", ".", "o'clock", "R&D"]),
        ("2021.11.29-én 10:30-kor", ["2021.11.29-én", "10:30-kor"]),
        ("„Jaj!” – kérdezte", ["„", "Jaj", "!", "”", "–", "kérdezte"]),
        ("a_b #x 5%", ["a", "_", "b", "#", "x", "5", "%"]),
        ("SR-2023-052", ["SR-2023-052"]),
        ("", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_unicode_hyphens_and_spaces_make_no_difference() -> None:
    assert pieces(clean("1‐2\u00a0és").text) == pieces("1-2 és") == ["1-2", "és"]


def test_words_are_tokens_with_letters_or_digits() -> None:
    assert words("„Jaj, 2 szürke!”") == ["Jaj", "2", "szürke"]


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("KŐRÖS", "koros"),
        ("kór", "kor"),
        ("ŐRSÉG ½", "orseg ½"),
        ("Straße Łódź", "strasse lodz"),
        ("plain", "plain"),
    ],
)
def test_fold_is_blind_to_case_and_accents(text: str, folded: str) -> None:
    assert fold(text) == folded
    assert fold(unicodedata.normalize("NFD", text)) == folded
