"""The command line `tudastar`."""

from __future__ import annotations

import logging

import typer

from jobs.commands.ask import ask
from jobs.commands.demo import demo
from jobs.commands.doctor import doctor
from jobs.commands.ingest import ingest
from jobs.commands.inspect import digest, entities, status
from jobs.commands.purge import purge
from jobs.commands.rollback import rollback
from jobs.commands.search import search
from jobs.commands.serve import serve
from jobs.commands.transfer import export, import_
from jobs.commands.verify import verify
from jobs.exit_codes import EXIT_CODE_HELP

COMMANDS = (
    *(ingest, search, ask, entities, digest, status, doctor, serve, demo),
    *(verify, rollback, export, import_, purge),
)


def make_app() -> typer.Typer:
    """The command line's commands."""
    app = typer.Typer(
        name="tudastar",
        help="Turn documents into a knowledge store, and ask it.",
        epilog=EXIT_CODE_HELP,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for command in COMMANDS:
        app.command(command.__name__.rstrip("_"), epilog=EXIT_CODE_HELP)(command)
    return app


def main() -> None:
    """Run the command line."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    make_app()()
