"""`_SUCCESS` markers: the manifest of a finished stage, written last."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from store.errors import DamagedPartError
from store.files import read_json, write_json
from store.parts import Part

MARKER = "_SUCCESS"


class StageManifest(BaseModel):
    """What a finished stage took and made."""

    model_config = ConfigDict(frozen=True)

    stage: str
    inputs: str
    """Digest of what the stage was given."""
    fingerprint: str
    """Of the code, settings and models."""
    parts: tuple[Part, ...]
    rows: dict[str, int]
    """Rows by table."""


def write_marker(folder: Path, manifest: StageManifest) -> None:
    """Declare a stage finished."""
    write_json(folder / MARKER, manifest.model_dump(mode="json"))


def read_marker(folder: Path, inputs: str, fingerprint: str, root: Path) -> StageManifest | None:
    """The manifest of a finished stage, if it fits and all its parts are whole; else None."""
    try:
        manifest = StageManifest.model_validate(read_json(folder / MARKER))
        if (manifest.inputs, manifest.fingerprint) != (inputs, fingerprint):
            return None
        for part in manifest.parts:
            part.check(root)
    except (FileNotFoundError, DamagedPartError, ValidationError):
        return None
    return manifest
