"""Stage `load`: files → documents, pages, rejects."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ner.spec import DomainSpec
from ner.text.language import detect_language
from pipelines.formats.contract import RawDocument, RawReject, SourceFile
from pipelines.formats.process import Limits
from pipelines.formats.reader import DEFAULT_LIMITS, read_file
from pipelines.stages.tables import FILES
from store.parts import Part, PartWriter
from store.tables import DOCUMENTS, PAGES, REJECTS, Table

SAMPLE_CHARACTERS = 20_000
"""How much of a document's text tells its language."""


@dataclass(frozen=True, slots=True)
class HashedFile:
    """A file of a source with the hash of its bytes."""

    file: SourceFile
    sha256: str


@dataclass(frozen=True, slots=True)
class LoadItem:
    """Some files of one bucket."""

    bucket: str
    source: str
    system: str
    language: str
    """A code, or `auto` to tell each document's."""
    files: tuple[HashedFile, ...]
    rejects: tuple[RawReject, ...] = ()
    """What the listing of the source could not reach."""
    purged: frozenset[int] = frozenset()
    """Ids of documents that may not come back."""


@dataclass(frozen=True, slots=True)
class LoadTask:
    """Reads files into parts of documents, pages, rejects and files."""

    root: Path
    spec: DomainSpec
    limits: Limits = DEFAULT_LIMITS

    def __call__(self, item: LoadItem) -> list[Part]:
        with ExitStack() as stack:
            writers = {
                table.name: stack.enter_context(PartWriter(self.root, table, item.bucket))
                for table in (DOCUMENTS, PAGES, REJECTS, FILES)
            }
            _write(writers, REJECTS, [_reject_row(item, reject) for reject in item.rejects])
            for hashed in item.files:
                _write(writers, FILES, [_file_row(item, hashed)])
                for outcome in read_file(hashed.file, self.limits):
                    if isinstance(outcome, RawReject):
                        _write(writers, REJECTS, [_reject_row(item, outcome)])
                    elif self._identity(item, outcome) not in item.purged:
                        self._write_document(writers, item, outcome)
        return [writer.part for writer in writers.values() if writer.part]

    def _identity(self, item: LoadItem, raw: RawDocument) -> int:
        return document_id(self.spec.domain, item.system, item.source, raw.source_id)

    def _write_document(self, writers: dict[str, PartWriter], item: LoadItem, raw: RawDocument) -> None:
        pages = list(raw.pages)
        identity = self._identity(item, raw)
        row = {
            "document_id": identity,
            "domain": self.spec.domain,
            "system": item.system,
            "source": item.source,
            "source_id": raw.source_id,
            "record_id": raw.record_id,
            "name": raw.name,
            "url": raw.url,
            "media_type": raw.media_type,
            "language": self._language(item, [page.text for page in pages]),
            "content_hash": raw.content_hash,
            "page_count": len(pages),
            "metadata": json.dumps(raw.metadata, ensure_ascii=False, sort_keys=True, default=str),
        }
        _write(writers, DOCUMENTS, [row])
        for number, page in enumerate(pages):
            content = {
                "document_id": identity,
                "page": number,
                "heading": page.heading,
                "text": page.text,
                "summary": None,
            }
            _write(writers, PAGES, [content])

    def _language(self, item: LoadItem, texts: Sequence[str]) -> str:
        if item.language != "auto":
            return item.language
        share = SAMPLE_CHARACTERS // max(len(texts), 1) + 1
        sample = "\n".join(text[:share] for text in texts)
        return detect_language(sample, self.spec.languages, self.spec.languages[0])


def document_id(domain: str, system: str, source: str, source_id: str) -> int:
    """63-bit id of a document: a function of where it belongs and what it is called there."""
    key = "\0".join((domain, system, source, source_id))
    return int.from_bytes(hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=8).digest()) >> 1


def _write(writers: dict[str, PartWriter], table: Table, rows: list[dict[str, Any]]) -> None:
    writers[table.name].write(pa.RecordBatch.from_pylist(rows, schema=table.schema))


def _file_row(item: LoadItem, hashed: HashedFile) -> dict[str, Any]:
    return {
        "source": item.source,
        "source_id": hashed.file.source_id,
        "sha256": hashed.sha256,
        "bytes": hashed.file.size,
    }


def _reject_row(item: LoadItem, reject: RawReject) -> dict[str, Any]:
    return {
        "source": item.source,
        "source_id": reject.source_id,
        "stage": "load",
        "code": reject.code,
        "message": reject.message,
    }
