"""Where things lie in a store, and which names are allowed.

<store>/<domain>/
  format.json   lock   commits/   parts/   stages/   search/   knowledge-<build>.duckdb   purged.json
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from store.errors import InvalidNameError, StoreFormatError
from store.files import read_json, write_json

FORMAT_VERSION = 1
_NAME = re.compile(r"[^\W_][\w.-]{0,63}", re.UNICODE)


def check_name(kind: str, name: str) -> str:
    """The name in NFC, if it can stand for a `kind` ("domain", "system", "source").

    Valid are 1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit.
    Raises InvalidNameError.
    """
    composed = unicodedata.normalize("NFC", name)
    if not _NAME.fullmatch(composed) or ".." in composed:
        raise InvalidNameError(
            f"{kind} name {name[:80]!r} is not valid: use 1 to 64 letters, digits, '.', '_' or '-', "
            "beginning with a letter or digit"
        )
    return composed


@dataclass(frozen=True, slots=True)
class DomainLayout:
    """The paths of one domain's store."""

    root: Path
    """The domain's folder."""

    @classmethod
    def of(cls, store: Path, domain: str) -> DomainLayout:
        """The layout of a domain. Raises InvalidNameError."""
        return cls(store / check_name("domain", domain))

    @property
    def format_file(self) -> Path:
        """Holds the store format's version."""
        return self.root / "format.json"

    @property
    def lock_file(self) -> Path:
        """Locked by the one writer."""
        return self.root / "lock"

    @property
    def commits(self) -> Path:
        """Folder of the published generations."""
        return self.root / "commits"

    @property
    def parts(self) -> Path:
        """Folder of the tables' parts."""
        return self.root / "parts"

    @property
    def stages(self) -> Path:
        """Folder of the runs' stage markers."""
        return self.root / "stages"

    @property
    def search(self) -> Path:
        """Folder of the search indexes."""
        return self.root / "search"

    @property
    def purged_file(self) -> Path:
        """Says what was taken out for good and may not come back by itself."""
        return self.root / "purged.json"

    def commit_file(self, number: int) -> Path:
        """The commit of a generation."""
        return self.commits / f"{number:08d}.json"

    def knowledge_file(self, build: str) -> Path:
        """The DuckDB file of a build."""
        return self.root / f"knowledge-{build}.duckdb"

    def prepare(self) -> None:
        """Create the folders and the format file. Raises StoreFormatError for a newer store."""
        for folder in (self.commits, self.parts, self.stages, self.search):
            folder.mkdir(parents=True, exist_ok=True)
        if not self.format_file.exists():
            write_json(self.format_file, {"format": FORMAT_VERSION})
        self.check_format()

    def check_format(self) -> None:
        """Raises StoreFormatError when the store was written by a newer version."""
        version = read_json(self.format_file)["format"]
        if version > FORMAT_VERSION:
            raise StoreFormatError(
                f"the store at {self.root} has format {version}, this version reads up to {FORMAT_VERSION}: "
                "install a newer tudastar"
            )
