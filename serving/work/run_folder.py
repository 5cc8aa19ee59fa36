"""The working files of an ingestion run: what it is to do, how far it is, and its log."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.files import write_json

TAIL_BYTES = 256 * 1024
"""So much of the log's end is looked at."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """`<folder of runs>/<run id>`, open to this user of the system alone."""

    path: Path

    @property
    def order_file(self) -> Path:
        """What the run is to do, as `jobs.order` reads it."""
        return self.path / "order.json"

    @property
    def progress_file(self) -> Path:
        """How far the run is, and its end, as `jobs.run_file` writes it."""
        return self.path / "progress.json"

    @property
    def log_file(self) -> Path:
        """All that the run says; there from the moment when its process is started."""
        return self.path / "log.txt"

    def prepare(self, order: dict[str, Any]) -> None:
        """Make the folder, with the order in it. Raises OSError."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.mkdir(mode=0o700, exist_ok=True)
        write_json(self.order_file, order)

    def progress(self) -> dict[str, Any]:
        """The run's file; empty as long as there is none."""
        try:
            content = json.loads(self.progress_file.read_bytes())
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def progress_age(self, now: float) -> float:
        """Seconds since the file was written; infinite when there is none."""
        try:
            return now - self.progress_file.stat().st_mtime
        except OSError:
            return float("inf")

    def log_tail(self, lines: int) -> list[str]:
        """The last lines of the log; none as long as there is no log."""
        try:
            with self.log_file.open("rb") as stream:
                size = stream.seek(0, os.SEEK_END)
                start = max(size - TAIL_BYTES, 0)
                stream.seek(start)
                found = stream.read(TAIL_BYTES).decode(errors="replace").splitlines()
        except OSError:
            return []
        return found[1 if start else 0 :][-lines:]

    def remove(self) -> None:
        """Delete it all."""
        shutil.rmtree(self.path, ignore_errors=True)
