"""`tudastar ingest`."""

from __future__ import annotations

import dataclasses
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from jobs.console import BarProgress, errors_told, print_json, print_text, say
from jobs.ingestion import run_order
from jobs.options import DEFAULT_STORE, JsonOption, KeepOption, StoreOption
from jobs.order import Order
from jobs.run_file import RunFile
from ner.ingestion import IngestionReport, SourceRequest
from ner.spec import LANGUAGES
from pipelines.engines.choose import ENGINES, choose, make
from pipelines.engines.contract import Engine
from pipelines.options import RejectLimit, RunOptions
from pipelines.progress import JoinedProgress, Progress
from store.layout import check_name
from store.retention import KEPT_GENERATIONS


def ingest(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Files, folders or globs.", metavar="PATH...")
    ] = None,
    domain: Annotated[str | None, typer.Option(help="The domain: one knowledge store.")] = None,
    system: Annotated[str, typer.Option(help="Sub-source of the domain to which the documents belong.")] = "",
    source: Annotated[
        str | None, typer.Option(help="Name of the source; by default the last part of the path.")
    ] = None,
    language: Annotated[str, typer.Option(help="hu, en, or auto to tell each document's.")] = "auto",
    engine: Annotated[str, typer.Option(help="auto (Spark where Java is found), spark or local.")] = "auto",
    tool: Annotated[
        str | None,
        typer.Option(help="An installed ingestion tool, which says the domain and how to read it."),
    ] = None,
    plugin: Annotated[
        list[str] | None, typer.Option(help="A module that lists tools; may be given several times.")
    ] = None,
    order: Annotated[
        Path | None, typer.Option(help="A JSON file that says what to ingest, instead of all of these.")
    ] = None,
    progress_file: Annotated[
        Path | None, typer.Option(help="Keep progress, counts, rejects and the report in this JSON file.")
    ] = None,
    keep: KeepOption = KEPT_GENERATIONS,
    include_purged: Annotated[
        bool, typer.Option("--include-purged", help="Take in again what was purged from these sources.")
    ] = False,
    max_rejects: Annotated[
        str | None,
        typer.Option(
            envvar="TUDASTAR_MAX_REJECTS",
            help="With more rejects nothing is published: a number, or a share as 5%.",
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Turn documents into the domain's knowledge store, or bring it up to date.

    Documents gone from a source that is named are taken out; other sources stay as they are.
    """
    run_file = RunFile(progress_file) if progress_file else None
    with errors_told(), run_file.kept() if run_file else nullcontext():
        if order is not None:
            wanted = _read_order(order, bool(paths or domain or system or source or tool or plugin))
        else:
            wanted = Order(
                domain=domain,
                tool=tool,
                sources=tuple(_requests(paths or [], system, source, language)),
                plugins=tuple(plugin or ()),
            )
            if domain is None and tool is None:
                raise typer.BadParameter("say to which domain the documents belong", param_hint="--domain")
        if engine not in ENGINES:
            raise typer.BadParameter(f"use one of {', '.join(ENGINES)}", param_hint="--engine")
        options = RunOptions(keep, include_purged, _limit(max_rejects))
        report = _run(wanted, store, engine, run_file, options)
        if run_file:
            run_file.reported(report)
        print_json(dataclasses.asdict(report)) if as_json else tell_report(report, store)


def _run(
    order: Order, store: Path, engine: str, run_file: RunFile | None, options: RunOptions
) -> IngestionReport:
    bars = BarProgress()
    progress: Progress = JoinedProgress(bars, run_file) if run_file else bars

    def make_engine() -> Engine:
        choice = choose(engine)
        say(f"engine: {choice.reason}")
        return make(choice)

    with bars.shown():
        return run_order(order, store, make_engine, progress, options)


def _limit(text: str | None) -> RejectLimit | None:
    try:
        return None if text is None else RejectLimit.parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--max-rejects") from error


def _read_order(path: Path, more_is_given: bool) -> Order:
    if more_is_given:
        raise typer.BadParameter(
            "the order says all: leave paths and other options out", param_hint="--order"
        )
    return Order.read(path)


def _requests(paths: list[str], system: str, source: str | None, language: str) -> list[SourceRequest]:
    if not paths:
        raise typer.BadParameter("name at least one file, folder or glob", param_hint="PATH...")
    if language not in (*LANGUAGES, "auto"):
        raise typer.BadParameter(f"use one of {', '.join(LANGUAGES)}, auto", param_hint="--language")
    if source and len(paths) > 1:
        raise typer.BadParameter("a name is for one path: ingest the paths one by one", param_hint="--source")
    if system:
        check_name("system", system)
    return [SourceRequest(path, source, system, language) for path in paths]


def tell_report(report: IngestionReport, store: Path) -> None:
    """Print how a run ended and what the store holds now."""
    counts = report.counts
    if report.status == "unchanged":
        print_text(f"nothing new: generation {report.generation} of {report.domain!r} is up to date")
    else:
        took = sum(report.seconds.values())
        print_text(f"published generation {report.generation} of {report.domain!r} in {took:.1f} s")
    print_text(
        "  ".join(f"{counts.get(name, 0):,} {name}" for name in ("documents", "pages", "sentences"))
        + f"  {counts.get('mentions', 0):,} mentions  {counts.get('entities', 0):,} entities"
    )
    if counts.get("rejects"):
        print_text(
            f"{counts['rejects']:,} rejects: see `tudastar status --domain {report.domain} --store {store}`"
        )
