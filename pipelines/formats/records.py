"""Record files: each row of a csv and each line of a jsonl is a document."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pipelines.formats.contract import FormatError, RawDocument, RawReject, SourceFile
from pipelines.formats.decode import decode
from pipelines.formats.plain import split_pages

ID_FIELDS = ("_id", "id")
TEXT_FIELD, TITLE_FIELD, URL_FIELD = "text", "title", "url"
_DELIMITERS = ",;\t|"
_CELL_LIMIT = 2**31 - 1
_SNIFF = 64 * 1024

Numbered = tuple[int, Mapping[str, Any] | FormatError]


def read_jsonl(file: SourceFile) -> Iterator[RawDocument | RawReject]:
    """The records of a file with one JSON object a line, read line by line."""
    return _documents(file, _json_lines(Path(file.path)), "application/x-ndjson")


def read_csv(file: SourceFile) -> Iterator[RawDocument | RawReject]:
    """The rows of a file whose first line names the columns; without a `text` column, all cells are text."""
    return _documents(file, _csv_rows(Path(file.path)), "text/csv")


def _json_lines(path: Path) -> Iterator[Numbered]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            text = line.removeprefix(b"\xef\xbb\xbf").strip()
            if not text:
                continue
            try:
                record = json.loads(text)
            except ValueError as error:
                yield number, FormatError("bad_record", f"line {number} is no JSON: {error}")
                continue
            if isinstance(record, dict):
                yield number, record
            else:
                yield number, FormatError("bad_record", f"line {number} is no JSON object")


def _csv_rows(path: Path) -> Iterator[Numbered]:
    text = decode(path.read_bytes())
    csv.field_size_limit(_CELL_LIMIT)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text[:_SNIFF]))
    header = next(rows, [])
    for cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(header):
            yield (
                rows.line_num,
                FormatError(
                    "bad_record", f"line {rows.line_num} has {len(cells)} cells, the header {len(header)}"
                ),
            )
        else:
            yield rows.line_num, dict(zip(header, cells, strict=False))


def _delimiter(sample: str) -> str:
    """The delimiter that the header holds most often outside quotes."""
    header = sample.split("\n", 1)[0]
    outside = "".join(header.split('"')[::2])
    return max(_DELIMITERS, key=lambda each: (outside.count(each), -_DELIMITERS.index(each)))


def _documents(
    file: SourceFile, records: Iterable[Numbered], media_type: str
) -> Iterator[RawDocument | RawReject]:
    seen: set[bytes] = set()
    for number, record in records:
        if isinstance(record, FormatError):
            yield RawReject(f"{file.source_id}#{number}", record.code, str(record))
            continue
        identity = _identity(record) or str(number)
        key = hashlib.blake2b(identity.encode(errors="surrogatepass"), digest_size=16).digest()
        if key in seen:
            message = f"line {number}: the id {identity[:80]!r} occurred before; the first record was kept"
            yield RawReject(f"{file.source_id}#{number}", "duplicate_record", message)
            continue
        seen.add(key)
        yield _document(file, record, identity, media_type)


def _document(file: SourceFile, record: Mapping[str, Any], identity: str, media_type: str) -> RawDocument:
    title = _string(record.get(TITLE_FIELD))
    rest = {k: v for k, v in record.items() if k not in (*ID_FIELDS, TITLE_FIELD, TEXT_FIELD, URL_FIELD)}
    if TEXT_FIELD in record:
        text = _string(record[TEXT_FIELD])
    else:
        text = "\n".join(f"{name}: {_string(value)}" for name, value in rest.items() if _string(value))
    canonical = json.dumps(record, ensure_ascii=False, sort_keys=True)
    return RawDocument(
        source_id=f"{file.source_id}#{identity}",
        record_id=identity,
        name=title or f"{Path(file.source_id).name} #{identity}",
        url=_string(record.get(URL_FIELD)) or None,
        media_type=media_type,
        pages=split_pages(text, title or None),
        content_hash=hashlib.sha256(canonical.encode(errors="surrogatepass")).hexdigest(),
        metadata=rest,
    )


def _identity(record: Mapping[str, Any]) -> str:
    return next((_string(record[field]) for field in ID_FIELDS if _string(record.get(field))), "")


def _string(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
