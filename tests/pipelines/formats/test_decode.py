from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from pipelines.formats.contract import FormatError
from pipelines.formats.decode import Encoding, decode, detect, detect_file

HUNGARIAN = "Árvíztűrő tükörfúrógép – „őz” és ünnep: a nővér hűvös időben jött."
FRENCH = "L'été dernier, à Paris, les élèves français étaient déjà là où naît l'été ; c'est très bête."
SPANISH = "El niño comió piñas. ¿Qué más? Años después"
GERMAN = "Die schöne Frau hörte über Straßen: 15,50 €"
POLISH = "Zażółć gęślą jaźń, a potem idź do domu i zrób coś dobrego"
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy"
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (HUNGARIAN, "utf-8"),
        (HUNGARIAN, "utf-8-sig"),
        (HUNGARIAN, "utf-16"),
        (HUNGARIAN, "utf-16-le"),
        (HUNGARIAN, "utf-16-be"),
        (HUNGARIAN, "utf-32"),
        (HUNGARIAN, "utf-32-be"),
        (HUNGARIAN, "cp1250"),
        ("A nő tűr.", "iso8859-2"),
        ("Tájékoztatják", "iso8859-2"),
        (FRENCH, "cp1252"),
        (SPANISH, "cp1252"),
        (GERMAN, "cp1252"),
        (" ".join((FRENCH, SPANISH, GERMAN, "Kvinnan åt")), "cp1252"),
        (POLISH, "cp1250"),
        (POLISH, "iso8859-2"),
        (CZECH, "cp1250"),
        (CZECH, "iso8859-2"),
        (RUSSIAN, "cp1251"),
        ("plain", "ascii"),
        ("", "ascii"),
    ],
)
def test_what_was_written_is_read(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_a_declared_charset_is_believed() -> None:
    html = '<html><meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>Ђ</p>'
    assert decode(html.encode("cp1251")) == html
    xml = '<?xml version="1.0" encoding="ISO-8859-2"?><a>„nő”</a>'
    assert decode(xml.encode("cp1250")) == xml


@pytest.mark.parametrize("declared", ["iso-8859-2", "no-such-charset", "utf-16"])
def test_utf8_goes_before_a_wrong_declaration(declared: str) -> None:
    xml = f'<?xml version="1.0" encoding="{declared}"?><a>nő</a>'
    assert decode(xml.encode()) == xml


def test_a_cp1252_apostrophe_is_no_control_character() -> None:
    assert decode(b"it\x92s \x93fine\x94") == "it’s “fine”"


def test_stray_bytes_in_utf8_are_read_one_by_one() -> None:
    content = HUNGARIAN.encode() * 3 + b" it\x92s"
    assert detect(content) == Encoding("utf-8", stray="cp1252")
    assert decode(content) == HUNGARIAN * 3 + " it’s"


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        bytes(range(256)) * 4,
        b"\x00\x01\x02\x03" * 20,
        codecs.BOM_UTF16_LE + b"A",
        HUNGARIAN.encode() * 3 + b"\x81",
        b"text" + b"\x01\x02\x03\x04\x05\x06" * 100,
    ],
)
def test_what_is_no_text_is_refused(content: bytes) -> None:
    with pytest.raises(FormatError) as error:
        decode(content)
    assert error.value.code == "undecodable"


def test_line_ends_stay() -> None:
    assert decode(b"a\r\nb\rc\n") == "a\r\nb\rc\n"


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (b"", Encoding("utf-8")),
        ("nővér\n".encode(), Encoding("utf-8")),
        ("nővér\n".encode("cp1250"), Encoding("cp1250")),
        ("tükör\n".encode() * 50 + b"it\x92s\n", Encoding("utf-8", stray="cp1252")),
    ],
)
def test_a_big_file_is_judged_by_all_of_it(tmp_path: Path, tail: bytes, expected: Encoding) -> None:
    path = tmp_path / "big.csv"
    path.write_bytes(b"plain text, line after line\n" * 50_000 + tail)
    assert detect_file(path) == expected


def test_the_hungarian_files_come_out_as_expected(shared_data: Path) -> None:
    expected = sorted((shared_data / "messy_docs" / "expected").iterdir())
    assert len(expected) == 8
    for path in expected:
        content = (shared_data / "messy_docs" / "files" / path.name.removesuffix(".utf8.txt")).read_bytes()
        gold = path.read_bytes().decode()
        assert decode(content) == gold
        undeclared = content.replace(b"encoding=", b"unknown=")
        assert decode(undeclared) == gold.replace("encoding=", "unknown=")
