"""The files of a generation that are no parts: the search index and the DuckDB file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from store.files import sha256_file

_LOCK_FILES = (".tantivy-meta.lock", ".tantivy-writer.lock")
"""Made by whoever opens an index; no part of it."""


class StoredFile(BaseModel):
    """A file as a commit lists it."""

    model_config = ConfigDict(frozen=True)

    path: str
    """Relative to the domain's folder."""
    bytes: int
    sha256: str


def stored_files(root: Path, search: str, knowledge: str) -> tuple[StoredFile, ...]:
    """The files of a search index and a DuckDB file as they lie there now, sorted by path."""
    paths = [*files_below(root / search), root / knowledge]
    return tuple(
        StoredFile(path=str(path.relative_to(root)), bytes=path.stat().st_size, sha256=sha256_file(path))
        for path in sorted(paths)
    )


def files_below(folder: Path) -> Iterator[Path]:
    """All files and links below a folder, but for those that readers of an index make."""
    for place, _, names in os.walk(folder):
        yield from (Path(place, name) for name in names if name not in _LOCK_FILES)
