"""The files of a source: a file, a folder with all below it, or a glob."""

from __future__ import annotations

import glob
import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipelines.errors import SourceError
from pipelines.formats.contract import RawReject, SourceFile


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
    """List a source. Hidden files, and links that lead back to a folder above, are passed over.

    Raises SourceError when there is nothing at the root.
    """
    path = Path(root)
    rejects: list[RawReject] = []
    if path.is_file():
        found = [(path.name, path)]
    elif path.is_dir():
        found = list(_walk(path, "", rejects, (_identity(path),)))
    else:
        found = _glob(root, rejects)
    if not found and not rejects:
        raise SourceError(
            f"no file at {root!r}: give a file, a folder that holds files, or a glob that matches"
        )
    files = [file for name, each in found if (file := _source_file(name, each, rejects))]
    return Listing(tuple(sorted(files, key=lambda file: file.source_id)), tuple(rejects))


def _walk(
    folder: Path, prefix: str, rejects: list[RawReject], above: tuple[tuple[int, int], ...]
) -> Iterator[tuple[str, Path]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        rejects.append(
            RawReject(_identifier(prefix) or ".", "unreadable", f"folder cannot be listed: {error}")
        )
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        name, path = f"{prefix}{entry.name}", Path(entry.path)
        if entry.is_dir():
            identity = _identity(path)
            if identity not in above:
                yield from _walk(path, f"{name}/", rejects, (*above, identity))
        elif entry.is_file():
            yield name, path


def _glob(root: str, rejects: list[RawReject]) -> list[tuple[str, Path]]:
    base = _fixed_part(root)
    found: list[tuple[str, Path]] = []
    for match in sorted(glob.glob(root, recursive=True)):  # noqa: PTH207
        path = Path(match)
        name = path.relative_to(base).as_posix()
        if path.is_dir():
            found.extend(_walk(path, f"{name}/", rejects, (_identity(path),)))
        elif path.is_file():
            found.append((name, path))
    return list(dict(found).items())


def _fixed_part(root: str) -> Path:
    parts = Path(root).parts
    fixed = next((n for n, part in enumerate(parts) if glob.has_magic(part)), len(parts) - 1)
    return Path(*parts[:fixed])


def _source_file(name: str, path: Path, rejects: list[RawReject]) -> SourceFile | None:
    try:
        return SourceFile(str(path), _identifier(name), path.stat().st_size)
    except OSError as error:
        rejects.append(RawReject(_identifier(name), "unreadable", f"file cannot be looked at: {error}"))
        return None


def _identifier(name: str) -> str:
    """The name in NFC; bytes that are no valid UTF-8 appear as `\\xNN`."""
    return unicodedata.normalize("NFC", os.fsencode(name).decode(errors="backslashreplace"))


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return (status.st_dev, status.st_ino)
