"""Documents with a format of their own (PDF, office, e-book) → pages, by way of xberg."""

from __future__ import annotations

import asyncio
import io
import re
import zipfile
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pipelines.formats.contract import FormatError, RawPage
from pipelines.formats.kinds import OLE, PDF, ZIP
from pipelines.formats.plain import PAGE_CHARACTERS, split_pages

_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")
OFFICE = "[Content_Types].xml"
_CONTAINERS = (OFFICE, "mimetype", "META-INF/container.xml")
"""One of these is in every office file and e-book that is a zip archive."""
_DECLARATIONS = 1024
"""Bytes at a part's start among which a document type would stand."""
_FIXED_PAGES = (
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
)
"""Formats whose pages are the reader's own: they are never cut further."""
_NO_TITLE = re.compile(
    r"(?:Microsoft \w+ - .*|PowerPoint Presentation|Untitled.*|Document\d*|.*\.indd)", re.I
)
_METADATA = ("subject", "authors", "keywords", "created_at", "modified_at")

Taken = tuple[str | None, str, list[RawPage], Mapping[str, Any]]
"""Title, media type, pages, metadata."""


def read_rich(content: bytes, filename: str) -> Taken:
    """Take a document apart. Raises FormatError.

    Pages are the format's own; a format without any, and long pages of formats that flow, are cut like
    plain text. No pages when there is no text and nothing to say why.
    """
    _check_container(content)
    document = _extract(content, filename)
    if document.mime_type == "application/zip":
        raise FormatError("malformed", "an office file or e-book without its main part")
    pages = _pages(document)
    if not any(char.isalnum() for page in pages for char in page.text):
        if PDF in content[:1024] and re.search(rb"/Subtype\s*/Image", content):
            raise FormatError("no_text", "the pages are images without a text layer: run OCR on them first")
        pages = []
    title = " ".join((document.metadata.title or "").split())
    metadata = {name: value for name in _METADATA if (value := getattr(document.metadata, name, None))}
    return None if _NO_TITLE.fullmatch(title) else title or None, document.mime_type, pages, metadata


def _check_container(content: bytes) -> None:
    if content.startswith(OLE) and _ENCRYPTED_OFFICE in content:
        raise FormatError("encrypted", "the office file needs a password")
    if not content.startswith(ZIP):
        return
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _refuse_entities(archive, entries)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, ValueError, OSError) as error:
        raise FormatError("malformed", f"a damaged zip container: {error}") from error
    if any(entry.flag_bits & 1 for entry in entries):
        raise FormatError("encrypted", "the archive needs a password")
    if not any(entry.filename in _CONTAINERS for entry in entries):
        raise FormatError("unsupported", "a zip archive that is no document: unpack it first")


def _refuse_entities(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> None:
    """Office files must not declare entities; those that do mean to blow up in the parser."""
    if not any(entry.filename == OFFICE for entry in entries):
        return
    for entry in entries:
        if entry.filename.endswith((".xml", ".rels")) and not entry.flag_bits & 1:
            with archive.open(entry) as part:
                if b"<!DOCTYPE" in part.read(_DECLARATIONS):
                    raise FormatError("malformed", f"{entry.filename} declares a document type, as none may")


def _pages(document: Any) -> list[RawPage]:
    own = document.pages or ()
    if not own or (len(own) == 1 and document.mime_type not in _FIXED_PAGES):
        return split_pages(own[0].content if own else document.content)
    pages: list[RawPage] = []
    for page in own:
        heading = page.sheet_name or page.section_name
        if len(page.content) > 2 * PAGE_CHARACTERS and document.mime_type not in _FIXED_PAGES:
            pages += split_pages(page.content, heading)
        else:
            pages.append(RawPage(heading, page.content))
    return pages


def _extract(content: bytes, filename: str) -> Any:
    import xberg

    config = xberg.ExtractionConfig(
        use_cache=False,
        enable_quality_processing=False,
        disable_ocr=True,
        output_format="plain",
        pages=xberg.PageConfig(extract_pages=True),
    )
    source = xberg.ExtractInput(kind="bytes", bytes=content, filename=filename)

    async def extract() -> Any:
        return await xberg.extract(source, config)

    try:
        with ThreadPoolExecutor(1) as thread:  # a loop may run in this one
            return thread.submit(lambda: asyncio.run(extract())).result().results[0]
    except (RuntimeError, ValueError, OSError, IndexError) as error:
        raise FormatError(_code(str(error)), str(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust's, and no Exception
            raise
        raise FormatError("malformed", f"the parser broke down: {error}") from error


def _code(message: str) -> str:
    lowered = message.lower()
    if "encrypt" in lowered or "password" in lowered:
        return "encrypted"
    if "unsupported" in lowered:
        return "unsupported"
    if "exceed" in lowered or "too large" in lowered or "limit" in lowered:
        return "too_large"
    return "malformed"
