"""Reading one file, whatever it is."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from pipelines.formats.contract import FormatError, RawDocument, RawPage, RawReject, SourceFile
from pipelines.formats.decode import decode
from pipelines.formats.html import read_html
from pipelines.formats.kinds import HTML, MAIL, RICH, kind_of
from pipelines.formats.mail import read_mail
from pipelines.formats.markdown import readable
from pipelines.formats.plain import split_pages
from pipelines.formats.records import read_csv, read_jsonl
from pipelines.formats.rich import read_rich

log = logging.getLogger(__name__)

LARGEST_DOCUMENT = 512 * 1024 * 1024
"""Bytes of a file that is one document; record files may have any size."""
_HEAD = 4096
_MARKDOWN = frozenset((".md", ".markdown"))
_RECORDS = {".jsonl": read_jsonl, ".ndjson": read_jsonl, ".csv": read_csv, ".tsv": read_csv}


def read_file(file: SourceFile) -> Iterator[RawDocument | RawReject]:
    """The documents of a file, or a reject that says why there are none. Raises nothing for a bad file.

    A file without any letter or digit is a document without pages; one without any byte is a reject.
    """
    try:
        yield from _read(file)
    except FormatError as error:
        yield RawReject(file.source_id, error.code, str(error))
    except OSError as error:
        yield RawReject(file.source_id, "unreadable", f"cannot be opened: {error.strerror or error}")
    except Exception as error:
        log.exception("reading %s failed", file.source_id)
        yield RawReject(file.source_id, "malformed", f"{type(error).__name__}: {error}"[:500])


def _read(file: SourceFile) -> Iterator[RawDocument | RawReject]:
    suffix = PurePosixPath(file.source_id).suffix.lower()
    with Path(file.path).open("rb") as opened:
        head = opened.read(_HEAD)
        if not head:
            raise FormatError("empty", "the file has no bytes")
        kind = kind_of(head, suffix)
        if kind is None and suffix in _RECORDS:
            yield from _RECORDS[suffix](file)
            return
        content = head + opened.read(LARGEST_DOCUMENT + 1 - len(head))
    if len(content) > LARGEST_DOCUMENT:
        raise FormatError("too_large", f"more than {LARGEST_DOCUMENT >> 20} MB: split it, or make it records")
    found = _take_apart(content, kind, file.source_id, suffix)
    yield RawDocument(
        source_id=file.source_id,
        record_id=None,
        name=found.title or PurePosixPath(file.source_id).stem,
        url=None,
        media_type=found.media_type,
        pages=found.pages,
        content_hash=hashlib.sha256(content).hexdigest(),
        metadata=found.metadata,
    )


@dataclass(frozen=True, slots=True)
class _Content:
    title: str | None
    media_type: str
    pages: list[RawPage]
    metadata: Mapping[str, Any] = field(default_factory=dict)


def _take_apart(content: bytes, kind: str | None, name: str, suffix: str) -> _Content:
    if kind == RICH:
        return _Content(*read_rich(content, name))
    if kind == MAIL:
        title, text = read_mail(content)
        return _Content(title, "message/rfc822", split_pages(text))
    text = decode(content)
    if kind == HTML or _begins_as_html(text):
        title, text = read_html(text)
        return _Content(title, "text/html", split_pages(text))
    if suffix in _MARKDOWN:
        pages = [RawPage(page.heading, readable(page.text)) for page in split_pages(text, markdown=True)]
        return _Content(None, "text/markdown", pages)
    return _Content(None, "application/xml" if suffix == ".xml" else "text/plain", split_pages(text))


def _begins_as_html(text: str) -> bool:
    return text[:200].lstrip().lower().startswith(("<!doctype html", "<html"))
