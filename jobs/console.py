"""What the command line prints: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from jobs.exit_codes import ExitCode
from jobs.order import OrderError
from ner.errors import NerError
from pipelines.errors import (
    EngineError,
    IngestionError,
    SourceError,
    TooManyRejectsError,
    UnknownContentError,
)
from store.errors import (
    CommitConflictError,
    InvalidNameError,
    NoGenerationError,
    StoreError,
    StoreLockedError,
    TransferError,
)
from store.parts import Part

_CODES: tuple[tuple[type[Exception], ExitCode], ...] = (
    (OrderError, ExitCode.USAGE),
    (NoGenerationError, ExitCode.NOT_FOUND),
    (SourceError, ExitCode.NOT_FOUND),
    (UnknownContentError, ExitCode.NOT_FOUND),
    (TooManyRejectsError, ExitCode.TOO_MANY_REJECTS),
    (InvalidNameError, ExitCode.USAGE),
    (TransferError, ExitCode.USAGE),
    (StoreLockedError, ExitCode.BUSY),
    (CommitConflictError, ExitCode.BUSY),
    (EngineError, ExitCode.NOT_INSTALLED),
    (NerError, ExitCode.NOT_INSTALLED),
    (StoreError, ExitCode.FAILED),
    (IngestionError, ExitCode.FAILED),
    (OSError, ExitCode.FAILED),
)


def say(text: str) -> None:
    """A line for people, on standard error."""
    Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(text)


def print_json(value: Any) -> None:
    """One JSON object on a line of standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def print_text(text: str) -> None:
    """A line of the result on standard output."""
    sys.stdout.write(text + "\n")


@contextmanager
def errors_told() -> Iterator[None]:
    """Turn our errors into a message and an exit code; others keep their trace: they are faults of ours."""
    try:
        yield
    except tuple(kind for kind, _ in _CODES) as error:
        say(f"error: {error}")
        raise typer.Exit(exit_code_of(error)) from error


def exit_code_of(error: BaseException) -> ExitCode:
    """How a command ends that an exception ended."""
    if isinstance(error, typer.BadParameter):
        return ExitCode.USAGE
    return next((code for kind, code in _CODES if isinstance(error, kind)), ExitCode.FAILED)


class BarProgress:
    """A progress bar for each stage, on a terminal; on a log file, a line."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description:>10}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._bar: TaskID | None = None

    def begin(self, stage: str, items: int) -> None:
        if self._console.is_terminal:
            self._bar = self._bars.add_task(stage, total=items)
        else:
            say(f"{stage}: {items}")

    def advance(self, items: int) -> None:
        if self._bar is not None:
            self._bars.advance(self._bar, items)

    def found(self, root: Path, parts: Sequence[Part]) -> None:
        """The end of the command tells."""

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Draw the bars while the block runs."""
        with self._bars:
            yield
