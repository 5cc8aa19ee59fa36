from __future__ import annotations

import asyncio
import hashlib
import io
import os
import zipfile
from pathlib import Path

import pytest

from pipelines.formats.contract import CODES, RawDocument, RawReject, SourceFile
from pipelines.formats.listing import list_source
from pipelines.formats.reader import read_file

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

READ = {
    "UDHR_first_article_all.txt": ("text/plain", 16),
    "copy-protected.pdf": ("application/pdf", 2),
    "docx-hdrftr.docx": (DOCX, 1),
    "docx-tables.docx": (DOCX, 1),
    "email-no-utf8-2008-07-16.062410.eml": ("message/rfc822", 1),
    "embedded-cmap-cidfont.pdf": ("application/pdf", 1),
    "example-steelJIS-datasheet-utf-16.html": ("text/html", 1),
    "example-with-scripts.html": ("text/html", 7),
    "fake-doc.rtf": ("application/rtf", 1),
    "fake-html-cp1252.html": ("text/html", 1),
    "fake-power-point-malformed.pptx": (
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        1,
    ),
    "fake-text-all-whitespace.txt": ("text/plain", 0),
    "fake-text-utf-16-le.txt": ("text/plain", 1),
    "fake-text-utf-32.txt": ("text/plain", 1),
    "fake.docx": (DOCX, 1),
    "fake.odt": ("application/vnd.oasis.opendocument.text", 1),
    "multi-column-2p.pdf": ("application/pdf", 2),
    "pypdf__Seige_of_Vicksburg_Sample_OCR.pdf": ("application/pdf", 6),
    "pypdf__issue-297.pdf": ("application/pdf", 1),
    "pypdf__multilang.pdf": ("application/pdf", 1),
    "pypdf__r3-empty-password.pdf": ("application/pdf", 1),
    "pypdf__r6-user-password.pdf": ("application/pdf", 1),
    "umlauts-non-utf8.md": ("text/markdown", 1),
    "iso-8859-2-hungarian___ude_1.txt": ("text/plain", 1),
    "windows-1250-hungarian___ude_1.txt": ("text/plain", 1),
}
REJECTED = {
    "empty.txt": "empty",
    "loremipsum-flat.pdf": "no_text",
    "password.pdf": "encrypted",
    "password_protected.xlsx": "encrypted",
    "pypdf__git.pdf": "no_text",
}
LONG = {
    "fake-html-pre.htm",
    "handbook-872p.docx",
    "winter-sports.epub",
    "csv-with-long-lines.csv",
    "iso-8859-2-hungarian__auto-apro.hu.xml",
    "iso-8859-2-hungarian__escience.hu.xml",
    "iso-8859-2-hungarian__hirtv.hu.xml",
    "iso-8859-2-hungarian__shamalt.uw.hu.xml",
    "windows-1250-hungarian__bbc.co.uk.hu.xml",
    "windows-1250-hungarian__torokorszag.blogspot.com.xml",
}


def outcomes(path: Path) -> list[RawDocument | RawReject]:
    return list(read_file(SourceFile(str(path), path.name, path.stat().st_size)))


def read(tmp_path: Path, name: str, content: bytes) -> RawDocument | RawReject:
    path = tmp_path / name
    path.write_bytes(content)
    [outcome] = outcomes(path)
    return outcome


def text_of(outcome: RawDocument | RawReject) -> str:
    assert isinstance(outcome, RawDocument), outcome
    return "".join(page.text for page in outcome.pages)


def code_of(outcome: RawDocument | RawReject) -> str:
    assert isinstance(outcome, RawReject), outcome
    assert outcome.code in CODES
    assert outcome.message
    return outcome.code


def pdf(content: bytes) -> bytes:
    """A PDF of one page with this content stream."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources"
        b" << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    ]
    made, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(b"%010d 00000 n \n" % len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"xref\n0 5\n0000000000 65535 f \n" + b"".join(places)
    return made + table + b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(made)


HELLO = pdf(b"BT /F1 12 Tf 20 100 Td (Hello there) Tj ET")


def archive(**entries: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        for name, content in entries.items():
            made.writestr(name, content)
    return target.getvalue()


@pytest.mark.slow
def test_every_messy_file_ends_as_stated(shared_data: Path) -> None:
    files = list_source(str(shared_data / "messy_docs" / "files")).files
    found, rejected, long = {}, {}, {}
    for file in files:
        first, *others = read_file(file)
        for outcome in (first, *others):
            assert isinstance(outcome, RawReject) or "\ufffd" not in text_of(outcome), file.source_id
        if isinstance(first, RawReject):
            rejected[file.source_id] = first.code
        elif file.source_id in LONG:
            long[file.source_id] = 1 + len(others)
        else:
            found[file.source_id] = (first.media_type, len(first.pages))
    assert rejected == REJECTED
    assert found == READ
    assert long == dict.fromkeys(LONG, 1) | {"csv-with-long-lines.csv": 10}


def test_a_document_carries_hash_name_and_type(tmp_path: Path) -> None:
    content = "Dobó István\n".encode()
    outcome = read(tmp_path, "dobo.txt", content)
    assert isinstance(outcome, RawDocument)
    assert outcome.content_hash == hashlib.sha256(content).hexdigest()
    assert (outcome.source_id, outcome.record_id, outcome.name) == ("dobo.txt", None, "dobo")
    assert (outcome.media_type, outcome.url, text_of(outcome)) == ("text/plain", None, "Dobó István\n")


@pytest.mark.parametrize("name", ["a.pdf", "a.txt", "a.csv", "a", "a.docx"])
def test_content_goes_before_the_ending(tmp_path: Path, name: str) -> None:
    assert text_of(read(tmp_path, name, HELLO)) == "Hello there"


def test_an_office_file_is_known_under_any_ending(tmp_path: Path, shared_data: Path) -> None:
    content = (shared_data / "messy_docs" / "files" / "fake.docx").read_bytes()
    for name in ("a.pdf", "a.txt", "a.html", "a"):
        assert text_of(read(tmp_path, name, content)) == "Lorem ipsum dolor sit amet."


def test_text_under_a_wrong_ending_is_text(tmp_path: Path) -> None:
    assert text_of(read(tmp_path, "a.pdf", "csak szöveg".encode())) == "csak szöveg"
    assert text_of(read(tmp_path, "a.txt", b"<html><p>Body</p><script>x</script>")) == "Body"


def test_a_blank_pdf_is_a_document_without_pages(tmp_path: Path) -> None:
    outcome = read(tmp_path, "blank.pdf", pdf(b""))
    assert isinstance(outcome, RawDocument)
    assert outcome.pages == []


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.txt", b"", "empty"),
        ("a.jsonl", b"", "empty"),
        ("a.txt", b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "no_text"),
        ("a.dat", bytes(range(256)) * 20, "undecodable"),
        ("a.csv", bytes(range(256)) * 20, "undecodable"),
        ("a.gz", b"\x1f\x8b\x08\0" * 5, "unsupported"),
        ("a.zip", archive(**{"a.txt": "x"}), "unsupported"),
        ("a.pdf", b"%PDF-1.7\n", "malformed"),
        ("a.pdf", HELLO[:120], "malformed"),
        ("a.docx", b"PK\x03\x04" + bytes(range(256)), "malformed"),
        ("a.docx", archive(**{"[Content_Types].xml": "<Types/>"}), "malformed"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(range(256)), "malformed"),
    ],
)
def test_what_cannot_be_read_is_a_reject_with_its_code(
    tmp_path: Path, name: str, content: bytes, code: str
) -> None:
    assert code_of(read(tmp_path, name, content)) == code


def test_an_entity_bomb_in_an_office_file_is_refused(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "lol">{entities}]><x>&e9;</x>'
    content = archive(**{"[Content_Types].xml": "<Types/>", "_rels/.rels": bomb, "word/document.xml": "<d/>"})
    assert code_of(read(tmp_path, "bomb.docx", content)) == "malformed"


def test_a_file_that_is_gone_is_unreadable(tmp_path: Path) -> None:
    [outcome] = read_file(SourceFile(str(tmp_path / "gone.txt"), "gone.txt", 5))
    assert code_of(outcome) == "unreadable"


async def test_documents_can_be_read_where_a_loop_runs(tmp_path: Path) -> None:
    assert asyncio.get_running_loop()
    assert text_of(read(tmp_path, "a.pdf", HELLO)) == "Hello there"


def test_an_encrypted_file_does_not_keep_others_from_being_read(tmp_path: Path, shared_data: Path) -> None:
    encrypted = shared_data / "messy_docs" / "files" / "password.pdf"
    for _ in range(3):
        assert [code_of(each) for each in outcomes(encrypted)] == ["encrypted"]
        assert text_of(read(tmp_path, "a.pdf", HELLO)) == "Hello there"


def test_one_bad_file_among_ten_costs_no_other(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.csv").write_text(f"id,text\n1,szöveg {number}\n")
    (tmp_path / "9.csv").write_bytes(b"id,text\n1,it\x92s\n")
    texts = [text_of(each) for file in list_source(str(tmp_path)).files for each in read_file(file)]
    assert texts == [f"szöveg {number}" for number in range(9)] + ["it’s"]


def test_nothing_is_written_beside_the_store(
    tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.chdir(home)
    for name in ("fake.docx", "copy-protected.pdf", "loremipsum-flat.pdf", "winter-sports.epub"):
        outcomes(shared_data / "messy_docs" / "files" / name)
    assert os.listdir(home) == []  # noqa: PTH208
