"""`tudastar rollback`: an earlier generation serves again."""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.console import errors_told, print_json, print_text
from jobs.options import DEFAULT_STORE, DomainOption, JsonOption, KeepOption, StoreOption
from store.layout import DomainLayout
from store.reader import KnowledgeStore
from store.retention import KEPT_GENERATIONS
from store.rollback import rollback as rollback_store


def rollback(
    domain: DomainOption,
    to: Annotated[
        int | None,
        typer.Option("--to", min=1, help="A kept generation; by default the one before the newest."),
    ] = None,
    keep: KeepOption = KEPT_GENERATIONS,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Publish an earlier generation again, as a new one; readers switch in one step."""
    with errors_told():
        before = KnowledgeStore(store).commit(domain).number
        commit = rollback_store(DomainLayout.of(store, domain), to, keep)
        if as_json:
            print_json(
                {"domain": domain, "generation": commit.number, "restored": commit.restored, "before": before}
            )
        else:
            print_text(
                f"generation {commit.number} of {domain!r} serves now, with the content of generation "
                f"{commit.restored}; before it served {before}"
            )
            print_text("the next ingest brings the sources up to date again, from what is the same in both")
