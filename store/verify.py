"""Whether a generation is whole, and what lies in a domain's folder that belongs to nothing."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, ValidationError

from store.commits import Commit, commit_numbers, read_commit
from store.errors import DamagedPartError, NoGenerationError
from store.files import read_json, sha256_file
from store.layout import DomainLayout
from store.lease import Lease
from store.markers import MARKER, StageManifest
from store.parts import Part
from store.stored_files import files_below

FaultKind = Literal["missing", "cut", "changed", "foreign"]


class Fault(BaseModel):
    """One thing that is wrong."""

    model_config = ConfigDict(frozen=True)

    kind: FaultKind
    path: str
    """Relative to the domain's folder."""
    detail: str
    generation: int | None = None
    """None for what belongs to no generation."""


class Verification(BaseModel):
    """What was looked at, and what is wrong with it."""

    model_config = ConfigDict(frozen=True)

    domain: str
    generations: tuple[int, ...]
    files: int
    bytes: int
    foreign_looked_for: bool
    """False while another run writes, whose files nothing lists yet."""
    unlisted: tuple[int, ...]
    """Generations of an older version, whose commits list no checksums for the index and the DuckDB file."""
    faults: tuple[Fault, ...]


def verify(layout: DomainLayout, number: int | None = None) -> Verification:
    """Look at one kept generation, or at all, and at what else lies in the domain's folder.

    Raises NoGenerationError, StoreFormatError, and DamagedPartError when a commit itself cannot be read.
    """
    numbers = [number] if number is not None else commit_numbers(layout)
    if not numbers:
        raise NoGenerationError(f"there is no generation in {layout.root}; make one with `tudastar ingest`")
    layout.check_format()
    faults: list[Fault] = []
    seen: dict[str, int] = {}
    unlisted = []
    for each in numbers:
        try:
            lease = Lease(layout.commit_file(each))
        except FileNotFoundError:
            if number is None:
                continue
            raise NoGenerationError(_no_generation(layout, each)) from None
        with lease:
            commit = read_commit(layout, each)
            faults += _faults_of(layout.root, commit, seen)
            if not commit.files:
                unlisted.append(each)
    foreign = foreign_files(layout)
    faults += [
        Fault(kind="foreign", path=path, detail="no commit or stage lists it") for path in foreign or ()
    ]
    return Verification(
        domain=layout.root.name,
        generations=tuple(numbers),
        files=len(seen),
        bytes=sum(seen.values()),
        foreign_looked_for=foreign is not None,
        unlisted=tuple(unlisted),
        faults=tuple(faults),
    )


def check_whole(layout: DomainLayout, commit: Commit) -> None:
    """Raises DamagedPartError that names the first fault unless all files of the generation are as listed."""
    for fault in _faults_of(layout.root, commit, {}):
        raise DamagedPartError(
            f"generation {commit.number} in {layout.root} is not whole: {fault.path} is {fault.kind} "
            f"({fault.detail}); see `tudastar verify --domain {layout.root.name}`"
        )


def foreign_files(layout: DomainLayout) -> list[str] | None:
    """Files of the domain's folder that nothing lists, sorted; None while a run is writing."""
    found = {path.relative_to(layout.root).as_posix() for path in files_below(layout.root)}
    known, folders = _known(layout)
    foreign = [
        path
        for path in sorted(found - known)
        if not path.startswith(folders) and os.path.lexists(layout.root / path)
    ]
    return None if _is_being_written(layout) else foreign


def _no_generation(layout: DomainLayout, number: int) -> str:
    there = ", ".join(map(str, commit_numbers(layout))) or "none"
    return f"generation {number} is not kept in {layout.root}; there are: {there}"


def _faults_of(root: Path, commit: Commit, seen: dict[str, int]) -> Iterator[Fault]:
    """Faults of files that were not looked at before; these are added to `seen` with their sizes."""
    for listed in commit.listed:
        if listed.path in seen:
            continue
        seen[listed.path] = listed.bytes
        fault = _fault(root / listed.path, listed.bytes, listed.sha256)
        rows = getattr(listed, "rows", None)
        if fault is None and rows is not None:
            fault = _fault_in_rows(root / listed.path, rows)
        if fault:
            yield Fault(kind=fault[0], path=listed.path, detail=fault[1], generation=commit.number)
    if not commit.files:
        for path in (commit.search, commit.knowledge):
            if not (root / path).exists():
                yield Fault(kind="missing", path=path, detail="it is not there", generation=commit.number)


def _fault(path: Path, size: int, checksum: str) -> tuple[FaultKind, str] | None:
    if not path.is_file():
        return "missing", "it is not there"
    there = path.stat().st_size
    if there < size:
        return "cut", f"{there:,} bytes instead of {size:,}"
    if there > size:
        return "changed", f"{there:,} bytes instead of {size:,}"
    if sha256_file(path) != checksum:
        return "changed", "its checksum differs from the commit's"
    return None


def _fault_in_rows(path: Path, rows: int) -> tuple[FaultKind, str] | None:
    try:
        there = pq.read_metadata(path).num_rows
    except (OSError, pa.ArrowInvalid) as error:
        return "changed", f"it is no Parquet file ({error})"
    return None if there == rows else ("changed", f"{there:,} rows instead of {rows:,}")


def _known(layout: DomainLayout) -> tuple[set[str], tuple[str, ...]]:
    """The files that are listed, and the folders (with `/`) whose content is not listed by file."""
    known = {path.name for path in (layout.format_file, layout.lock_file, layout.purged_file)}
    folders: list[str] = []
    for number in commit_numbers(layout):
        try:
            commit = read_commit(layout, number)
        except NoGenerationError:
            continue
        known.add(f"{layout.commits.name}/{layout.commit_file(number).name}")
        known |= {each.path for each in commit.listed} | {commit.knowledge}
        if not commit.files:
            folders.append(commit.search + "/")
    for marker in layout.stages.glob(f"*/*/{MARKER}"):
        run = marker.parent.parent
        folders += [f"{layout.stages.name}/{run.name}/", f"{layout.search.name}/{run.name}/"]
        known |= {part.path for part in _parts_of_stage(marker)}
        known.add(layout.knowledge_file(run.name).name)
    return known, tuple(folders)


def _parts_of_stage(marker: Path) -> Sequence[Part]:
    try:
        return StageManifest.model_validate(read_json(marker)).parts
    except (FileNotFoundError, DamagedPartError, ValidationError):
        return ()


def _is_being_written(layout: DomainLayout) -> bool:
    try:
        descriptor = os.open(layout.lock_file, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
