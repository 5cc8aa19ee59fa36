"""Documents with a format of their own (PDF, office, e-book, e-mail) → pages, by way of xberg."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from pipelines.formats.contract import FormatError, RawPage
from pipelines.formats.plain import split_pages

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")


def read_rich(content: bytes, filename: str) -> tuple[str | None, str, list[RawPage]]:
    """Title, media type and pages. Raises FormatError.

    A format without pages, and one whose text came as a single page, is cut like plain text.
    """
    if content.startswith(OLE) and _ENCRYPTED_OFFICE in content:
        raise FormatError("encrypted", "the office file needs a password")
    document = _extract(content, filename)
    texts = [page.content for page in document.pages or ()]
    if len(texts) > 1:
        pages = [RawPage(None, text) for text in texts]
    else:
        pages = split_pages(texts[0] if texts else document.content)
    if not any(char.isalnum() for page in pages for char in page.text):
        if content.startswith(b"%PDF") and re.search(rb"/Subtype\s*/Image", content):
            raise FormatError("no_text", "the pages are images without a text layer: run OCR on them first")
        pages = []
    return (document.metadata.title or "").strip() or None, document.mime_type, pages


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
        return asyncio.run(extract()).results[0]
    except (RuntimeError, ValueError, OSError, IndexError) as error:
        raise FormatError(_code(str(error)), str(error)) from error


def _code(message: str) -> str:
    lowered = message.lower()
    if "encrypt" in lowered or "password" in lowered:
        return "encrypted"
    if "unsupported" in lowered:
        return "unsupported"
    return "malformed"
