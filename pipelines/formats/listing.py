"""The files of a source: a file, a folder with all below it, or a glob."""

from __future__ import annotations

import glob
import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path

from pipelines.errors import SourceError
from pipelines.formats.contract import RawReject, SourceFile

Identity = tuple[int, int]
"""Device and inode of a folder."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What was found."""

    files: tuple[SourceFile, ...]
    """Sorted by `source_id`."""
    rejects: tuple[RawReject, ...]
    """Folders and files that could not be looked at."""

    @property
    def complete(self) -> bool:
        """Whether everything could be looked at."""
        return not self.rejects


def list_source(root: str) -> Listing:
    """List a source: a file, a folder, or a glob in which `**` stands for any folders.

    Hidden files are passed over, and so are links to a folder above. What cannot be looked at, dangling links
    among it, is a reject, so that no one takes it for deleted. Raises SourceError when there is nothing.
    """
    path = Path(root)
    rejects: list[RawReject] = []
    if path.is_file():
        found = [(path.name, path)]
    elif path.is_dir():
        found = list(_walk(path, None, rejects))
    elif glob.has_magic(root):
        base, pattern = _base_and_pattern(path)
        found = list(_walk(base, pattern, rejects)) if base.is_dir() else []
    else:
        found = []
    if not found and not rejects:
        raise SourceError(
            f"no file at {root!r}: give a file, a folder that holds files, or a glob that matches"
        )
    names = _Names()
    files = [file for name, each in sorted(found) if (file := _source_file(name, each, names, rejects))]
    return Listing(tuple(sorted(files, key=lambda file: file.source_id)), tuple(rejects))


def _walk(base: Path, pattern: Pattern | None, rejects: list[RawReject]) -> Iterator[tuple[str, Path]]:
    """(name below the base, path) of every file that the pattern takes."""
    folders: list[tuple[Path, tuple[str, ...], tuple[Identity, ...]]] = [(base, (), ())]
    while folders:
        folder, above, identities = folders.pop()
        try:
            status = folder.stat()
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            rejects.append(_reject("/".join(above) or ".", f"folder cannot be listed: {error.strerror}"))
            continue
        identity = (status.st_dev, status.st_ino)
        if identity in identities:
            continue
        for entry in entries:
            parts = (*above, entry.name)
            if entry.name.startswith(".") or (pattern and not pattern.may_hold(parts)):
                continue
            name, path = "/".join(parts), Path(entry.path)
            try:
                kind = "folder" if entry.is_dir() else "file" if entry.is_file() else ""
            except OSError as error:
                rejects.append(_reject(name, f"cannot be looked at: {error.strerror}"))
                continue
            if kind == "folder":
                folders.append((path, parts, (*identities, identity)))
            elif kind == "file" and (pattern is None or pattern.takes(parts)):
                yield name, path
            elif entry.is_symlink() and not path.exists():
                rejects.append(_reject(name, "the link leads nowhere"))


class Pattern:
    """A glob below a base folder, matched part by part; it also takes all that lies in a folder it takes."""

    def __init__(self, parts: tuple[str, ...]) -> None:
        self._parts = [None if part == "**" else re.compile(translate(part)) for part in parts]

    def takes(self, parts: tuple[str, ...]) -> bool:
        """Whether a file with these parts of its path belongs to the source."""
        return len(self._parts) in self._reached(parts)

    def may_hold(self, parts: tuple[str, ...]) -> bool:
        """Whether these parts match, or may do so with more parts behind them."""
        return bool(self._reached(parts))

    def _reached(self, parts: tuple[str, ...]) -> set[int]:
        """How many parts of the pattern may be used up after these parts of a path."""
        reached = self._past_any({0})
        for part in parts:
            reached = self._past_any(
                {
                    step + (step < len(self._parts) and self._parts[step] is not None)
                    for step in reached
                    if step == len(self._parts)
                    or (expression := self._parts[step]) is None
                    or expression.match(part)
                }
            )
        return reached

    def _past_any(self, reached: set[int]) -> set[int]:
        """`**` may stand for no folder at all."""
        for step, expression in enumerate(self._parts):
            if step in reached and expression is None:
                reached.add(step + 1)
        return reached


def _base_and_pattern(path: Path) -> tuple[Path, Pattern]:
    fixed = next(number for number, part in enumerate(path.parts) if glob.has_magic(part))
    return Path(*path.parts[:fixed]), Pattern(path.parts[fixed:])


class _Names:
    """Gives each file a name of its own."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, name: str) -> str:
        """In NFC; two files whose names are equal in NFC get `~` behind the later one."""
        identifier = _identifier(name)
        while identifier in self._taken:
            identifier += "~"
        self._taken.add(identifier)
        return identifier


def _source_file(name: str, path: Path, names: _Names, rejects: list[RawReject]) -> SourceFile | None:
    try:
        return SourceFile(str(path), names.of(name), path.stat().st_size)
    except OSError as error:
        rejects.append(_reject(name, f"file cannot be looked at: {error.strerror}"))
        return None


def _reject(name: str, message: str) -> RawReject:
    return RawReject(_identifier(name), "unreadable", f"{_identifier(name)}: {message}")


def _identifier(name: str) -> str:
    """The name in NFC; bytes that are no valid UTF-8 appear as `\\xNN`."""
    return unicodedata.normalize("NFC", os.fsencode(name).decode(errors="backslashreplace"))
