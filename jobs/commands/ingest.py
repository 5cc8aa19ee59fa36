"""`tudastar ingest`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from jobs.console import BarProgress, errors_told, print_json, print_text, say
from jobs.options import DEFAULT_STORE, DomainOption, JsonOption, StoreOption
from ner.ingestion import IngestionReport, IngestionRequest, SourceRequest
from ner.spec import LANGUAGES, DomainSpec
from pipelines.engines.choose import ENGINES, choose, make
from pipelines.engines.contract import Engine
from pipelines.run import PipelineRunner
from store.layout import check_name


def ingest(
    paths: Annotated[list[str], typer.Argument(help="Files, folders or globs.", metavar="PATH...")],
    domain: DomainOption,
    system: Annotated[str, typer.Option(help="Sub-source of the domain to which the documents belong.")] = "",
    source: Annotated[
        str | None, typer.Option(help="Name of the source; by default the last part of the path.")
    ] = None,
    language: Annotated[str, typer.Option(help="hu, en, or auto to tell each document's.")] = "auto",
    engine: Annotated[str, typer.Option(help="auto (Spark where Java is found), spark or local.")] = "auto",
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Turn documents into the domain's knowledge store, or bring it up to date.

    Documents gone from a source that is named are taken out; other sources stay as they are.
    """
    with errors_told():
        requests = _requests(paths, system, source, language)
        if engine not in ENGINES:
            raise typer.BadParameter(f"use one of {', '.join(ENGINES)}", param_hint="--engine")
        progress = BarProgress()

        def make_engine() -> Engine:
            choice = choose(engine)
            say(f"engine: {choice.reason}")
            return make(choice)

        with progress.shown(), PipelineRunner(store, make_engine, progress) as runner:
            report = runner.run(DomainSpec(domain=domain), IngestionRequest(sources=tuple(requests)))
        print_json(dataclasses.asdict(report)) if as_json else tell_report(report, store)


def _requests(paths: list[str], system: str, source: str | None, language: str) -> list[SourceRequest]:
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
