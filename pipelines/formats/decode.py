"""Bytes → text, whatever the encoding; never with a silent replacement character."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

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
_WIDER = {"iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254"}
"""What browsers take a declared encoding for: the wider set of the same letters."""
_HEAD = 4096
_SAMPLE = 1 << 20
"""Bytes looked at where an encoding must be guessed."""
_VALID_LINES = 1000
"""Lines of good UTF-8 put beside bad ones to tell a stray byte from another encoding."""
_DETECTED = 1 << 16
"""Bytes handed to the detector, which is slow."""
_STRAY = 0.1
"""Share of bytes beyond ASCII that may break UTF-8 in a file that counts as UTF-8 nevertheless."""

_HIGH = re.compile(rb"[\x80-\xff]")
_C1 = re.compile("[\x80-\x9f]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_PUNCTUATION = frozenset("„”“–—…’‘‚»«•§°€©®™·×½¼¾²³±´\u00a0\u00ad")
_LETTERS = (
    ("cp1250", "áéíóöőúüű"),
    ("cp1252", "äöüßé"),
    ("cp1252", "àâæçèéêëîïôœùûüÿ"),
    ("cp1252", "áéíñóúü¿¡ªº"),
    ("cp1252", "áàâãçéêíóôõúªº"),
    ("cp1252", "àèéìíîòóùú"),
    ("cp1252", "åäöæøé"),
    ("cp1250", "áčďéěíňóřšťúůýžäľĺôŕ"),
    ("iso8859-2", "áčďéěíňóřšťúůýžäľĺôŕ"),
    ("cp1250", "ąćęłńóśźż"),
    ("iso8859-2", "ąćęłńóśźż"),
    ("cp1250", "ăâîşţ"),
    ("iso8859-2", "ăâîşţ"),
    ("cp1250", "čćđšž"),
    ("iso8859-2", "čćđšž"),
)
"""Encodings of one byte a sign with the letters of a language written in them; Hungarian goes first."""
_EXPLAINED = 0.93
"""Share of the signs beyond ASCII that a language's letters and punctuation must make up."""
_ALL_EXPLAINED = 0.99
"""The same for a text in several western languages."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file's bytes are text."""

    name: str
    mark: bytes = b""
    """The byte order mark in front."""
    stray: str | None = None
    """The encoding of single bytes that are not valid in `name`."""


def decode(content: bytes) -> str:
    """The text of a file; line ends as they are.

    Byte order mark first, then UTF-16 and 32 by their zero bytes, UTF-8, a declared charset, and detection.
    Raises FormatError (`undecodable`) when the bytes look like no text.
    """
    return decode_as(content, detect(content))


def decode_as(content: bytes, encoding: Encoding) -> str:
    """The text of a file, or a part of one, whose encoding is known. Raises FormatError (`undecodable`)."""
    body = content.removeprefix(encoding.mark) if encoding.mark else content
    try:
        text = body.decode(encoding.name)
    except UnicodeDecodeError as error:
        if encoding.stray is None:
            raise FormatError("undecodable", f"not valid {encoding.name}: {error.reason}") from error
        text = _with_strays(body, encoding)
    _refuse_binary(text[:_HEAD])
    return text


def detect(content: bytes) -> Encoding:
    """How the bytes of a file, or a first part that ends with a line, are text. Raises FormatError."""
    for mark, name in _BOMS:
        if content.startswith(mark):
            return Encoding(name, mark)
    wide = _wide_encoding(content)
    if wide:
        return Encoding(wide)
    declared = _declared(content)
    if _is(content, "utf-8") and not (declared and declared.startswith(("iso2022", "utf-7", "hz"))):
        return Encoding("utf-8")
    _refuse_binary(content[:_HEAD].decode("latin-1"))
    if declared and declared != "utf-8" and _is(content, declared):
        return Encoding(_without_controls(content, declared))
    stray = _stray_share(content)
    if stray < _STRAY:
        return Encoding("utf-8", stray="cp1252")
    return Encoding(_guess(content))


def detect_file(path: Path) -> Encoding:
    """How a file of any size is text, in constant memory. Raises FormatError and OSError."""
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
        if len(head) < _SAMPLE or head.startswith(tuple(mark for mark, _ in _BOMS)) or _wide_encoding(head):
            return detect(head)
        file.seek(0)
        check = codecs.getincrementaldecoder("utf-8")()
        sample, size = [head[:_HEAD].rpartition(b"\n")[0]], 0
        for line in file:
            odd = not line.isascii()
            try:
                check.decode(line)
            except UnicodeDecodeError:
                check.reset()
                sample.append(line)
                size += len(line)
            else:
                if odd and len(sample) < _VALID_LINES:
                    sample.append(line)
            if size > _SAMPLE:
                break
    return detect(b"\n".join(sample))


def _is(content: bytes, name: str) -> bool:
    try:
        content.decode(name)
    except (UnicodeDecodeError, LookupError):
        return False
    return True


def _declared(content: bytes) -> str | None:
    found = _DECLARED.search(content[:_HEAD])
    if not found:
        return None
    try:
        name = codecs.lookup(found.group(1).decode("ascii")).name
    except LookupError:
        return None
    return _WIDER.get(name, name)


def _without_controls(content: bytes, name: str) -> str:
    """CP1250 for what is declared as ISO-8859-2 but has signs where that has only controls."""
    if name == "iso8859-2" and _C1.search(content.decode(name)) and _is(content, "cp1250"):
        return "cp1250"
    return name


def _wide_encoding(content: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: most text has zero bytes at every second or fourth place."""
    head = content[:_HEAD]
    if len(head) < 4 or 0 not in head:
        return None
    places = [head[place::4] for place in range(4)]
    zeros = [place.count(0) / len(place) for place in places]
    if min(zeros[1:]) > 0.7 > zeros[0]:
        return "utf-32-le"
    if min(zeros[:3]) > 0.7 > zeros[3]:
        return "utf-32-be"
    if min(zeros[1], zeros[3]) > 0.5 and max(zeros[0], zeros[2]) < 0.3:
        return "utf-16-le"
    if min(zeros[0], zeros[2]) > 0.5 and max(zeros[1], zeros[3]) < 0.3:
        return "utf-16-be"
    return None


def _stray_share(content: bytes) -> float:
    """Share of the bytes beyond ASCII that are not valid UTF-8."""
    sample = content[:_SAMPLE]
    high = len(_HIGH.findall(sample))
    valid = len(_HIGH.findall(sample.decode("utf-8", "ignore").encode()))
    return (high - valid) / high if high else 1.0


def _with_strays(content: bytes, encoding: Encoding) -> str:
    def stray(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeDecodeError):
            raise error
        return error.object[error.start : error.end].decode(encoding.stray or "ascii"), error.end

    codecs.register_error(f"stray-{encoding.stray}", stray)
    try:
        return content.decode(encoding.name, f"stray-{encoding.stray}")
    except UnicodeDecodeError as error:
        raise FormatError("undecodable", f"not valid {encoding.name}: {error.reason}") from error


def _guess(content: bytes) -> str:
    """The encoding whose language explains the bytes best; where none does, the detector's choice."""
    sample = _with_high_bytes(content)
    high = Counter(b"".join(_HIGH.findall(sample)))
    shares = {each: _explained(high, *each) for each in _LETTERS}
    best = max(shares, key=lambda each: shares[each])
    if shares[best] >= _EXPLAINED and _is(content, best[0]):
        return best[0]
    western = "".join(letters for name, letters in _LETTERS if name == "cp1252")
    if _explained(high, "cp1252", western) >= _ALL_EXPLAINED and _is(content, "cp1252"):
        return "cp1252"
    match = from_bytes(sample[:_DETECTED]).best()
    if match is None or not _is(content, match.encoding):
        raise FormatError("undecodable", "the bytes are text in no known encoding: save the file as UTF-8")
    return match.encoding


def _with_high_bytes(content: bytes) -> bytes:
    """The lines with bytes beyond ASCII, up to the sample's size."""
    if len(content) <= _SAMPLE:
        return content
    lines, size = [], 0
    for line in content.splitlines(keepends=True):
        if not line.isascii():
            lines.append(line)
            size += len(line)
            if size > _SAMPLE:
                break
    return b"".join(lines)[:_SAMPLE]


def _explained(high: Counter[int], name: str, letters: str) -> float:
    """Share of the bytes beyond ASCII that are letters of the language, or punctuation."""
    signs = "".join(_PUNCTUATION) + letters + letters.upper()
    known = set(signs.encode(name, "ignore"))
    return sum(count for byte, count in high.items() if byte in known) / max(high.total(), 1)


def _refuse_binary(head: str) -> None:
    if "\0" in head or len(_CONTROL.findall(head)) > 8 + len(head) // 50:
        raise FormatError("undecodable", "the file has control characters as no text has")
