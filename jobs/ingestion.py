"""Carrying an ingestion out: for a domain, or by an installed tool."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jobs.order import Order, OrderError
from ner.ingestion import (
    AbstractNERIngestionTool,
    DomainIngestionTool,
    IngestionReport,
    IngestionRequest,
    IngestionRunner,
)
from ner.spec import DomainSpec
from pipelines.errors import IngestionError
from pipelines.options import NO_OPTIONS, RunOptions
from pipelines.progress import Progress
from pipelines.run import PipelineRunner


def run_order(
    order: Order,
    store: Path,
    make_engine: Callable[[], Any],
    progress: Progress,
    options: RunOptions = NO_OPTIONS,
) -> IngestionReport:
    """Ingest. Raises OrderError, and what a run raises; the store is then as before."""
    order.check_places()
    tool = ingestion_tool(order, store)
    request = tool.request_class(sources=order.sources)
    with PipelineRunner(store, make_engine, progress, options) as runner:
        if isinstance(tool, DomainIngestionTool):
            return runner.run(tool.domain_spec(), request)
        heard = _HeardRunner(runner)
        tool.runner = heard
        outcome = tool.execute_ingestion(request)
        report = asyncio.run(_awaited(outcome)) if inspect.isawaitable(outcome) else outcome
    if heard.error is not None:
        raise heard.error
    if report.status == "failed":
        raise IngestionError(report.error or f"tool {tool.name!r} failed without saying why")
    return report


def ingestion_tool(order: Order, store: Path) -> AbstractNERIngestionTool:
    """The tool that the order names, or the one for its domain. Raises OrderError."""
    if order.tool is None or order.tool == DomainIngestionTool.name:
        if order.domain is None:
            raise OrderError("no domain is named: say which one the documents belong to, with --domain")
        return DomainIngestionTool(DomainSpec(domain=order.domain))
    from retrieval.knowledge import StoreKnowledgeBase
    from serving.app import BUILT_INS
    from serving.offline.assistant import OfflineAssistant
    from toolkit.errors import UnknownToolError
    from toolkit.registry import ToolRegistry

    registry = ToolRegistry(
        BUILT_INS,
        order.plugins,
        llm=OfflineAssistant(),
        knowledge=StoreKnowledgeBase(store),
        settings=order.tools,
    )
    try:
        tool = registry.ingestion_tool(order.tool)
    except UnknownToolError as error:
        left_out = "; ".join(f"{each.what} was left out: {each.reason}" for each in registry.report.left_out)
        raise OrderError(f"{error}{'; ' if left_out else ''}{left_out}") from error
    if not isinstance(tool, AbstractNERIngestionTool):
        raise OrderError(f"tool {order.tool!r} is no AbstractNERIngestionTool, which alone runs from here")
    if order.domain not in (None, tool.domain_spec().domain):
        raise OrderError(
            f"tool {order.tool!r} fills domain {tool.domain_spec().domain!r}, not {order.domain!r}"
        )
    return tool


class _HeardRunner:
    """Keeps what a run raised, which the tool's report tells in words alone."""

    def __init__(self, runner: IngestionRunner) -> None:
        self.error: Exception | None = None
        self._runner = runner

    def run(self, spec: DomainSpec, request: IngestionRequest) -> IngestionReport:
        self.error = None
        try:
            return self._runner.run(spec, request)
        except Exception as error:
            self.error = error
            raise


async def _awaited(outcome: Any) -> IngestionReport:
    report: IngestionReport = await outcome
    return report
