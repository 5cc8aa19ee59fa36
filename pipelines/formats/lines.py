"""The lines of a text file of any size, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pipelines.formats.contract import FormatError
from pipelines.formats.decode import Encoding, decode_as, detect_file


class Lines:
    """The lines of a file, ends included, in constant memory; only a line feed ends one.

    A line that cannot be decoded comes with `?` for its odd bytes, and `pop_bad` tells of it. Iterate once.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._bad: tuple[int, str] | None = None
        self._quotes = 0

    def pop_quotes(self) -> int:
        """How many quotation marks the lines since the last call held."""
        quotes, self._quotes = self._quotes, 0
        return quotes

    def pop_bad(self) -> tuple[int, str] | None:
        """Number and fault of the first line since the last call that could not be decoded."""
        bad, self._bad = self._bad, None
        return bad

    def __iter__(self) -> Iterator[str]:
        """Raises FormatError and OSError."""
        encoding = detect_file(self._path)
        wide = encoding.name.startswith(("utf-16", "utf-32"))
        for line in self._wide(encoding) if wide else self._narrow(encoding):
            self._quotes += line.count('"')
            yield line

    def _wide(self, encoding: Encoding) -> Iterator[str]:
        with self._path.open(encoding=encoding.name, newline="\n") as file:
            try:
                for number, line in enumerate(file):
                    yield line.removeprefix("\ufeff") if number == 0 else line
            except UnicodeDecodeError as error:
                raise FormatError("undecodable", f"not valid {encoding.name}: {error.reason}") from error

    def _narrow(self, encoding: Encoding) -> Iterator[str]:
        following = Encoding(encoding.name, stray=encoding.stray)
        with self._path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield decode_as(line, encoding if number == 1 else following)
                except FormatError as error:
                    self._bad = self._bad or (number, str(error))
                    yield line.decode("ascii", "replace").replace("\ufffd", "?")
