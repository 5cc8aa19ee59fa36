"""Commits: one JSON file a generation, created exclusively and never changed."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from store.errors import CommitConflictError, DamagedPartError, NoGenerationError
from store.files import create_bytes, json_bytes, read_json
from store.layout import DomainLayout
from store.parts import Part
from store.stored_files import StoredFile


class Source(BaseModel):
    """A source that the generation holds."""

    model_config = ConfigDict(frozen=True)

    name: str
    system: str
    """Empty for none."""
    root: str
    """The path or glob that was given."""
    files: int
    bytes: int


class Bucket(BaseModel):
    """The unit in which per-document work is reused: some files of one source."""

    model_config = ConfigDict(frozen=True)

    bucket: str
    source: str
    inputs: str
    """Digest of the files' names and contents and of everything that their processing depends on."""


class Commit(BaseModel):
    """A generation: all files that it consists of, and what it was made from."""

    model_config = ConfigDict(frozen=True)

    number: int
    parent: int | None
    domain: str
    created_at: str
    """ISO 8601, UTC. Not part of any digest."""
    fingerprint: str
    """Of the code, settings and models by which the generation was made."""
    sources: tuple[Source, ...]
    buckets: tuple[Bucket, ...]
    parts: tuple[Part, ...]
    search: str
    """The search index's folder, relative to the domain's."""
    knowledge: str
    """The DuckDB file, relative to the domain's folder."""
    files: tuple[StoredFile, ...] = ()
    """The files of the search index and the DuckDB file; none in a generation of an older version."""
    digest: dict[str, str]
    """Logical digest by table."""
    counts: dict[str, int]
    """Rows by table."""
    restored: int | None = None
    """The generation that was published again as this one."""

    @property
    def listed(self) -> tuple[Part | StoredFile, ...]:
        """Every file of the generation."""
        return (*self.parts, *self.files)

    def parts_of(self, table: str) -> list[Part]:
        """The parts of a table, by bucket."""
        return sorted((p for p in self.parts if p.table == table), key=lambda p: (p.bucket, p.path))


def commit_numbers(layout: DomainLayout) -> list[int]:
    """The published generations' numbers, rising."""
    if not layout.commits.is_dir():
        return []
    return sorted(int(path.stem) for path in layout.commits.iterdir() if _is_commit(path))


def read_commit(layout: DomainLayout, number: int) -> Commit:
    """A generation. Raises NoGenerationError when it is not there, DamagedPartError when it is cut."""
    path = layout.commit_file(number)
    try:
        return Commit.model_validate(read_json(path))
    except FileNotFoundError as error:
        raise NoGenerationError(f"generation {number} is not in {layout.root}") from error
    except ValidationError as error:
        raise DamagedPartError(f"commit {path} does not have the expected fields: {error}") from error


def latest_commit(layout: DomainLayout) -> Commit | None:
    """The newest generation, or None."""
    numbers = commit_numbers(layout)
    return read_commit(layout, numbers[-1]) if numbers else None


def publish(layout: DomainLayout, commit: Commit) -> None:
    """Make a generation visible in one step.

    Raises CommitConflictError when the number is taken: another run has published since this one began.
    """
    try:
        create_bytes(layout.commit_file(commit.number), json_bytes(commit.model_dump(mode="json")))
    except FileExistsError as error:
        raise CommitConflictError(
            f"generation {commit.number} of {layout.root.name!r} was published by another run: run again"
        ) from error


def _is_commit(path: Path) -> bool:
    return path.suffix == ".json" and path.stem.isdecimal()
