"""A run's progress and its end in a file, for whoever follows it from another process."""

from __future__ import annotations

import dataclasses
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from jobs.console import exit_code_of
from jobs.exit_codes import ExitCode
from ner.ingestion import IngestionReport
from pipelines.publish import count_rows
from store.files import write_json
from store.parts import Part, read_parts
from store.tables import TABLES

log = logging.getLogger(__name__)

TOLD_REJECTS = 100
"""Rejects that the file names; their number stands in the counts."""
WRITE_SECONDS = 0.5
"""The file is not written more often, but at the beginning of a stage and at the end."""
BEAT_SECONDS = 10.0
"""It is written at least this often, so that its age tells whether the run lives."""

ERROR_CODES = {
    ExitCode.BUSY: "STORE_BUSY",
    ExitCode.NOT_FOUND: "SOURCE_NOT_FOUND",
    ExitCode.NOT_INSTALLED: "NOT_INSTALLED",
    ExitCode.USAGE: "INVALID_REQUEST",
    ExitCode.TOO_MANY_REJECTS: "TOO_MANY_REJECTS",
    ExitCode.FAILED: "INGESTION_FAILED",
}


class RunFile:
    """The `Progress` of a run, as JSON in a file that is replaced in one step.

    {pid, pidStarted, host, stage, done, total, documents: {done, total} | null, counts: {table: rows},
    rejects: [{source, sourceId, stage, code, message}], report | null, error: {code, type, message} | null, exitCode |
    null}. `done` and `total` are pieces of the stage's work; `documents` counts the files to be read. The file is for
    following alone: that it cannot be written ends no run.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._written_at = 0.0
        self._ended = threading.Event()
        self._content: dict[str, Any] = {
            "pid": os.getpid(),
            "pidStarted": psutil.Process().create_time(),
            "host": socket.gethostname(),
            "stage": None,
            "done": 0,
            "total": None,
            "documents": None,
            "counts": {},
            "rejects": [],
            "report": None,
            "error": None,
            "exitCode": None,
        }

    def begin(self, stage: str, items: int) -> None:
        """A stage begins."""
        self._set(stage=stage, done=0, total=items)
        if stage == "load":
            self._set(documents={"done": 0, "total": items})
        self._write()

    def advance(self, items: int) -> None:
        """Pieces of it are done."""
        done = self._content["done"] + items
        self._set(done=done)
        if self._content["stage"] == "load":
            self._set(documents={"done": done, "total": self._content["total"]})
        if time.monotonic() - self._written_at >= WRITE_SECONDS:
            self._write()

    def found(self, root: Path, parts: Sequence[Part]) -> None:
        """Count the rows, and read the first rejects."""
        counts = {name: rows for name, rows in count_rows(parts).items() if name in TABLES}
        self._set(counts=counts, rejects=_first_rejects(root, parts))
        self._write()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep the file while the block runs; an exception stands in it as the run's error, and goes on."""
        threading.Thread(target=self._beat, name="run-file", daemon=True).start()
        try:
            yield
        except BaseException as error:
            code = exit_code_of(error)
            told = {"code": ERROR_CODES[code], "type": type(error).__name__, "message": str(error)}
            self._set(error=told, exitCode=int(code))
            raise
        finally:
            self._ended.set()
            self._write()

    def reported(self, report: IngestionReport) -> None:
        """The run's report, when it ended well."""
        self._set(report=dataclasses.asdict(report), stage=None, exitCode=int(ExitCode.OK))

    def _set(self, **values: Any) -> None:
        with self._lock:
            self._content.update(values)

    def _beat(self) -> None:
        self._write()
        while not self._ended.wait(BEAT_SECONDS):
            self._write()

    def _write(self) -> None:
        with self._lock:
            self._written_at = time.monotonic()
            try:
                write_json(self._path, self._content)
            except OSError as error:
                log.warning("the run's progress cannot be written to %s: %s", self._path, error)


def _first_rejects(root: Path, parts: Sequence[Part]) -> list[dict[str, Any]]:
    rejects = [part for part in parts if part.table == "rejects"]
    found: list[dict[str, Any]] = []
    for batch in read_parts(root, rejects):
        found += [
            {
                "source": row["source"],
                "sourceId": row["source_id"],
                "stage": row["stage"],
                "code": row["code"],
                "message": row["message"],
            }
            for row in batch.to_pylist()
        ]
        if len(found) >= TOLD_REJECTS:
            break
    return found[:TOLD_REJECTS]
