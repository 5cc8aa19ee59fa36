"""What a file is, by its first bytes before its name's ending."""

from __future__ import annotations

import re

from pipelines.formats.contract import FormatError

RICH, HTML, MAIL = "rich", "html", "mail"

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ZIP = b"PK\x03\x04"
PDF = b"%PDF-"
_PDF_WITHIN = 1024
"""Bytes before a PDF's header that readers put up with."""
_IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\x00", b"MM\x00*")
_OTHERS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"7z\xbc\xaf\x27\x1c": "7-zip",
    b"Rar!\x1a\x07": "RAR",
    b"\x7fELF": "program",
    b"MZ\x90\x00": "program",
    b"SQLite format 3\x00": "SQLite",
    b"PAR1": "Parquet",
    b"ID3": "sound",
    b"OggS": "sound",
    b"RIFF": "sound or film",
}
_HTML_ENDINGS = frozenset((".html", ".htm", ".xhtml"))
_MAIL_HEADER = re.compile(rb"\A(?:From .*\r?\n)?(?:[A-Za-z0-9-]+:[ \t].*\r?\n(?:[ \t].*\r?\n)*){2}")


def kind_of(head: bytes, suffix: str) -> str | None:
    """`RICH`, `HTML` or `MAIL`, or None for other text and records.

    Raises FormatError: `no_text` for an image, `unsupported` for an archive or program.
    """
    if head.startswith((ZIP, OLE, b"{\\rtf")) or PDF in head[:_PDF_WITHIN]:
        return RICH
    if head.startswith(_IMAGES):
        raise FormatError("no_text", "the file is an image: run OCR on it first")
    for magic, name in _OTHERS.items():
        if head.startswith(magic) and (len(magic) > 3 or b"\0" in head):
            raise FormatError("unsupported", f"the file is of a kind without text ({name})")
    if suffix == ".eml" and _MAIL_HEADER.match(head):
        return MAIL
    return HTML if suffix in _HTML_ENDINGS else None
