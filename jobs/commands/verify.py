"""`tudastar verify`: whether all files are as the commits say."""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.console import errors_told, print_json, print_text
from jobs.exit_codes import ExitCode
from jobs.options import DEFAULT_STORE, DomainOption, JsonOption, StoreOption
from store.layout import DomainLayout
from store.reader import KnowledgeStore
from store.verify import Verification
from store.verify import verify as verify_store

GenerationOption = Annotated[
    int | None, typer.Option("--generation", min=1, help="Only this one; by default all that are kept.")
]


def verify(
    domain: DomainOption,
    generation: GenerationOption = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Check that every file of the kept generations is there and unchanged, and that nothing else lies there.

    Ends with code 1 when a file is missing, cut, changed or foreign.
    """
    with errors_told():
        KnowledgeStore(store).commit(domain)
        found = verify_store(DomainLayout.of(store, domain), generation)
        print_json(found.model_dump(mode="json")) if as_json else _tell(found)
        if found.faults:
            raise typer.Exit(ExitCode.FAILED)


def _tell(found: Verification) -> None:
    for fault in found.faults:
        of = f" (generation {fault.generation})" if fault.generation else ""
        print_text(f"{fault.kind}: {fault.path}{of}: {fault.detail}")
    for number in found.unlisted:
        print_text(f"generation {number} lists no checksums of its index: an older version made it")
    if not found.foreign_looked_for:
        print_text("a run is writing: foreign files were not looked for")
    generations = ", ".join(map(str, found.generations))
    state = f"{len(found.faults)} faults" if found.faults else "whole"
    print_text(
        f"{found.domain}: {state}; generations {generations}: {found.files:,} files, {found.bytes:,} bytes"
    )
    if any(fault.kind != "foreign" for fault in found.faults):
        print_text("restore the files, or roll back to a whole generation: `tudastar rollback`")
    if any(fault.kind == "foreign" for fault in found.faults):
        print_text(
            "a foreign file is what a killed run left, which the next run that publishes sweeps, or not ours"
        )
