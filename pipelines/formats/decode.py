"""Bytes → text, whatever the encoding; never with a silent replacement character."""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

from pipelines.formats.contract import FormatError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"""<(?:\?xml[^>]*encoding|meta[^>]*charset)\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""", re.I
)
_HEAD = 4096
_PUNCTUATION = frozenset("„”“–—…’‘»«°§€©®\u00a0\u00ad")
_HUNGARIAN = frozenset("áéíóöőúüűÁÉÍÓÖŐÚÜŰß") | _PUNCTUATION
_WESTERN = frozenset("àáâäåæçèéêëíîïñóôöœøùúûüÿßÀÁÂÄÅÆÇÈÉÊËÍÎÏÑÓÔÖŒØÙÚÛÜ") | _PUNCTUATION
_SINGLE_BYTE = (("cp1250", _HUNGARIAN), ("iso8859_2", _HUNGARIAN), ("cp1252", _WESTERN))
"""Encodings tried side by side where nothing else tells, with the characters that speak for each."""


def decode(content: bytes) -> str:
    """The text of a file. Byte order mark first, then a declared charset, UTF-8, and detection.

    Raises FormatError (`undecodable`) when the bytes look like no text.
    """
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return _decode(content[len(mark) :], encoding)
    wide = _wide_encoding(content)
    if wide:
        return _decode(content, wide)
    for encoding in filter(None, (_declared(content), "utf-8")):
        try:
            return _checked(content.decode(encoding))
        except (UnicodeDecodeError, LookupError):
            continue
    return _checked(_detect(content))


def _decode(content: bytes, encoding: str) -> str:
    try:
        return _checked(content.decode(encoding))
    except UnicodeDecodeError as error:
        raise FormatError("undecodable", f"not valid {encoding}: {error}") from error


def _declared(content: bytes) -> str | None:
    found = _DECLARED.search(content[:_HEAD])
    return found.group(1).decode("ascii") if found else None


def _wide_encoding(content: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: most text has zero bytes at every second or fourth place."""
    head = content[:_HEAD]
    if len(head) < 4 or 0 not in head:
        return None
    zeros = [sum(byte == 0 for byte in head[place::4]) / max(len(head[place::4]), 1) for place in range(4)]
    if min(zeros[1:]) > 0.7 > zeros[0]:
        return "utf-32-le"
    if min(zeros[:3]) > 0.7 > zeros[3]:
        return "utf-32-be"
    if min(zeros[1], zeros[3]) > 0.6 and max(zeros[0], zeros[2]) < 0.3:
        return "utf-16-le"
    if min(zeros[0], zeros[2]) > 0.6 and max(zeros[1], zeros[3]) < 0.3:
        return "utf-16-be"
    return None


def _detect(content: bytes) -> str:
    best, text = 0.0, None
    for encoding, expected in _SINGLE_BYTE:
        try:
            candidate = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        score = _score(candidate, expected)
        if score > best:
            best, text = score, candidate
    if text is not None:
        return text
    match = from_bytes(content).best()
    if match is None:
        raise FormatError("undecodable", "the bytes are text in no known encoding")
    return str(match)


def _score(text: str, expected: frozenset[str]) -> float:
    """How far the expected characters prevail among those beyond ASCII: from -1 to 1."""
    odd = [char for char in text if ord(char) > 127]
    known = sum(char in expected for char in odd)
    return (2 * known - len(odd)) / max(len(odd), 1)


def _checked(text: str) -> str:
    controls = sum(char < " " and char not in "\t\n\r\f\v\x1b" for char in text[:_HEAD])
    if "\0" in text[:_HEAD] or controls > 8 + len(text[:_HEAD]) // 50:
        raise FormatError("undecodable", "the file has control characters as no text has")
    return text
