"""Digests of plain values and of files: what a result depends on."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def digest_of(content: Any) -> str:
    """Hex SHA-256 of plain values as canonical JSON."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of_files(folder: Path, pattern: str = "**/*") -> str:
    """Hex SHA-256 of a folder's files: relative names and contents, compiled Python left out."""
    state = hashlib.sha256()
    for path in sorted(p for p in folder.glob(pattern) if p.is_file() and p.suffix != ".pyc"):
        state.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        state.update(path.read_bytes())
    return state.hexdigest()
