from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.formats.plain import PAGE_CHARACTERS, split_pages


def headings(text: str, *, markdown: bool = False) -> list[str | None]:
    return list(dict.fromkeys(page.heading for page in split_pages(text, markdown=markdown)))


@pytest.mark.parametrize("name", ["egri_csillagok", "egy_magyar_nabob", "szent_peter_esernyoje", "a_lampas"])
def test_chapters_of_novels_are_found_and_nothing_is_lost(shared_data: Path, name: str) -> None:
    folder = shared_data / "hu_novels"
    text = (folder / f"{name}.txt").read_text()
    with (folder / f"{name}.chapters.jsonl").open() as lines:
        expected = [" ".join(json.loads(line)["headings"]) for line in lines]
    pages = split_pages(text)
    assert "".join(page.text for page in pages) == text
    assert list(dict.fromkeys(page.heading for page in pages)) == list(dict.fromkeys(expected))
    assert all(len(page.text) <= PAGE_CHARACTERS for page in pages)


def test_english_chapters_are_found(shared_data: Path) -> None:
    text = (shared_data / "en_novels" / "2852_the_hound_of_the_baskervilles.txt").read_text()
    found = headings(text)
    assert len(found) == 15
    assert found[0] == "Chapter 1. Mr. Sherlock Holmes"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ELSŐ RÉSZ\n\nI.\n\nEgy.\n\nII.\n\nKettő.\n", ["ELSŐ RÉSZ I.", "ELSŐ RÉSZ II."]),
        ("Cím\n\n1. fejezet\n\nEgy.\n\nBefejezés\n\nVége.", [None, "1. fejezet", "Befejezés"]),
        ("Chapter One\n\nText.\n\nEpilogue\n\nText.", ["Chapter One", "Epilogue"]),
        ("I. Béla király volt.\nII. Béla is.\n", [None]),
        ("Nem cím ez: az első rész vége.\n\nSzöveg.", [None]),
        ("IV. András hosszú élete és uralkodása\nfolytatódik itt.", [None]),
        ("NATO\n\nSzöveg.", [None]),
        ("# Nem cím\n\nSzöveg.", [None]),
    ],
)
def test_headings(text: str, expected: list[str | None]) -> None:
    assert headings(text) == expected


def test_markdown_headings_hold_those_above_them() -> None:
    text = "Eleje\n# Kórház\nszöveg\n## Osztályok ##\nlista\n```\n# nem cím\n```\n# Vége\nszöveg\n"
    assert headings(text, markdown=True) == [None, "Kórház", "Kórház Osztályok", "Vége"]


@pytest.mark.parametrize("separator", ["\n\n", "\r\n\r\n", "\n", " "])
def test_long_texts_are_cut_between_paragraphs(separator: str) -> None:
    text = separator.join("Ez egy hosszabb bekezdés, amelyben több szó is van." for _ in range(1000))
    pages = split_pages(text)
    assert "".join(page.text for page in pages) == text
    assert all(PAGE_CHARACTERS / 2 <= len(page.text) <= PAGE_CHARACTERS for page in pages[:-1])
    assert all(page.text.endswith(separator) for page in pages[:-1])


def test_a_text_without_any_space_is_cut_all_the_same() -> None:
    assert [len(page.text) for page in split_pages("x" * (PAGE_CHARACTERS + 1))] == [PAGE_CHARACTERS, 1]


@pytest.mark.parametrize("text", ["", "  \n\t\n", "***\n---\n"])
def test_without_letters_there_are_no_pages(text: str) -> None:
    assert split_pages(text) == []


def test_short_capitals_do_not_cut_a_form_to_pieces() -> None:
    form = "".join(f"DR KOVÁCS JÁNOS\n\nTelefon: {number}\n\n" for number in range(20))
    assert len(split_pages(form)) <= 3
