"""Files that are either there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

from store.errors import DamagedPartError


def temporary_sibling(path: Path) -> Path:
    """A fresh name beside `path`; the leading dot keeps readers away from it."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")


def sync_file(path: Path) -> None:
    """Force a file, or a folder's entries, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_bytes(path: Path, content: bytes) -> None:
    """Write or replace a file in one step that survives a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = _write_aside(path, content)
    aside.replace(path)
    sync_file(path.parent)


def create_bytes(path: Path, content: bytes) -> None:
    """Create a file in one step. Raises FileExistsError when another writer was first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = _write_aside(path, content)
    try:
        os.link(aside, path)
    finally:
        aside.unlink()
    sync_file(path.parent)


def write_json(path: Path, content: Any) -> None:
    """Write or replace a JSON file in one step that survives a crash."""
    write_bytes(path, json_bytes(content))


def json_bytes(content: Any) -> bytes:
    """Canonical JSON: sorted keys, UTF-8, a line end."""
    return (json.dumps(content, ensure_ascii=False, sort_keys=True, indent=1) + "\n").encode()


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises DamagedPartError when it is cut or not JSON."""
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise DamagedPartError(f"{path} is no valid JSON ({error}); restore it or ingest again") from error


def sha256_file(path: Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_aside(path: Path, content: bytes) -> Path:
    aside = temporary_sibling(path)
    with aside.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    return aside
