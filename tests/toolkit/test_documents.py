from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace

import pytest

from toolkit.documents import (
    SUMMARY_SENTENCE,
    InternalContextDocument,
    TextAnswer,
    UniqueTextDocument,
    merge_documents,
    public_documents,
)


def sentence(
    document_id: int, page: int, number: int, text: str = "x", score: float = 1.0
) -> UniqueTextDocument:
    return UniqueTextDocument(document_id, f"doc {document_id}", None, page, number, text, score)


def test_r9_2_equality_and_hash_are_by_place_alone() -> None:
    first = sentence(1, 0, 2, "Dobó megszólalt.", 0.9)
    other = UniqueTextDocument(1, "other name", "http://x", 0, 2, "other text", 0.1)

    assert first == other
    assert hash(first) == hash(other)
    assert {first, other} == {first}
    assert first not in {
        replace(first, document_id=2),
        replace(first, page=1),
        replace(first, sentence_number=3),
    }
    assert first != (1, 0, 2)


def test_r9_2_the_class_plays_no_part_in_equality() -> None:
    place = (7, "name", None, 0, 0, "text", 1.0)
    assert UniqueTextDocument(*place) == TextAnswer(*place) == InternalContextDocument(*place)
    assert len({UniqueTextDocument(*place), TextAnswer(*place), InternalContextDocument(*place)}) == 1


def test_r9_2_on_a_collision_the_first_one_stays() -> None:
    first, second = sentence(1, 0, 0, "first", 0.1), sentence(1, 0, 0, "second", 0.9)
    third = sentence(2, 0, 0)

    assert [each.text for each in {first} | {second}] == ["first"]
    merged = merge_documents([third, first], [second, third])
    assert [(each.document_id, each.text) for each in merged] == [(2, "x"), (1, "first")]


def test_r9_2_the_order_is_by_document_page_and_sentence() -> None:
    ordered = [
        sentence(1, 0, SUMMARY_SENTENCE),
        sentence(1, 0, 0),
        sentence(1, 0, 10),
        sentence(1, 2, 1),
        sentence(2, 0, 0),
    ]
    backwards = ordered[::-1]
    assert [each.key for each in sorted(backwards)] == [each.key for each in ordered]
    assert ordered[0] < ordered[1] <= ordered[1]
    assert ordered[4] > ordered[3] >= ordered[3]
    with pytest.raises(TypeError):
        _ = ordered[0] < (1, 0, 0)


def test_r9_2_on_the_wire_the_id_is_a_string() -> None:
    document = UniqueTextDocument(2**63 - 1, "Egri csillagok", None, 3, 14, "Bornemissza Gergely", 0.5)
    assert document.to_wire() == {
        "documentId": "9223372036854775807",
        "documentName": "Egri csillagok",
        "documentUrl": None,
        "page": 3,
        "sentenceNumber": 14,
        "text": "Bornemissza Gergely",
        "sentenceScore": 0.5,
    }


def test_r9_3_only_the_text_is_given() -> None:
    (document,) = TextAnswer.as_set("A rekord frissítve.")
    assert document.to_wire() == {
        "documentId": str(document.document_id),
        "documentName": "",
        "documentUrl": None,
        "page": 0,
        "sentenceNumber": 0,
        "text": "A rekord frissítve.",
        "sentenceScore": 1.0,
    }
    assert type(document) is TextAnswer
    (full,) = TextAnswer.as_set("text", "name", "https://example.org")
    assert (full.text, full.document_name, full.document_url) == ("text", "name", "https://example.org")


def test_r9_3_ids_are_unique_across_threads_and_rise() -> None:
    def make(_: int) -> list[int]:
        ids = [TextAnswer.of("x").document_id for _ in range(2_000)]
        assert ids == sorted(ids)
        return ids

    with ThreadPoolExecutor(8) as pool:
        ids = [each for some in pool.map(make, range(8)) for each in some]
    assert len(set(ids)) == 16_000
    assert all(0 < each < 2**63 for each in ids)
    assert all((each >> 12) & 0x3FF == 0 for each in ids)


def test_r4_8_internal_documents_are_told_apart_and_taken_out() -> None:
    texts = TextAnswer.as_set("for all") | InternalContextDocument.as_set(None)
    assert len(texts) == 2
    assert [each.text for each in public_documents(sorted(texts))] == ["for all"]
    (internal,) = InternalContextDocument.as_set('{"age": 72}')
    assert isinstance(internal, InternalContextDocument)
    assert isinstance(internal, UniqueTextDocument)


def test_a_document_is_immutable_and_can_be_pickled() -> None:
    document = TextAnswer.of("x")
    with pytest.raises(FrozenInstanceError):
        document.text = "y"  # type: ignore[misc]
    back = pickle.loads(pickle.dumps(document))
    assert (type(back), back.to_wire()) == (TextAnswer, document.to_wire())
