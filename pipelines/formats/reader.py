"""Reading one file, whatever it is."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pipelines.errors import EngineError
from pipelines.formats.contract import FormatError, RawDocument, RawPage, RawReject, SourceFile
from pipelines.formats.decode import decode
from pipelines.formats.kinds import HTML, kind_of
from pipelines.formats.markdown import readable
from pipelines.formats.plain import split_pages
from pipelines.formats.process import Limits, parser_of
from pipelines.formats.records import read_csv, read_jsonl
from pipelines.formats.take import Content

log = logging.getLogger(__name__)

LARGEST_DOCUMENT = 512 * 1024 * 1024
"""Bytes of a file that is one document; record files may have any size."""
DEFAULT_LIMITS = Limits()
_HEAD = 4096
_MARKDOWN = frozenset((".md", ".markdown"))
_RECORDS = {".jsonl": read_jsonl, ".ndjson": read_jsonl, ".csv": read_csv, ".tsv": read_csv}


def read_file(file: SourceFile, limits: Limits = DEFAULT_LIMITS) -> Iterator[RawDocument | RawReject]:
    """The documents of a file, or a reject that says why there are none. Raises nothing for a bad file.

    What foreign parsers read is read in a child process within `limits`. Raises EngineError when none can start.

    A file without any letter or digit is a document without pages; one without any byte is a reject.
    """
    try:
        yield from _read(file, limits)
    except EngineError:
        raise
    except FormatError as error:
        yield RawReject(file.source_id, error.code, str(error))
    except OSError as error:
        yield RawReject(file.source_id, "unreadable", f"cannot be opened: {error.strerror or error}")
    except Exception as error:
        log.exception("reading %s failed", file.source_id)
        yield RawReject(file.source_id, "malformed", f"{type(error).__name__}: {error}"[:500])


def _read(file: SourceFile, limits: Limits) -> Iterator[RawDocument | RawReject]:
    suffix = PurePosixPath(file.source_id).suffix.lower()
    with Path(file.path).open("rb") as opened:
        head = opened.read(_HEAD)
        if not head:
            raise FormatError("empty", "the file has no bytes")
        kind = kind_of(head, suffix)
        if kind is None and suffix in _RECORDS:
            yield from _RECORDS[suffix](file)
            return
        if os.fstat(opened.fileno()).st_size > LARGEST_DOCUMENT:
            raise FormatError(
                "too_large", f"more than {LARGEST_DOCUMENT >> 20} MB: split it, or make it records"
            )
        content = head + opened.read() if kind is None else b""
    found = _take_text(content, suffix) if kind is None else None
    if found is None:
        found, content_hash = parser_of(limits).take(file.path, kind or HTML, file.source_id)
    else:
        content_hash = hashlib.sha256(content).hexdigest()
    yield RawDocument(
        source_id=file.source_id,
        record_id=None,
        name=found.title or PurePosixPath(file.source_id).stem,
        url=None,
        media_type=found.media_type,
        pages=found.pages,
        content_hash=content_hash,
        metadata=found.metadata,
    )


def _take_text(content: bytes, suffix: str) -> Content | None:
    """A text that this process reads by itself; None when it turns out to be HTML."""
    text = decode(content)
    if _begins_as_html(text):
        return None
    if suffix in _MARKDOWN:
        pages = [RawPage(page.heading, readable(page.text)) for page in split_pages(text, markdown=True)]
        return Content(None, "text/markdown", pages)
    return Content(None, "application/xml" if suffix == ".xml" else "text/plain", split_pages(text))


def _begins_as_html(text: str) -> bool:
    return text[:200].lstrip().lower().startswith(("<!doctype html", "<html"))
