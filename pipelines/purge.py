"""Documents, sources or a whole domain, taken out of every generation for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from ner.fingerprint import digest_of
from ner.spec import DomainSpec
from pipelines.absence import Search, search_everywhere, text_hash
from pipelines.engines.contract import Engine
from pipelines.errors import PurgeError, UnknownContentError
from pipelines.plan import Plan
from pipelines.progress import SilentProgress
from pipelines.run import PER_DOCUMENT, StagedRun
from pipelines.stages.tables import FILES, RECOGNISED
from store.commits import Commit, commit_numbers, read_commit
from store.errors import NoGenerationError
from store.layout import DomainLayout
from store.lease import is_leased
from store.lock import writer_lock
from store.parts import Part, open_part, read_parts, write_part
from store.retention import sweep
from store.tables import TABLES
from store.tombstones import Tombstones, read_tombstones, write_tombstones

SCHEMAS = {**TABLES, FILES.name: FILES, RECOGNISED.name: RECOGNISED}


@dataclass(frozen=True, slots=True)
class Selection:
    """What to take out: one document, one source, or with neither the whole domain."""

    document: int | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """What was taken out and how that was proven."""

    domain: str
    documents: int
    generation: int | None
    """That serves now; None when the domain is gone."""
    deleted: tuple[int, ...]
    """Generations that are gone."""
    held: tuple[int, ...]
    """Those of them that a process still had open: its disk space, and what it serves, go when it lets go."""
    looked_at: dict[str, int]


@dataclass(slots=True)
class _Doomed:
    """The documents that go, and where they are found."""

    bucket: dict[int, str] = field(default_factory=dict)
    files: set[tuple[str, str]] = field(default_factory=set)
    """(source, source_id) of rows about them."""
    texts: set[bytes] = field(default_factory=set)


def purge(store: Path, domain: str, selection: Selection, make_engine: Callable[[], Engine]) -> PurgeReport:
    """Take it out of every generation, and prove that it is gone.

    Raises UnknownContentError when no kept generation holds it, PurgeError when it is still found somewhere,
    StoreError. When it ended early, run it again: what was asked for cannot come back meanwhile.
    """
    layout = DomainLayout.of(store.absolute(), domain)
    if not layout.format_file.exists():
        raise NoGenerationError(f"no domain {domain!r} in {store}")
    layout.prepare()
    with writer_lock(layout.lock_file):
        commits = [read_commit(layout, number) for number in commit_numbers(layout)]
        known = read_tombstones(layout)
        doomed = _doomed(layout.root, commits, selection)
        _check_known(commits, doomed, known, selection)
        sources = _sources(commits, selection)
        last = commits[-1].number if commits else 0
        write_tombstones(layout, known.with_more(_single(doomed, selection), sources, last))
        newest = _without(layout, commits[-1], doomed, selection, make_engine) if commits else None
        held = _delete_all_but(layout, newest)
        search = search_everywhere(layout, frozenset(doomed.bucket), frozenset(doomed.texts))
    if search.found:
        raise PurgeError(f"still found in {layout.root}: {'; '.join(search.found)}; remove it and run again")
    return _report(domain, doomed, commits, newest, held, search)


def _report(
    domain: str,
    doomed: _Doomed,
    commits: Sequence[Commit],
    newest: Commit | None,
    held: Sequence[int],
    search: Search,
) -> PurgeReport:
    kept = newest.number if newest else None
    deleted = tuple(commit.number for commit in commits if commit.number != kept)
    return PurgeReport(domain, len(doomed.bucket), kept, deleted, tuple(held), search.looked_at)


def _doomed(root: Path, commits: Sequence[Commit], selection: Selection) -> _Doomed:
    doomed = _Doomed()
    for part in _distinct(commits, "documents"):
        for row in _rows(root, [part], ["document_id", "source", "source_id"]):
            if selection.document in (None, row["document_id"]) and selection.source in (None, row["source"]):
                doomed.bucket[row["document_id"]] = part.bucket
                doomed.files.add((row["source"], row["source_id"]))
    others: set[bytes] = set()
    for table in ("pages", "sentences"):
        for row in _rows(root, _distinct(commits, table), ["document_id", "text"]):
            gone = row["document_id"] in doomed.bucket
            (doomed.texts if gone else others).add(text_hash(row["text"]))
    doomed.texts -= others | {text_hash("")}
    return doomed


def _distinct(commits: Sequence[Commit], table: str) -> list[Part]:
    return list({part.path: part for commit in commits for part in commit.parts_of(table)}.values())


def _rows(root: Path, parts: Sequence[Part], columns: list[str]) -> Iterator[dict[str, Any]]:
    for batch in read_parts(root, parts, columns):
        yield from batch.to_pylist()


def _check_known(commits: Sequence[Commit], doomed: _Doomed, known: Tombstones, selection: Selection) -> None:
    if selection.document is not None:
        if selection.document not in {*doomed.bucket, *known.documents}:
            raise UnknownContentError(
                f"no kept generation holds document {selection.document}; `tudastar search --json` tells ids"
            )
    elif selection.source is not None:
        sources = {source.name for commit in commits for source in commit.sources}
        if selection.source not in sources and not known.holds_source(selection.source):
            raise UnknownContentError(
                f"no kept generation holds source {selection.source[:80]!r}; there are: "
                f"{', '.join(sorted(sources)) or 'none'}"
            )


def _sources(commits: Sequence[Commit], selection: Selection) -> set[str]:
    """The sources that go as a whole."""
    if selection.document is not None:
        return set()
    if selection.source is not None:
        return {selection.source}
    return {source.name for commit in commits for source in commit.sources}


def _single(doomed: _Doomed, selection: Selection) -> dict[int, str]:
    return dict(doomed.bucket) if selection.document is not None else {}


def _without(
    layout: DomainLayout,
    newest: Commit,
    doomed: _Doomed,
    selection: Selection,
    make_engine: Callable[[], Engine],
) -> Commit | None:
    """The generation that is to stay: a new one, or the newest where it holds nothing of what goes."""
    if selection == Selection():
        return None
    gone = _sources([newest], selection)
    held = any(
        row["document_id"] in doomed.bucket
        for row in _rows(layout.root, newest.parts_of("documents"), ["document_id"])
    )
    if not held and not any(source.name in gone for source in newest.sources):
        return newest
    stripped = _stripped(layout.root, newest, doomed, gone)
    plan = Plan(
        parent=stripped,
        sources=stripped.sources,
        buckets=stripped.buckets,
        reused=frozenset(bucket.bucket for bucket in stripped.buckets),
        items=(),
        fingerprint=newest.fingerprint,
    )
    engine = make_engine()
    try:
        spec = DomainSpec(domain=newest.domain)
        return StagedRun(layout, spec, plan, engine, SilentProgress()).execute()
    finally:
        engine.close()


def _stripped(root: Path, newest: Commit, doomed: _Doomed, gone: set[str]) -> Commit:
    """The generation as if it had never had them, but for what is worked out over the corpus."""
    buckets, parts = [], []
    touched = set(doomed.bucket.values())
    for bucket in newest.buckets:
        if bucket.source in gone:
            continue
        mine = [part for part in newest.parts if part.bucket == bucket.bucket and part.table in PER_DOCUMENT]
        if bucket.bucket in touched:
            inputs = digest_of(["purged", bucket.inputs, sorted(map(str, doomed.bucket))])
            buckets.append(bucket.model_copy(update={"inputs": inputs}))
            parts += [left for part in mine if (left := _rewritten(root, part, doomed))]
        else:
            buckets.append(bucket)
            parts += mine
    sources = tuple(source for source in newest.sources if source.name not in gone)
    return newest.model_copy(update={"buckets": tuple(buckets), "parts": tuple(parts), "sources": sources})


def _rewritten(root: Path, part: Part, doomed: _Doomed) -> Part | None:
    table = SCHEMAS[part.table]
    with open_part(root, part) as file:
        groups = (
            pa.RecordBatch.from_pylist(
                [row for row in file.read_row_group(group).to_pylist() if not _goes(row, doomed)],
                schema=table.schema,
            )
            for group in range(file.num_row_groups)
        )
        return write_part(root, table, part.bucket, groups)


def _goes(row: dict[str, Any], doomed: _Doomed) -> bool:
    if "document_id" in row:
        return row["document_id"] in doomed.bucket
    return (row["source"], row["source_id"]) in doomed.files


def _delete_all_but(layout: DomainLayout, newest: Commit | None) -> list[int]:
    """Delete the other generations with all that they alone have; those of them that some process reads."""
    held = []
    for number in commit_numbers(layout):
        if newest is None or number != newest.number:
            if is_leased(layout.commit_file(number)):
                held.append(number)
            layout.commit_file(number).unlink()
    sweep(layout)
    return held
