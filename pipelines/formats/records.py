"""Record files: each row of a csv and each line of a jsonl is a document."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from pipelines.formats.contract import FormatError, RawDocument, RawReject, SourceFile
from pipelines.formats.lines import Lines
from pipelines.formats.plain import split_pages

ID_FIELDS = ("_id", "id")
TEXT_FIELD, TITLE_FIELD, URL_FIELD = "text", "title", "url"
_KNOWN = frozenset((*ID_FIELDS, TEXT_FIELD, TITLE_FIELD, URL_FIELD))
_DELIMITERS = ",;\t|"
_CELL_LIMIT = 1 << 26
"""Characters in a cell; a quotation mark that is never closed would take in the rest of the file."""

Numbered = tuple[int, Mapping[str, Any] | FormatError]
"""Number of a record's first line, and the record."""


def read_jsonl(file: SourceFile) -> Iterator[RawDocument | RawReject]:
    """The records of a file with one JSON object a line, read line by line."""
    return _documents(file, _json_lines(Lines(Path(file.path))), "application/x-ndjson")


def read_csv(file: SourceFile) -> Iterator[RawDocument | RawReject]:
    """The rows of a file whose first line names the columns, read row by row.

    The delimiter is the one that the first line holds most of: comma, semicolon, tab or bar. Without a
    `text` column all other cells together, as `name: value` lines, are the text.
    """
    return _documents(file, _csv_rows(Lines(Path(file.path))), "text/csv")


def _json_lines(lines: Lines) -> Iterator[Numbered]:
    for number, line in enumerate(lines, 1):
        bad = lines.pop_bad()
        if bad:
            yield number, FormatError("undecodable", f"line {bad[0]}: {bad[1]}")
        elif line.strip():
            yield number, _json_record(number, line)


def _json_record(number: int, line: str) -> Mapping[str, Any] | FormatError:
    try:
        record = json.loads(line, parse_constant=_refuse_constant)
        if "\\ud" in line or "\\uD" in line:
            json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return FormatError("bad_record", f"line {number} holds half of a surrogate pair")
    except (ValueError, RecursionError) as error:
        return FormatError("bad_record", f"line {number} is no JSON: {error}")
    if not isinstance(record, dict):
        return FormatError("bad_record", f"line {number} is no JSON object")
    return record


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _csv_rows(lines: Lines) -> Iterator[Numbered]:
    csv.field_size_limit(_CELL_LIMIT)
    source = iter(lines)
    first = next(source, "")
    rows = csv.reader(_chained(first, source), delimiter=_delimiter(first))
    header = _column_names(next(rows, []))
    begun = rows.line_num
    lines.pop_quotes()
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield begun + 1, FormatError("bad_record", f"line {begun + 1} is no row: {error}")
            begun = rows.line_num
            continue
        number, begun = begun + 1, rows.line_num
        paired = lines.pop_quotes() % 2 == 0 or begun == number
        if bad := lines.pop_bad():
            yield number, FormatError("undecodable", f"line {bad[0]}: {bad[1]}")
        elif not paired:
            message = f"the quotation marks of the row in lines {number} to {begun} do not pair"
            yield number, FormatError("bad_record", message)
        elif any(cell.strip() for cell in cells[len(header) :]):
            message = f"line {number} has {len(cells)} cells, the header {len(header)}"
            yield number, FormatError("bad_record", message)
        elif any(cell.strip() for cell in cells):
            yield number, dict(zip(header, cells, strict=False))


def _chained(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _column_names(cells: list[str]) -> list[str]:
    """Names without space around them, the known ones in small letters, each once."""
    names: list[str] = []
    for number, cell in enumerate(cells, 1):
        name = cell.strip() or f"column {number}"
        name = name.lower() if name.lower() in _KNOWN else name
        names.append(name if name not in names else f"{name} ({number})")
    return names


def _delimiter(header: str) -> str:
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
        key = hashlib.blake2b(identity.encode(), digest_size=16).digest()
        if key in seen:
            message = f"line {number}: the id {identity[:80]!r} occurred before; the first record was kept"
            yield RawReject(f"{file.source_id}#{number}", "duplicate_record", message)
            continue
        seen.add(key)
        yield _document(file, record, identity, media_type)


def _document(file: SourceFile, record: Mapping[str, Any], identity: str, media_type: str) -> RawDocument:
    title = _string(record.get(TITLE_FIELD))
    rest = {name: value for name, value in record.items() if name not in _KNOWN}
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
        content_hash=hashlib.sha256(canonical.encode()).hexdigest(),
        metadata=rest,
    )


def _identity(record: Mapping[str, Any]) -> str:
    return next((_string(record[name]) for name in ID_FIELDS if _string(record.get(name))), "")


def _string(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
