from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.formats.contract import RawDocument, RawReject, SourceFile
from pipelines.formats.records import read_csv, read_jsonl


def source(path: Path, content: bytes | str) -> SourceFile:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return SourceFile(str(path), path.name, path.stat().st_size)


def shown(outcomes: list[RawDocument | RawReject]) -> list[tuple[str, str]]:
    """(source id, text or code) of each."""
    return [
        (
            each.source_id,
            each.code if isinstance(each, RawReject) else "".join(page.text for page in each.pages),
        )
        for each in outcomes
    ]


def csv_of(tmp_path: Path, content: bytes | str) -> list[RawDocument | RawReject]:
    return list(read_csv(source(tmp_path / "t.csv", content)))


def jsonl_of(tmp_path: Path, content: bytes | str) -> list[RawDocument | RawReject]:
    return list(read_jsonl(source(tmp_path / "t.jsonl", content)))


def test_a_line_becomes_a_document_with_its_fields(tmp_path: Path) -> None:
    [found] = jsonl_of(
        tmp_path, '{"_id": "x1", "title": "Cím", "text": "Szöveg.", "url": "http://a/b", "year": 1552}\n'
    )
    assert isinstance(found, RawDocument)
    assert (found.source_id, found.record_id, found.name, found.url) == (
        "t.jsonl#x1",
        "x1",
        "Cím",
        "http://a/b",
    )
    assert [(page.heading, page.text) for page in found.pages] == [("Cím", "Szöveg.")]
    assert found.metadata == {"year": 1552}


def test_a_bad_line_is_a_reject_with_its_number_and_the_others_load(tmp_path: Path) -> None:
    lines = [
        '{"id": 1, "text": "egy"}',
        "{oops",
        '["no object"]',
        '{"id": 4, "text": "\\ud800"}',
        '{"id": 5, "text": NaN}',
        "",
        '{"id": 7, "text": "hét"}',
        '{"id": 1, "text": "again"}',
        "[" * 100_000,
        '{"text": "no id"}',
    ]
    assert shown(jsonl_of(tmp_path, "\ufeff" + "\n".join(lines))) == [
        ("t.jsonl#1", "egy"),
        ("t.jsonl#2", "bad_record"),
        ("t.jsonl#3", "bad_record"),
        ("t.jsonl#4", "bad_record"),
        ("t.jsonl#5", "bad_record"),
        ("t.jsonl#7", "hét"),
        ("t.jsonl#8", "duplicate_record"),
        ("t.jsonl#9", "bad_record"),
        ("t.jsonl#10", "no id"),
    ]


def test_the_content_hash_does_not_depend_on_the_order_of_keys_or_on_other_lines(tmp_path: Path) -> None:
    first, second = jsonl_of(tmp_path, '{"id": 1, "text": "a", "k": 2}\n{"id": 2, "text": "b"}')
    again = jsonl_of(tmp_path, '{"k": 2, "text": "a", "id": 1}')[0]
    assert isinstance(first, RawDocument)
    assert isinstance(second, RawDocument)
    assert isinstance(again, RawDocument)
    assert again.content_hash == first.content_hash != second.content_hash


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1250", "iso8859-2"])
def test_jsonl_in_other_encodings(tmp_path: Path, encoding: str) -> None:
    text = '{"id": "ő", "text": "Tűzoltó nővér a kórházban."}\n{"id": "ű", "text": "Hűvös idő."}\n'
    assert shown(jsonl_of(tmp_path, text.encode(encoding))) == [
        ("t.jsonl#ő", "Tűzoltó nővér a kórházban."),
        ("t.jsonl#ű", "Hűvös idő."),
    ]


def test_a_quoted_line_break_makes_one_row(tmp_path: Path) -> None:
    content = 'id,text\n1,"első\nmásodik, ""harmadik"""\n2,vége\n'
    assert shown(csv_of(tmp_path, content)) == [("t.csv#1", 'első\nmásodik, "harmadik"'), ("t.csv#2", "vége")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    rows = ["ID", "Title", "Text"], ["1", "Cím", "Szöveg."]
    content = "\ufeff" + "\r\n".join(delimiter.join(row) for row in rows)
    [found] = csv_of(tmp_path, content)
    assert isinstance(found, RawDocument)
    assert (found.record_id, found.name, found.pages[0].text) == ("1", "Cím", "Szöveg.")


def test_without_a_text_column_all_cells_are_text(tmp_path: Path) -> None:
    content = "Megye;Kórház;;Kórház\nBaranya;Mohácsi;x;y\n;;;\nZala;Zalaegerszegi\n"
    assert shown(csv_of(tmp_path, content)) == [
        ("t.csv#2", "Megye: Baranya\nKórház: Mohácsi\ncolumn 3: x\nKórház (4): y"),
        ("t.csv#4", "Megye: Zala\nKórház: Zalaegerszegi"),
    ]


def test_a_cp1252_csv_is_decoded(tmp_path: Path) -> None:
    assert shown(csv_of(tmp_path, b"id,text\n1,it\x92s \x93fine\x94\n")) == [("t.csv#1", "it’s “fine”")]


def test_a_stray_byte_in_a_utf8_file_is_repaired(tmp_path: Path) -> None:
    content = "id,text\n" + "".join(f"{n},tűzoltó nővér\n" for n in range(20))
    outcomes = csv_of(tmp_path, content.encode() + b"20,it\x92s\n21,\x81\n22,ok\n")
    assert shown(outcomes)[18:] == [
        ("t.csv#18", "tűzoltó nővér"),
        ("t.csv#19", "tűzoltó nővér"),
        ("t.csv#20", "it’s"),
        ("t.csv#23", "undecodable"),
        ("t.csv#22", "ok"),
    ]


def test_a_row_with_more_cells_than_columns_is_a_reject(tmp_path: Path) -> None:
    assert shown(csv_of(tmp_path, "id,text\n1,a,b\n2,c,\n")) == [("t.csv#2", "bad_record"), ("t.csv#2", "c")]


def test_a_quotation_mark_that_is_never_closed_is_told(tmp_path: Path) -> None:
    outcomes = csv_of(tmp_path, 'id,text\n1,jó\n2,"rossz\n3,elveszne\n')
    assert shown(outcomes) == [("t.csv#1", "jó"), ("t.csv#3", "bad_record")]
    assert "lines 3 to 4" in outcomes[1].message  # type: ignore[union-attr]


def test_very_long_lines(tmp_path: Path) -> None:
    assert shown(csv_of(tmp_path, f"id,text\n1,{'szó ' * 100_000}\n")) == [("t.csv#1", "szó " * 100_000)]


def test_nothing_but_a_header_gives_nothing(tmp_path: Path) -> None:
    assert csv_of(tmp_path, "id,text\n") == []
