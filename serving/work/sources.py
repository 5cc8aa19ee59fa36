"""What users may have ingested: which tools, from which folders, under which names."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ner.ingestion import AbstractNERIngestionTool, DomainIngestionTool
from serving.errors import ApiError, shortened
from serving.work.ingestion_wire import IngestionBody, SourceBody
from serving.work.limits import JobLimits
from serving.work.records import Job
from store.errors import InvalidNameError
from store.layout import check_name
from toolkit.errors import UnknownToolError
from toolkit.kinds import IngestionTool
from toolkit.registry import ToolRegistry


@dataclass(frozen=True, slots=True)
class IngestionSetup:
    """What the operator has settled about ingestion over REST."""

    store: Path
    runs: Path
    """Folder of the runs' working files."""
    roots: tuple[Path, ...]
    """Folders from which may be ingested; none: ingestion over REST is off."""
    engine: str
    spark_submit: tuple[str, ...]
    """Command line that starts runs on Spark; empty: a plain process."""
    limits: JobLimits
    plugins: tuple[str, ...]
    tools: Mapping[str, Mapping[str, Any]]
    registry: ToolRegistry

    def order(self, job: Job) -> dict[str, Any]:
        """What the run's process is told."""
        return {
            **job.parameters,
            "tool": job.name,
            "within": [str(root.resolve()) for root in self.roots],
            "plugins": list(self.plugins),
            "tools": {name: dict(section) for name, section in self.tools.items()},
        }

    def checked(self, tool_name: str, body: IngestionBody) -> dict[str, Any]:
        """The run's parameters: its domain, and its sources with their real paths. Raises ApiError."""
        if not self.roots:
            detail = (
                "Ingestion over REST is switched off on this server. Its operator switches it on by naming the "
                "folders from which may be ingested in TUDASTAR_INGESTION_ROOTS."
            )
            raise ApiError(403, "INGESTION_SWITCHED_OFF", detail)
        domain = self._domain(tool_name, body.domain)
        return {"domain": domain, "sources": [self._source(source) for source in body.sources]}

    def _domain(self, tool_name: str, given: str | None) -> str:
        if tool_name == DomainIngestionTool.name:
            if given is None:
                raise ApiError(422, "DOMAIN_MISSING", "Say in `domain` to which domain the documents belong.")
            return _name("domain", given)
        own = self._tool(tool_name).domain_spec().domain
        if given not in (None, own):
            detail = (
                f"Tool {tool_name!r} fills domain {own!r}, not {shortened(str(given))!r}; leave `domain` out."
            )
            raise ApiError(422, "OTHER_DOMAIN", detail)
        return own

    def _tool(self, name: str) -> AbstractNERIngestionTool:
        try:
            tool = self.registry.ingestion_tool(name)
        except UnknownToolError as error:
            names = sorted(each.name for each in self.registry.tools if isinstance(each, IngestionTool))
            valid = ", ".join([DomainIngestionTool.name, *names])
            detail = f"There is no ingestion tool {shortened(name)!r}; valid are: {valid}."
            raise ApiError(404, "UNKNOWN_INGESTION_TOOL", detail) from error
        if not isinstance(tool, AbstractNERIngestionTool):
            detail = f"Tool {name!r} cannot be started here: it is no AbstractNERIngestionTool."
            raise ApiError(422, "TOOL_NOT_STARTABLE", detail)
        return tool

    def _source(self, source: SourceBody) -> dict[str, Any]:
        return {
            "root": str(_place(source.root, self.roots)),
            "name": None if source.name is None else _name("source", source.name),
            "system": _name("system", source.system) if source.system else "",
            "language": source.language,
        }


def _name(kind: str, name: str) -> str:
    try:
        return check_name(kind, name)
    except InvalidNameError as error:
        raise ApiError(422, "INVALID_NAME", str(error)) from error


def _place(root: str, allowed: Sequence[Path]) -> Path:
    """The real path of a file or folder below an allowed one. Raises ApiError."""
    try:
        given = Path(root)
        place = given.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise _not_found(root) from error
    if not given.is_absolute() or not any(place.is_relative_to(folder.resolve()) for folder in allowed):
        folders = ", ".join(map(str, allowed))
        detail = (
            f"{shortened(root)!r} lies outside of the folders from which this server ingests; "
            f"give the full path of a file or folder in: {folders}."
        )
        raise ApiError(403, "ROOT_NOT_ALLOWED", detail)
    try:
        there = place.exists()
    except OSError as error:
        raise _not_found(root) from error
    if not there:
        raise _not_found(root)
    return place


def _not_found(root: str) -> ApiError:
    hint = " Wildcards are not possible here." if glob.has_magic(root) else ""
    return ApiError(422, "SOURCE_NOT_FOUND", f"There is no file or folder {shortened(root)!r}.{hint}")
