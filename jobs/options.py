"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

DEFAULT_STORE = Path("data/store")

StoreOption: TypeAlias = Annotated[
    Path, typer.Option("--store", help="Folder of the knowledge stores.", envvar="TUDASTAR_STORE")
]
DomainOption: TypeAlias = Annotated[str, typer.Option("--domain", help="The domain: one knowledge store.")]
SystemsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--system", help="Only documents of this system; may be given several times."),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
LimitOption: TypeAlias = Annotated[int, typer.Option("-k", min=1, max=1000, help="How many results.")]
KeepOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--keep",
        min=1,
        envvar="TUDASTAR_KEEP_GENERATIONS",
        help="How many of the newest generations stay; those that are being read stay besides.",
    ),
]
