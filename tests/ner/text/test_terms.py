"""Search terms."""

from __future__ import annotations

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest

from ner.text.terms import Terms, analyse


def test_terms_stand_side_by_side() -> None:
    assert analyse("A NATO-ban Dobónak várai", "hu") == Terms(
        exact=("a", "nato", "ban", "dobónak", "várai"),
        lemma=("a", "nat", "ban", "dobó", "vár"),
        stem=("a", "nat", "ban", "dobó", "vár"),
        prefix=("a", "nato", "ban", "dobon", "varai"),
    )


def test_english_is_stemmed_as_english() -> None:
    found = analyse("The directors’ children were running", "en")
    assert found.lemma == ("the", "director", "child", "be", "run")
    assert found.exact == ("the", "directors", "children", "were", "running")


def test_joined_terms_have_the_fields_of_the_table() -> None:
    assert analyse("Egri vár", "hu").joined() == {
        "exact": "egri vár",
        "lemma": "egr vár",
        "stem": "egr vár",
        "prefix": "egri var",
    }
    assert analyse("…", "hu").joined() == {"exact": "", "lemma": "", "stem": "", "prefix": ""}


def test_of_a_language_that_is_not_known_words_are_folded_alone() -> None:
    assert analyse("Várakat", "tlh") == Terms(("várakat",), ("várakat",), ("várakat",), ("varak",))


def test_composed_and_decomposed_text_have_the_same_terms() -> None:
    text = "Éva a kőszegi őrségnél"
    assert analyse(unicodedata.normalize("NFD", text), "hu") == analyse(text, "hu")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00\x1b[31m",
        "🙂👩‍👩‍👧",
        "ŐŰ" * 50_000,
        "alma " * 20_000,
        "\ud800x",
        "شالوم שלום",
        "İstanbul ſß",
        "a_b",
    ],
)
@pytest.mark.parametrize("language", ["hu", "en", ""])
def test_any_text_gives_parallel_terms_without_white_space(text: str, language: str) -> None:
    terms = analyse(text, language)
    assert len({len(terms.exact), len(terms.lemma), len(terms.stem), len(terms.prefix)}) == 1
    for name, joined in terms.joined().items():
        assert tuple(joined.split()) == getattr(terms, name)


def test_threads_do_not_spoil_each_others_stems() -> None:
    words = [
        f"{stem}{ending}" for stem in ("kórház", "vár", "asztal") for ending in ("ban", "unkból", "aitoknak")
    ]
    texts = [f"{word}{number}x {word}" for number in range(400) for word in words]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: analyse(text, "hu"), texts))
    assert found == [analyse(text, "hu") for text in texts]
