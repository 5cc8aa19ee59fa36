"""What a run has to do: which files there are now, and which buckets are as they were."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ner.fingerprint import digest_of
from ner.ingestion import SourceRequest
from pipelines.errors import SourceError
from pipelines.formats.contract import SourceFile
from pipelines.formats.listing import list_source
from pipelines.stages.load import HashedFile, LoadItem, document_id
from store.commits import Bucket, Commit, Source
from store.files import sha256_file
from store.layout import check_name
from store.tombstones import Tombstones

BUCKETS = 64
"""Buckets of a source. A change in one file has the files of its bucket read again: one in 64."""
ITEM_BYTES = 4 * 1024 * 1024
"""Files of one bucket are read together up to about this size."""
HASHING_THREADS = 4


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """A source as it lies on disk now."""

    source: Source
    buckets: tuple[Bucket, ...]
    items: tuple[LoadItem, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A run: its buckets, which of them are taken over from the parent, and the work for the others."""

    parent: Commit | None
    sources: tuple[Source, ...]
    buckets: tuple[Bucket, ...]
    reused: frozenset[str]
    items: tuple[LoadItem, ...]
    fingerprint: str
    last_number: int = 0
    """The highest number that was ever published before a purge."""

    @property
    def unchanged(self) -> bool:
        """Whether the parent already is what this run would make."""
        return self.parent is not None and self.run_id == run_id(
            self.parent.fingerprint, self.parent.buckets, self.parent.sources
        )

    @property
    def run_id(self) -> str:
        """Name of the run: the same for the same inputs, so a killed run is found again."""
        return run_id(self.fingerprint, self.buckets, self.sources)

    @property
    def number(self) -> int:
        """Of the generation that the run is to publish."""
        return max(self.parent.number if self.parent else 0, self.last_number) + 1

    @property
    def build(self) -> str:
        """Name of what the run leaves: of its own, so that no kept generation's files are written over."""
        return f"{self.run_id}-{self.number}"


def run_id(fingerprint: str, buckets: Iterable[Bucket], sources: Iterable[Source]) -> str:
    """16 hex digits over all that a generation is made from."""
    content = {
        "fingerprint": fingerprint,
        "buckets": sorted((bucket.bucket, bucket.inputs) for bucket in buckets),
        "sources": sorted((source.name, source.system) for source in sources),
    }
    return digest_of(content)[:16]


def make_plan(
    domain: str,
    requests: Sequence[SourceRequest],
    parent: Commit | None,
    fingerprint: str,
    purged: Tombstones,
) -> Plan:
    """Look at the named sources and compare them with the parent; other sources stay as they are.

    What was purged is left out.

    Raises SourceError when a source has nothing, cannot be listed whole, or its name is taken.
    """
    names = [source_name(request) for request in requests]
    if len(set(names)) < len(names):
        raise SourceError(
            f"two of the paths have the same source name ({', '.join(sorted(names))}): "
            "ingest them one by one with --source"
        )
    plans = [
        _plan_source(domain, request, name, parent, fingerprint, purged)
        for request, name in zip(requests, names, strict=True)
    ]
    named = set(names)
    kept_sources = [each for each in parent.sources if each.name not in named] if parent else []
    kept_buckets = [each for each in parent.buckets if each.source not in named] if parent else []
    before = {(each.bucket, each.inputs) for each in parent.buckets} if parent else set()
    buckets = [bucket for plan in plans for bucket in plan.buckets]
    reused = {each.bucket for each in buckets if (each.bucket, each.inputs) in before}
    reused |= {each.bucket for each in kept_buckets}
    return Plan(
        parent=parent,
        sources=tuple(sorted([*kept_sources, *(plan.source for plan in plans)], key=lambda s: s.name)),
        buckets=tuple(sorted([*kept_buckets, *buckets], key=lambda b: b.bucket)),
        reused=frozenset(reused),
        items=tuple(item for plan in plans for item in plan.items if item.bucket not in reused),
        fingerprint=fingerprint,
        last_number=purged.last_number,
    )


def source_name(request: SourceRequest) -> str:
    return check_name("source", request.name) if request.name else default_source_name(request.root)


def _plan_source(
    domain: str,
    request: SourceRequest,
    name: str,
    parent: Commit | None,
    fingerprint: str,
    purged: Tombstones,
) -> SourcePlan:
    if purged.holds_source(name):
        raise SourceError(
            f"source {name!r} was purged from domain {domain!r}: to take it in again say --include-purged, "
            "to ingest other documents give them another name with --source"
        )
    listing = list_source(request.root)
    root = request.root if _is_glob(request.root) else str(Path(request.root).resolve())
    known = next((each for each in parent.sources if each.name == name), None) if parent else None
    if known and known.root != root and not request.name:
        raise SourceError(
            f"source {name!r} was ingested from {known.root}: to replace it by {root} say --source {name}, "
            "to add this beside it say --source with another name"
        )
    if known and not listing.complete:
        raise SourceError(
            f"source {name!r} cannot be listed whole ({listing.rejects[0].message}): "
            "nothing was changed, so that no document is lost; make it readable and run again"
        )
    if known and known.system != request.system:
        raise SourceError(
            f"source {name!r} belongs to system {known.system or 'none'!r}: ingest it with that system, "
            "or under another --source name"
        )
    files = _hash_files(
        [
            file
            for file in listing.files
            if document_id(domain, request.system, name, file.source_id) not in purged.documents
        ]
    )
    buckets, items = _into_buckets(request, name, files, fingerprint, purged)
    if listing.rejects:
        bucket = place(request.system, name) + "ls"
        rejects = tuple(listing.rejects)
        buckets.append(
            Bucket(bucket=bucket, source=name, inputs=digest_of([dataclasses.astuple(r) for r in rejects]))
        )
        items.append(LoadItem(bucket, name, request.system, request.language, (), rejects))
    source = Source(
        name=name,
        system=request.system,
        root=root,
        files=len(files),
        bytes=sum(each.file.size for each in files),
    )
    return SourcePlan(source, tuple(buckets), tuple(items))


def default_source_name(root: str) -> str:
    """The last part of a path that holds no wildcard, with what a name may not hold replaced by `-`."""
    parts = [part for part in Path(root).resolve().parts if not _is_glob(part)] if _is_glob(root) else None
    last = parts[-1] if parts else Path(root).resolve().name
    composed = unicodedata.normalize("NFC", last)
    name = re.sub(r"[^\w.-]+|\.{2,}", "-", composed, flags=re.UNICODE).strip("-._")[:64]
    return check_name("source", name or "root")


def _is_glob(root: str) -> bool:
    return any(char in root for char in "*?[") and not Path(root).exists()


def _hash_files(files: Sequence[SourceFile]) -> list[HashedFile]:
    """Hash contents; what cannot be read keeps an empty hash, and its reading will say why."""
    with ThreadPoolExecutor(HASHING_THREADS) as threads:
        return list(threads.map(_hash_file, files))


def _hash_file(file: SourceFile) -> HashedFile:
    try:
        return HashedFile(file, sha256_file(Path(file.path)))
    except OSError:
        return HashedFile(file, "")


def _into_buckets(
    request: SourceRequest,
    name: str,
    files: Iterable[HashedFile],
    fingerprint: str,
    purged: Tombstones,
) -> tuple[list[Bucket], list[LoadItem]]:
    by_bucket: dict[str, list[HashedFile]] = defaultdict(list)
    for hashed in files:
        by_bucket[_bucket_of(request.system, name, hashed.file.source_id)].append(hashed)
    buckets, items = [], []
    for bucket, members in sorted(by_bucket.items()):
        members.sort(key=lambda each: each.file.source_id)
        content = [(each.file.source_id, each.sha256) for each in members]
        gone = purged.of_bucket(bucket)
        left_out = [sorted(gone)] if gone else []
        inputs = digest_of([fingerprint, request.language, content, *left_out])
        buckets.append(Bucket(bucket=bucket, source=name, inputs=inputs))
        for group in _groups(members):
            items.append(LoadItem(bucket, name, request.system, request.language, tuple(group), purged=gone))
    return buckets, items


def _bucket_of(system: str, source: str, source_id: str) -> str:
    number = int.from_bytes(hashlib.sha256(source_id.encode(errors="surrogatepass")).digest()[:4]) % BUCKETS
    return f"{place(system, source)}{number:02x}"


def place(system: str, source: str) -> str:
    """8 hex digits with which the names of a source's buckets begin."""
    return hashlib.sha256(f"{system}\0{source}".encode()).hexdigest()[:8]


def _groups(members: Sequence[HashedFile]) -> list[list[HashedFile]]:
    groups: list[list[HashedFile]] = [[]]
    size = 0
    for member in members:
        if groups[-1] and size + member.file.size > ITEM_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(member)
        size += member.file.size
    return groups
