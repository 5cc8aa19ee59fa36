"""`tudastar purge`: documents, sources or a domain, gone for good."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from jobs.console import errors_told, print_json, print_text
from jobs.options import DEFAULT_STORE, DomainOption, JsonOption, StoreOption
from pipelines.engines.choose import ENGINES, choose, make
from pipelines.purge import PurgeReport, Selection
from pipelines.purge import purge as purge_store

CHATS = (
    "chats that quote it keep their quotes: they lie in the server's own database; have their owners delete them "
    "on the chat page, or delete them by the API (docs/api.md)"
)


def purge(
    domain: DomainOption,
    document: Annotated[
        int | None, typer.Option("--document", min=0, help="Id of a document, as `search --json` tells it.")
    ] = None,
    source: Annotated[str | None, typer.Option("--source", help="Name of a source.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="The whole domain.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do it: nothing can bring it back but its source.")
    ] = False,
    engine: Annotated[str, typer.Option(help="auto (Spark where Java is found), spark or local.")] = "local",
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Take a document, a source or the domain out of every generation and index, and prove that it is gone.

    It does not come back at the next ingest, unless that is told --include-purged.
    """
    with errors_told():
        if [document is not None, source is not None, everything].count(True) != 1:
            raise typer.BadParameter("give one of --document, --source, --all", param_hint="--document")
        if engine not in ENGINES:
            raise typer.BadParameter(f"use one of {', '.join(ENGINES)}", param_hint="--engine")
        if not yes:
            raise typer.BadParameter("this cannot be undone: say --yes to do it", param_hint="--yes")
        report = purge_store(store, domain, Selection(document, source), lambda: make(choose(engine)))
        print_json({**dataclasses.asdict(report), "note": CHATS}) if as_json else _tell(report)


def _tell(report: PurgeReport) -> None:
    now = f"generation {report.generation} serves" if report.generation else "the domain is gone"
    print_text(f"{report.documents:,} documents purged from {report.domain!r}; {now}")
    if report.deleted:
        print_text(f"deleted generations: {', '.join(map(str, report.deleted))}")
    for number in report.held:
        print_text(
            f"generation {number} is still open in a process, which may answer from it until its next question "
            "or its restart"
        )
    looked_at = ", ".join(f"{number:,} {kind}" for kind, number in sorted(report.looked_at.items()))
    print_text(f"looked for its ids and texts and found none in: {looked_at or 'no files, as none are left'}")
    print_text(CHATS)
