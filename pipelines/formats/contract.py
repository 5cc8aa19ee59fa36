"""What reading a file gives: documents made of pages, and rejects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source."""

    path: str
    source_id: str
    """Its path below the source's root, with `/`, in NFC; a name that is no valid Unicode is escaped."""
    size: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as the format has it, or a chapter or block of a plain text."""

    heading: str | None
    text: str


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document before any analysis."""

    source_id: str
    """The file's; of a record with `#` and the record's own id behind it."""
    record_id: str | None
    name: str
    url: str | None
    media_type: str
    pages: Sequence[RawPage]
    content_hash: str
    """Hex SHA-256 of the file's bytes, or of the record as canonical JSON."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawReject:
    """Something that could not be read, and why."""

    source_id: str
    code: str
    """One of `CODES` below."""
    message: str


CODES = {
    "unreadable": "the file or folder cannot be opened",
    "empty": "the file has no bytes",
    "encrypted": "a password is needed",
    "malformed": "the format's structure is broken",
    "no_text": "there is no text layer (images only)",
    "undecodable": "the bytes are text in no known encoding",
    "unsupported": "the format is not known",
    "too_large": "the file is larger than one document may be, or takes too much memory",
    "timed_out": "reading took too long",
    "crashed": "the parser broke down",
    "bad_record": "a row or line is no valid record",
    "duplicate_record": "a record's id occurred before in the same file",
}


class FormatError(Exception):
    """A file that cannot be read; `code` is one of `CODES`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
