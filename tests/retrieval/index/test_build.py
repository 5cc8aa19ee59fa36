"""Building the search index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retrieval.index.build import PASSAGE_CHARACTERS, IndexStats, build_index
from retrieval.index.query import SearchIndex, SearchTerms


def test_passages_are_consecutive_sentences_of_one_page(
    indexed: Callable[..., SearchIndex], text: Callable[..., Any]
) -> None:
    sentence = "Ez a mondat éppen olyan hosszú, hogy tizenkettő kelljen belőle egy szakaszhoz, és ne több, se kevesebb."
    count = -(-PASSAGE_CHARACTERS // len(sentence))
    index = indexed(text(1, [[sentence] * (2 * count + 1), [sentence] * 2]))
    found = index.passages(SearchTerms.of("mondat", ("hu",)), (), 9)
    spans = sorted((hit.page, hit.first, hit.last) for hit in found)
    assert spans == [(0, 0, count - 1), (0, count, 2 * count - 1), (0, 2 * count, 2 * count), (1, 0, 1)]


def test_an_empty_domain_has_an_empty_index(tmp_path: Path) -> None:
    assert build_index(tmp_path, [], [], []) == IndexStats(passages=0, sentences=0)
    assert SearchIndex(tmp_path).sentences(SearchTerms.of("vár", ("hu",)), (), 5) == []


def test_documents_without_sentences_do_no_harm(
    indexed: Callable[..., SearchIndex], text: Callable[..., Any]
) -> None:
    index = indexed(text(1, [[]], "Üres"), text(2, [["Van itt egy mondat."]]), text(3, [], "Oldal nélkül"))
    assert [number for number, _ in index.documents(SearchTerms.of("mondat üres", ("hu",)), (), 5)] == [2]


def test_a_folder_in_use_is_not_written_over(tmp_path: Path) -> None:
    build_index(tmp_path, [], [], [])
    with pytest.raises(FileExistsError):
        build_index(tmp_path, [], [], [])
