"""Digests of plain values and of files: what a result depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from typing import Any


def digest_of(content: Any) -> str:
    """Hex SHA-256 of plain values as canonical JSON."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of_files(folder: Traversable, suffix: str = "") -> str:
    """Hex SHA-256 of a folder's files with this end of name: relative names and contents, compiled Python left out.

    The same for a folder on disk and in a zip.
    """
    state = hashlib.sha256()
    for place, file in sorted(files_of(folder), key=lambda each: each[0]):
        if place[-1].endswith(suffix):
            content = file.read_bytes()
            state.update(f"{'/'.join(place)}\0{len(content)}\0".encode())
            state.update(content)
    return state.hexdigest()


def files_of(folder: Traversable, *within: str) -> Iterator[tuple[tuple[str, ...], Traversable]]:
    """All files below a folder, and the parts of their names relative to it, in no order; no compiled Python."""
    for entry in folder.iterdir():
        place = (*within, entry.name)
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from files_of(entry, *place)
        elif not entry.name.endswith(".pyc"):
            yield place, entry
