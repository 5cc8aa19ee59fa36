"""Where a spaCy pipeline's files lie: shipped with us or installed, in a folder or in a zip."""

from __future__ import annotations

import importlib.util
import logging
import tempfile
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from platformdirs import user_cache_path

from ner.errors import RecogniserError
from ner.fingerprint import digest_of_files, files_of

log = logging.getLogger(__name__)

_aside: list[tempfile.TemporaryDirectory[str]] = []
"""Folders that live as long as this process, where none can be kept."""


def model_files(model: str) -> Traversable:
    """The files of a pipeline by its name; nothing of it is imported. Raises RecogniserError."""
    shipped = files("ner").joinpath("models")
    if model.isidentifier() and shipped.joinpath(model).is_dir():
        return shipped.joinpath(model)
    spec = importlib.util.find_spec(model) if model.isidentifier() else None
    find_reader = getattr(spec.loader, "get_resource_reader", None) if spec else None
    reader = find_reader(model) if find_reader else None
    if reader is None:
        have = ", ".join(sorted(each.name for each in shipped.iterdir() if each.is_dir()))
        raise RecogniserError(
            f"spaCy pipeline {model!r} is not installed: shipped are {have}; others install with pip by name"
        )
    found: Traversable = reader.files()
    return found


@lru_cache(maxsize=8)
def model_folder(model: str) -> Path:
    """The folder of a pipeline's files on disk. Raises RecogniserError.

    Files in a zip are unpacked once into the user's cache folder, under a name with their digest, for all processes.
    """
    found = model_files(model)
    if isinstance(found, Path):
        return found
    digest = digest_of_files(found)
    kept = user_cache_path("tudastar", appauthor=False) / "models" / f"{model}-{digest[:16]}"
    try:
        if not kept.is_dir():
            _unpack_whole(found, kept)
        if digest_of_files(kept) == digest:
            return kept
        log.warning("%s is not as it was unpacked: this process unpacks %s anew", kept, model)
    except OSError as error:
        log.warning("model %s cannot be kept in %s (%s): this process unpacks it", model, kept, error)
    _aside.append(tempfile.TemporaryDirectory(prefix=f"tudastar-{model}-"))
    _unpack(found, Path(_aside[-1].name))
    return Path(_aside[-1].name)


def _unpack_whole(found: Traversable, target: Path) -> None:
    """Unpack beside the target, then give it its name; of several processes the first one's stays."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpacking-") as aside:
        whole = Path(aside) / "whole"
        _unpack(found, whole)
        try:
            whole.rename(target)
        except OSError:
            if not target.is_dir():
                raise


def _unpack(found: Traversable, folder: Path) -> None:
    for place, file in files_of(found):
        path = folder.joinpath(*place)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.read_bytes())
