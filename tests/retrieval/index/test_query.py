"""Searching passages, sentences and documents."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from retrieval.index import build as building
from retrieval.index.query import LONGEST_QUERY, Hit, SearchIndex, SearchTerms

Build = Callable[..., SearchIndex]
Make = Callable[..., Any]

CASTLE = (
    ["A várat kétezer katona védte.", "Dobó István a falon állt.", "Gergely puskaport kevert a pincében."],
    ["Éva asszony férfiruhában érkezett.", "A török Gergőt kereste.", "Jumurdsák elvesztette az amulettjét."],
)
HOSPITAL = (
    ["A kardiológiai szakrendelés hétfőn nyolctól délig tart.", "Bejelentkezés telefonon vagy a portán."],
    ["A nővérpult a második emeleten van.", "Látogatni délután lehet."],
)
BIG = 2**63 - 5


def terms(query: str, *languages: str) -> SearchTerms:
    return SearchTerms.of(query, languages or ("hu",))


def places(hits: list[Hit]) -> list[tuple[int, int, int]]:
    return [(hit.document_id, hit.page, hit.first) for hit in hits]


@pytest.fixture
def library(indexed: Build, text: Make) -> SearchIndex:
    return indexed(
        text(7, CASTLE, "Az ostrom", system="novel", headings={1: "Az amulett"}),
        text(40, HOSPITAL, "Kardiológia", system="clinic"),
        text(
            BIG,
            [["The director opened the new wing.", "Nurses work in three shifts."]],
            "News",
            language="en",
        ),
    )


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("Gergő", (7, 1, 1)),
        ("Jumurdsákkal", (7, 1, 2)),
        ("Jumurdzsák", (7, 1, 2)),
        ("katonák", (7, 0, 0)),
        ("kardiologiai szakrendeles", (40, 0, 0)),
        ("Mikor lehet látogatni?", (40, 1, 1)),
    ],
)
def test_inflected_unaccented_and_old_spellings_find_the_sentence(
    library: SearchIndex, query: str, best: tuple[int, int, int]
) -> None:
    assert places(library.sentences(terms(query, "hu", "en"), (), 3))[0] == best


def test_each_language_of_the_domain_is_asked(library: SearchIndex) -> None:
    assert places(library.sentences(terms("directors", "hu", "en"), (), 3)) == [(BIG, 0, 0)]


def test_ids_of_63_bits_come_back_whole(library: SearchIndex) -> None:
    assert library.documents(terms("nurse", "en"), (), 5)[0][0] == BIG


def test_titles_and_headings_count(library: SearchIndex) -> None:
    assert places(library.passages(terms("ostrom"), (), 5)) == [(7, 0, 0), (7, 1, 0)]
    assert places(library.passages(terms("az amulett"), (), 5))[0] == (7, 1, 0)


def test_r1_6_only_the_named_systems_are_searched(library: SearchIndex) -> None:
    asked = terms("a várat a portán a director", "hu", "en")
    assert {hit.document_id for hit in library.passages(asked, (), 9)} == {7, 40, BIG}
    assert {hit.document_id for hit in library.passages(asked, ("clinic",), 9)} == {40}
    assert {hit.document_id for hit in library.sentences(asked, ("clinic", "novel"), 9)} == {7, 40}
    assert {number for number, _ in library.documents(asked, ("novel",), 9)} == {7}
    assert library.sentences(asked, ("clinic OR novel",), 9) == []


def test_a_filter_leaves_scores_as_they_are(library: SearchIndex) -> None:
    asked = terms("Gergely puskapora")
    assert library.sentences(asked, ("novel",), 9) == library.sentences(asked, (), 9)


@pytest.mark.parametrize("query", ["kor", "kór", "kör"])
def test_exact_forms_come_before_folded_ones(indexed: Build, text: Make, query: str) -> None:
    words = ["kor", "kór", "kör", "korona"]
    index = indexed(*(text(number, [[f"Ez a {word} nagyon régi."]]) for number, word in enumerate(words)))
    found = index.documents(terms(query), (), 4)
    assert found[0][0] == words.index(query)
    assert {number for number, _ in found[1:]} >= {0, 1, 2} - {words.index(query)}


def test_a_name_as_the_query_has_it_comes_before_its_parts_apart(indexed: Build, text: Make) -> None:
    index = indexed(
        text(1, [["Levelet kapott István, és Dobó olvasta."]]),
        text(2, [["Levelet kapott Dobó István, és olvasta."]]),
    )
    assert [number for number, _ in index.documents(terms("Dobó István"), (), 2)] == [2, 1]


def test_a_sentence_gains_from_its_passage(indexed: Build, text: Make) -> None:
    index = indexed(
        text(1, [["Esett az eső.", "A kapu zárva volt."]]),
        text(2, [["A török ostromolta a várat.", "A kapu zárva volt."]]),
    )
    assert places(index.sentences(terms("kapu ostrom"), (), 3)) == [(2, 0, 1), (1, 0, 1), (2, 0, 0)]


def test_ties_are_broken_by_key_also_at_the_cut(indexed: Build, text: Make) -> None:
    index = indexed(*(text(number, [["Mindig ugyanaz a mondat."]]) for number in range(300)))
    asked = terms("mondat")
    assert places(index.passages(asked, (), 5)) == [(number, 0, 0) for number in range(5)]
    assert places(index.sentences(asked, (), 200)) == [(number, 0, 0) for number in range(200)]
    assert [number for number, _ in index.documents(asked, (), 300)] == list(range(300))


@pytest.mark.slow
def test_the_same_ten_from_build_to_build_also_in_several_segments(
    indexed: Build, text: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "vár kapu török katona ágyú fal kút pince torony zászló éjjel nappal tűz víz kenyér".split()
    rng = random.Random(0)

    def sentence() -> str:
        return " ".join((*rng.choices(words, k=12), str(rng.randrange(10**9)))).capitalize() + "."

    texts = [text(number, [[sentence() for _ in range(120)] for _ in range(4)]) for number in range(25)]
    monkeypatch.setattr(building, "WRITER_BYTES", 15_000_000)
    small, again = (indexed(*texts, folder=name) for name in ("small", "again"))
    monkeypatch.undo()
    whole = indexed(*texts, folder="whole")
    for query in ("vár kapu", "a török ágyúk a toronynál", "kenyér és víz éjjel"):
        asked = terms(query)
        assert (
            small.sentences(asked, (), 10) == again.sentences(asked, (), 10) == whole.sentences(asked, (), 10)
        )
        assert (
            small.documents(asked, (), 10) == again.documents(asked, (), 10) == whole.documents(asked, (), 10)
        )


HOSTILE = [
    "",
    "   ",
    "?!…",
    "AND OR NOT",
    '"Dobó',
    "lemma:vár^9 -kapu +(",
    "title:* OR system:novel",
    "/.*/ [a TO z] {1 TO 2} ~2",
    "'; DROP TABLE sentences; --",
    "\x00\x01\x1b[31mvár\x7f",
    "🙂👩‍👩‍👧 vár 🏰",
    "شالوم \u202eráv שלום",
    "\ud800 vár",
    "v" * 100_000,
    "vár kapu " * 12_000,
    "á" * 70_000,
    "%s %d {} \\ \\u0000",
]


@pytest.mark.parametrize("query", HOSTILE)
def test_no_sign_of_a_query_is_an_operator(library: SearchIndex, query: str) -> None:
    asked = terms(query, "hu", "en", "tlh", "")
    for systems in ((), ("novel",), (query[:200],)):
        library.passages(asked, systems, 10)
        library.sentences(asked, systems, 10)
        library.documents(asked, systems, 10)
    sizes = [len(found) for _, found in asked.fields]
    assert max(sizes) <= 4 * LONGEST_QUERY


def test_a_limit_of_nothing_gives_nothing(library: SearchIndex) -> None:
    assert library.sentences(terms("vár"), (), 0) == []
    assert library.documents(terms("vár"), (), 0) == []


def test_terms_of_a_query_say_how_often_each_is_meant() -> None:
    asked = SearchTerms.of("Ki az a Dobó István? Dobó!", ("hu",))
    fields = dict(asked.fields)
    assert dict(fields["exact"]) == {"dobó": 2, "istván": 1}
    assert dict(fields["lemma"])["az"] == 1
    assert asked.names == (("dobó", "istv"), ("istv", "dobó"))
