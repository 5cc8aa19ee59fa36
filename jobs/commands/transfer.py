"""`tudastar export` and `import`: one generation, carried from store to store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jobs.console import errors_told, print_json, print_text
from jobs.options import DEFAULT_STORE, DomainOption, JsonOption, KeepOption, StoreOption
from store.commits import Commit
from store.layout import DomainLayout
from store.reader import KnowledgeStore
from store.retention import KEPT_GENERATIONS
from store.transfer import export as export_generation
from store.transfer import import_ as import_generation


def export(
    target: Annotated[Path, typer.Argument(help="A new or an empty folder.")],
    domain: DomainOption,
    generation: Annotated[
        int | None, typer.Option("--generation", min=1, help="A kept one; by default the newest.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Copy one generation to a folder, every file with its checksum, the commit last."""
    with errors_told():
        KnowledgeStore(store).commit(domain)
        commit = export_generation(DomainLayout.of(store, domain), target, generation)
        _tell(commit, f"exported generation {commit.number} of {commit.domain!r} to {target}", as_json)


def import_(
    source: Annotated[Path, typer.Argument(help="The folder of an export.")],
    domain: Annotated[
        str | None, typer.Option("--domain", help="Import only if the export is of this domain.")
    ] = None,
    as_next: Annotated[
        bool, typer.Option("--as-next", help="Publish it after the generations that the domain has here.")
    ] = False,
    keep: KeepOption = KEPT_GENERATIONS,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Publish an export in this store, if it is whole and of a format that this version knows."""
    with errors_told():
        commit = import_generation(source, store, domain, as_next, keep)
        _tell(commit, f"generation {commit.number} of {commit.domain!r} serves now from {store}", as_json)


def _tell(commit: Commit, text: str, as_json: bool) -> None:
    size = sum(each.bytes for each in commit.listed)
    if as_json:
        print_json(
            {
                "domain": commit.domain,
                "generation": commit.number,
                "files": len(commit.listed),
                "bytes": size,
            }
        )
    else:
        print_text(f"{text}: {len(commit.listed):,} files, {size:,} bytes")
