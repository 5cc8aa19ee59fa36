"""What a run is to do, as a program hands it over: a file instead of arguments."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ner.ingestion import SourceRequest
from pipelines.errors import IngestionError, SourceError


class OrderError(IngestionError, ValueError):
    """The order cannot be read, or cannot be carried out as it is."""


class Order(BaseModel):
    """A JSON file with these fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: str | None = None
    """Without a tool, the domain to fill; with one, the tool says it."""
    tool: str | None = None
    """Name of an installed ingestion tool."""
    sources: tuple[SourceRequest, ...]
    within: tuple[str, ...] = ()
    """Folders outside of which nothing may be read, not even by way of links; none: anything may be."""
    plugins: tuple[str, ...] = ()
    """Modules that list tools, beside the installed plugins."""
    tools: dict[str, dict[str, Any]] = {}
    """Settings of tools by section."""

    @classmethod
    def read(cls, path: Path) -> Order:
        """The order in a file. Raises OrderError."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise OrderError(f"the order {path} cannot be used: {error}") from error

    def check_places(self) -> None:
        """Raises SourceError for a source that lies, or leads by a link, outside of the allowed folders."""
        if not self.within:
            return
        allowed = [Path(folder).resolve() for folder in self.within]
        for source in self.sources:
            for path in _links_and_root(Path(source.root)):
                place = path.resolve()
                if not any(place.is_relative_to(folder) for folder in allowed):
                    raise SourceError(
                        f"{path} leads to {place}, outside of the folders that may be read "
                        f"({', '.join(self.within)}): remove the link, or have the folder allowed"
                    )


def _links_and_root(root: Path) -> Iterator[Path]:
    """The root, and every link below it, also behind links to folders."""
    yield root
    seen: set[str] = set()
    for folder, folders, files in os.walk(root, followlinks=True):
        place = os.path.realpath(folder)
        if place in seen:
            folders.clear()
            continue
        seen.add(place)
        yield from (path for name in (*folders, *files) if (path := Path(folder, name)).is_symlink())
