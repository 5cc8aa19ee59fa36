from __future__ import annotations

import random
import time
import unicodedata

import pytest

from ner.text.clean import clean


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("Oﬃce", "Office"),
        ("megvize\u00adse\u00addett", "megvizesedett"),
        ("vize\u00ad\nsedett", "vizesedett"),
        ("meg-\nint", "megint"),
        ("meg‐ \n  int", "megint"),
        ("Magyar-\nország", "Magyarország"),
        ("1‐2\u00a0x\u202fy", "1-2 x y"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("egy\r\n\r\nkettő", "egy\n\nkettő"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("a\x00\x07b\tc", "ab\tc"),
        ("lap\x0cvége", "lap\nvége"),
        ("lap\n\x0cvége", "lap\nvége"),
        ("½ ²", "½ ²"),
        ("\u212b", "Å"),
        ("", ""),
    ],
)
def test_words_that_look_alike_become_equal(raw: str, cleaned: str) -> None:
    assert clean(raw).text == cleaned


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("NATO-\nban", "NATO-ban"),
        ("1552-\nben", "1552-ben"),
        ("tudod-\ne", "tudod-e"),
        ("egy-\negy", "egy-egy"),
        ("a well-\nknown man", "a well-known man"),
        ("bel-\nés külföld", "bel-\nés külföld"),
        ("ide-oda, ide-\noda", "ide-oda, ide-oda"),
        ("Buda-\nPest", "Buda-\nPest"),
        ("szó -\nmásik", "szó -\nmásik"),
        ("szó--\nmásik", "szó--\nmásik"),
        ("szó-\n\nmásik", "szó-\n\nmásik"),
        ("3-\n4", "3-\n4"),
    ],
)
def test_a_hyphen_that_belongs_to_the_word_stays(raw: str, cleaned: str) -> None:
    assert clean(raw).text == cleaned


def test_offsets_lead_back_to_the_raw_text() -> None:
    raw = "Az Oﬃ\u00adce meg-\r\nint „ko\u0301r”."
    cleaned = clean(raw)
    assert cleaned.text == "Az Office megint „kór”."

    def of(word: str) -> str:
        start = cleaned.text.index(word)
        begin, end = cleaned.to_raw(start, start + len(word))
        return raw[begin:end]

    assert of("Office") == "Oﬃ\u00adce"
    assert of("megint") == "meg-\r\nint"
    assert of("kór") == "ko\u0301r"
    assert of("f") == "ﬃ"
    assert cleaned.to_raw(0, len(cleaned.text)) == (0, len(raw))


def test_nfc_and_nfd_give_the_same_and_offsets_are_monotonous() -> None:
    signs = "aáe\u0301é \n\r\t-\u00adﬃ\u200b"
    signs += "\u0301\u0300\u0327b1A\x00\x0c\u2028¬\u2010\uac00\u1100\u1161\u11a8\u212b"
    chance = random.Random(1)
    for _ in range(3000):
        raw = "".join(chance.choices(signs, k=chance.randint(0, 14)))
        cleaned = clean(raw)
        assert unicodedata.is_normalized("NFC", cleaned.text)
        assert clean(unicodedata.normalize("NFC", raw)) == cleaned
        assert clean(unicodedata.normalize("NFD", raw)) == cleaned
        spans = [cleaned.to_raw(at, at + 1) for at in range(len(cleaned.text))]
        assert all(0 <= start < end <= len(raw) for start, end in spans)
        assert spans == sorted(spans)


def test_four_million_characters_take_seconds() -> None:
    raw = "A fa\u00adkön ülő ma\u00addár éne\u00adkelt.\r\n" * 100_000
    began = time.perf_counter()
    cleaned = clean(raw)
    assert time.perf_counter() - began < 10
    place = cleaned.text.rindex("madár")
    start, end = cleaned.to_raw(place, place + 5)
    assert raw[start:end] == "ma\u00addár"
