"""One finished generation, copied to another folder and taken in from there."""

from __future__ import annotations

import datetime
import hashlib
import os
import re
from pathlib import Path, PurePosixPath

from store.commits import Commit, commit_numbers, latest_commit, publish, read_commit
from store.errors import DamagedPartError, NoGenerationError, StoreFormatError, TransferError
from store.files import json_bytes, sync_file, temporary_sibling
from store.layout import DomainLayout, check_name
from store.lease import Lease
from store.lock import writer_lock
from store.parts import Part, read_parts
from store.retention import KEPT_GENERATIONS, collect_garbage
from store.stored_files import StoredFile, stored_files
from store.tombstones import read_tombstones

BLOCK_BYTES = 1024 * 1024
_PLACES = re.compile(r"(parts/[^/]+/[^/]+|search/.+|knowledge-[^/]+\.duckdb)")


def export(layout: DomainLayout, target: Path, number: int | None = None) -> Commit:
    """Copy a kept generation, by default the newest, into an empty or new folder; the commit comes last.

    The folder has the form of a domain's and can be served as one. Raises NoGenerationError, TransferError for a
    target that cannot be used, DamagedPartError when a file is not as its commit says; then there is no commit.
    """
    layout.check_format()
    target = target.absolute()
    if target.resolve().is_relative_to(layout.root.parent.resolve()):
        raise TransferError(
            f"{target} lies in the store {layout.root.parent} itself: name a folder outside of it"
        )
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise TransferError(f"{target} is there already and not empty: name a new or an empty folder")
    chosen = number if number is not None else commit_numbers(layout)[-1]
    with _lease(layout, chosen):
        commit = read_commit(layout, chosen)
        if not commit.files:
            files = stored_files(layout.root, commit.search, commit.knowledge)
            commit = commit.model_copy(update={"files": files})
        there = DomainLayout(target)
        there.prepare()
        for listed in commit.listed:
            copy_checked(layout.root / listed.path, there.root / listed.path, listed)
        publish(there, commit)
    return commit


def import_(
    source: Path, store: Path, domain: str | None = None, as_next: bool = False, keep: int = KEPT_GENERATIONS
) -> Commit:
    """Publish the newest generation of an export in a store; with `as_next`, after those that its domain has there.

    Raises TransferError for what is no export, another domain's, or a domain that is there already;
    StoreFormatError for one of a newer version; DamagedPartError when a file is not as its commit says;
    StoreLockedError. Nothing is published then.
    """
    commit = _read_export(source, domain)
    layout = DomainLayout.of(store.absolute(), commit.domain)
    layout.prepare()
    with writer_lock(layout.lock_file):
        parent = latest_commit(layout)
        if parent and not as_next:
            raise TransferError(
                f"domain {commit.domain!r} is in {store} already, generation {parent.number}: "
                "say --as-next to publish the import after it, or name another --store"
            )
        _check_purged(source, commit, layout)
        moved = _placed(commit, parent, read_tombstones(layout).last_number)
        for before, after in zip(commit.listed, moved.listed, strict=True):
            copy_checked(source / before.path, layout.root / after.path, after)
        publish(layout, moved)
        collect_garbage(layout, keep)
    return moved


def copy_checked(source: Path, target: Path, listed: Part | StoredFile) -> None:
    """Copy a file; it appears whole, on disk and with the listed checksum, or not at all.

    Raises DamagedPartError.
    """
    for folder in _made(target.parent):
        sync_file(folder)
    aside = temporary_sibling(target)
    state, size = hashlib.sha256(), 0
    try:
        with source.open("rb") as reading, aside.open("wb") as writing:
            while block := reading.read(BLOCK_BYTES):
                state.update(block)
                size += len(block)
                writing.write(block)
            writing.flush()
            os.fsync(writing.fileno())
        if (size, state.hexdigest()) != (listed.bytes, listed.sha256):
            raise DamagedPartError(f"{source} differs from what its commit says: nothing was published")
        aside.replace(target)
    except FileNotFoundError as error:
        raise DamagedPartError(f"{source} is missing: nothing was published") from error
    finally:
        aside.unlink(missing_ok=True)
    sync_file(target.parent)


def _made(folder: Path) -> list[Path]:
    """Make a folder and those above it; the folders that hold the new ones."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return [each.parent for each in missing]


def _lease(layout: DomainLayout, number: int) -> Lease:
    try:
        return Lease(layout.commit_file(number))
    except FileNotFoundError:
        there = ", ".join(map(str, commit_numbers(layout))) or "none"
        raise NoGenerationError(
            f"generation {number} is not kept in {layout.root}; there are: {there}"
        ) from None


def _read_export(source: Path, domain: str | None) -> Commit:
    """The generation of an export, with nothing in it that leads out of its folder."""
    layout = DomainLayout(source)
    if not layout.format_file.is_file():
        raise TransferError(f"{source} is no export: it holds no {layout.format_file.name}")
    try:
        layout.check_format()
    except (TypeError, KeyError) as error:
        raise StoreFormatError(f"{layout.format_file} does not say the store's format") from error
    commit = latest_commit(layout)
    if commit is None:
        raise TransferError(f"{source} is no whole export: it holds no commit; export it again")
    check_name("domain", commit.domain)
    if domain is not None and check_name("domain", domain) != commit.domain:
        raise TransferError(
            f"{source} holds domain {commit.domain!r}, not {domain!r}; the documents' ids are made with the "
            "domain's name, so it cannot change: leave --domain out, or ingest the documents into the other domain"
        )
    if not commit.files:
        raise TransferError(f"{source} lists no checksums of its index: make it with `tudastar export`")
    for path in (commit.search + "/x", commit.knowledge, *(each.path for each in commit.listed)):
        if not _PLACES.fullmatch(path) or ".." in PurePosixPath(path).parts or "\0" in path:
            raise DamagedPartError(
                f"the commit in {source} lists {path[:200]!r}, which is no place in a store"
            )
    return commit


def _check_purged(source: Path, commit: Commit, layout: DomainLayout) -> None:
    """Raises TransferError when the export would bring back what was purged from the domain."""
    purged = read_tombstones(layout)
    documents = read_parts(source, commit.parts_of("documents"), ["document_id"]) if purged.documents else ()
    held = any(purged.documents.keys() & batch.column(0).to_pylist() for batch in documents)
    if held or any(purged.holds_source(each.name) for each in commit.sources):
        raise TransferError(
            f"{source} holds documents that were purged from domain {commit.domain!r} here: ingest them from their "
            "sources with --include-purged if they are to come back"
        )


def _placed(commit: Commit, parent: Commit | None, last_number: int) -> Commit:
    """The generation as it is to stand in the store: after the parent, its index and DuckDB file under new names."""
    number = max(parent.number if parent else commit.number - 1, last_number) + 1
    build = f"{hashlib.sha256(json_bytes(commit.model_dump(mode='json'))).hexdigest()[:16]}-{number}"
    search, knowledge = f"search/{build}", f"knowledge-{build}.duckdb"

    def moved(file: StoredFile) -> StoredFile:
        path = knowledge if file.path == commit.knowledge else search + file.path.removeprefix(commit.search)
        return file.model_copy(update={"path": path})

    return commit.model_copy(
        update={
            "number": number,
            "parent": parent.number if parent else None,
            "created_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "search": search,
            "knowledge": knowledge,
            "files": tuple(moved(file) for file in commit.files),
        }
    )
