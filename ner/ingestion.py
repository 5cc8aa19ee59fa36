"""The ingestion tool: a domain's documents become its knowledge store."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel

from ner.spec import DomainSpec
from toolkit.kinds import IngestionTool

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """A source to read: a file, a folder or a glob."""

    root: str
    name: str | None = None
    """By default the last part of the root."""
    system: str = ""
    """Sub-source of the domain; empty for none."""
    language: str = "auto"
    """A language code for all documents, or `auto` to tell each document's."""


class IngestionRequest(BaseModel):
    """The sources of a run. Documents gone from a named source are deleted; other sources stay."""

    sources: tuple[SourceRequest, ...]


@dataclass(frozen=True, slots=True)
class IngestionReport:
    """How a run ended."""

    domain: str
    status: str
    """`published`, `unchanged` or `failed`."""
    engine: str = ""
    """`spark`, `local`, or empty when none was needed."""
    generation: int | None = None
    """The generation that serves now."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Rows by table."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Duration by stage."""
    error: str | None = None
    """What went wrong, and what to do."""


class IngestionRunner(Protocol):
    """Carries a domain's ingestion out: in this process, or as a process of its own."""

    def run(self, spec: DomainSpec, request: IngestionRequest) -> IngestionReport:
        """Ingest. Raises when the run could not end; the last good generation then serves on."""


class AbstractNERIngestionTool(IngestionTool[IngestionRequest]):
    """Documents → pages → sentences → mentions → entities → graph → index, for one domain.

    A subclass gives the domain's part by `domain_spec`; the platform sets `runner`. Runs are idempotent: with
    nothing new, nothing is done.
    """

    request_class = IngestionRequest
    runner: IngestionRunner | None = None
    """Set by the platform before the first run."""

    @abstractmethod
    def domain_spec(self) -> DomainSpec:
        """The domain's languages, labels and recognisers."""

    def execute_ingestion(self, request: IngestionRequest) -> IngestionReport:
        """Run, and report; an error is logged and stands in the report, it is not raised."""
        spec = self.domain_spec()
        if self.runner is None:
            return IngestionReport(spec.domain, "failed", error=f"tool {self.name!r} was given no runner")
        try:
            return self.runner.run(spec, request)
        except Exception as error:
            log.exception("ingestion of domain %r by tool %r failed", spec.domain, self.name)
            return IngestionReport(spec.domain, "failed", error=f"{type(error).__name__}: {error}")


class DomainIngestionTool(AbstractNERIngestionTool):
    """Ingestion of any domain as its description says; what the command line runs."""

    name = "domain_ingestion"

    def __init__(self, spec: DomainSpec | None = None) -> None:
        self._spec = spec or DomainSpec(domain="default")

    def domain_spec(self) -> DomainSpec:
        return self._spec
