"""What was taken out of a domain for good: ids and hashes, no name and no text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from store.errors import DamagedPartError
from store.files import read_json, write_json
from store.layout import DomainLayout


class Tombstones(BaseModel):
    """What a run leaves out unless it is asked for."""

    model_config = ConfigDict(frozen=True)

    documents: Mapping[int, str] = {}
    """Bucket by document id, which is a hash of where the document belongs and what it is called there."""
    sources: frozenset[str] = frozenset()
    """Hashes of the names of purged sources."""
    last_number: int = 0
    """No generation may get this number or a lower one: readers tell generations apart by their numbers."""

    def of_bucket(self, bucket: str) -> frozenset[int]:
        """The purged documents of a bucket."""
        return frozenset(identity for identity, place in self.documents.items() if place == bucket)

    def holds_source(self, name: str) -> bool:
        """Whether the source was purged as a whole."""
        return source_hash(name) in self.sources

    def with_more(
        self, documents: Mapping[int, str], sources: Iterable[str], last_number: int = 0
    ) -> Tombstones:
        """These and others."""
        return Tombstones(
            documents={**self.documents, **documents},
            sources=self.sources | {source_hash(name) for name in sources},
            last_number=max(self.last_number, last_number),
        )

    def without(self, source: str, place: str) -> Tombstones:
        """All but those of a source, whose buckets begin with `place`."""
        return Tombstones(
            documents={key: at for key, at in self.documents.items() if not at.startswith(place)},
            sources=self.sources - {source_hash(source)},
            last_number=self.last_number,
        )


def source_hash(name: str) -> str:
    """32 hex digits that stand for a source's name."""
    return hashlib.sha256(f"source\0{name}".encode()).hexdigest()[:32]


def read_tombstones(layout: DomainLayout) -> Tombstones:
    """What was purged from the domain. Raises DamagedPartError when the file is cut: nothing may come back by it."""
    try:
        return Tombstones.model_validate(read_json(layout.purged_file))
    except FileNotFoundError:
        return Tombstones()
    except ValidationError as error:
        raise DamagedPartError(f"{layout.purged_file} does not have the expected fields: {error}") from error


def write_tombstones(layout: DomainLayout, tombstones: Tombstones) -> None:
    """Keep them, in one step that survives a crash."""
    content = tombstones.model_dump(mode="json")
    write_json(layout.purged_file, {**content, "sources": sorted(tombstones.sources)})
