"""Reading one file, whatever it is."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pipelines.formats.contract import FormatError, RawDocument, RawPage, RawReject, SourceFile
from pipelines.formats.decode import decode
from pipelines.formats.html import read_html
from pipelines.formats.plain import split_pages
from pipelines.formats.records import read_csv, read_jsonl
from pipelines.formats.rich import OLE, read_rich

log = logging.getLogger(__name__)

_RICH = frozenset(".pdf .docx .doc .odt .rtf .epub .pptx .ppt .xlsx .xls .ods .odp .eml .msg".split())
_HTML = frozenset((".html", ".htm", ".xhtml"))
_MAGIC = (b"%PDF", b"PK\x03\x04", b"{\\rtf", OLE)
_MEDIA_TYPES = {".md": "text/markdown", ".markdown": "text/markdown", ".xml": "application/xml"}
_CONTROL_SAMPLE = 4096


def read_file(file: SourceFile) -> Iterator[RawDocument | RawReject]:
    """The documents of a file, or a reject that says why there are none. Raises nothing for a bad file."""
    try:
        yield from _read(file)
    except FormatError as error:
        yield RawReject(file.source_id, error.code, str(error))
    except OSError as error:
        yield RawReject(file.source_id, "unreadable", f"cannot be opened: {error}")
    except Exception as error:
        log.exception("reading %s failed", file.path)
        yield RawReject(file.source_id, "malformed", f"{type(error).__name__}: {error}")


def _read(file: SourceFile) -> Iterator[RawDocument | RawReject]:
    suffix = PurePosixPath(file.source_id).suffix.lower()
    if file.size == 0:
        raise FormatError("empty", "the file has no bytes")
    if suffix in (".jsonl", ".ndjson"):
        yield from read_jsonl(file)
    elif suffix in (".csv", ".tsv"):
        yield from read_csv(file)
    else:
        yield _whole(file, suffix)


def _whole(file: SourceFile, suffix: str) -> RawDocument:
    content = Path(file.path).read_bytes()
    title, media_type, pages = _pages(content, suffix, PurePosixPath(file.source_id).name)
    return RawDocument(
        source_id=file.source_id,
        record_id=None,
        name=title or PurePosixPath(file.source_id).stem,
        url=None,
        media_type=media_type,
        pages=pages,
        content_hash=hashlib.sha256(content).hexdigest(),
    )


def _pages(content: bytes, suffix: str, name: str) -> tuple[str | None, str, list[RawPage]]:
    """Title, media type and pages; the content's first bytes go before the name's ending."""
    if content.startswith(_MAGIC) or (suffix in _RICH and not _is_text(content)):
        return read_rich(content, name)
    if suffix == ".eml":
        return read_rich(content, name)
    text = decode(content)
    if suffix in _HTML or _looks_like_html(text):
        title, readable = read_html(text)
        return title, "text/html", split_pages(readable)
    return None, _MEDIA_TYPES.get(suffix, "text/plain"), split_pages(text)


def _is_text(content: bytes) -> bool:
    try:
        decode(content[:_CONTROL_SAMPLE])
    except FormatError:
        return False
    return True


def _looks_like_html(text: str) -> bool:
    head = text.lstrip()[:100].lower()
    return head.startswith(("<!doctype html", "<html"))
