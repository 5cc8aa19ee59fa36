"""The process of an ingestion run: a session of its own, which outlives the server that started it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from serving.errors import StartupError
from serving.state.servers import is_running
from serving.work.run_folder import RunFolder

STALE_SECONDS = 60.0
"""A run on another machine whose file is older than this is held for dead."""
_SECRETS = ("TUDASTAR_TOKEN", "TUDASTAR_USERS", "TUDASTAR_STATE")
"""Variables that no run needs."""


class _Outliving(subprocess.Popen[bytes]):
    """Meant to run on when this process ends, so that is no leak to be warned of."""

    def __del__(self) -> None:
        pass


_children: list[_Outliving] = []
"""Kept until they end, so that none is left a zombie, also when the app that started them is closed."""


@dataclass(frozen=True, slots=True)
class RunProcess:
    """A session leader, known by its number and its start."""

    pid: int
    started: float
    host: str

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine."""
        return self.host == this_host()

    def is_alive(self, folder: RunFolder) -> bool:
        """Whether it still runs; on another machine, whether it wrote its file lately."""
        if self.is_here:
            return self.exit_code() is None and is_running(self.pid, self.started)
        return folder.progress_age(time.time()) < STALE_SECONDS

    def exit_code(self) -> int | None:
        """As `subprocess` tells it, negative for a signal; None while it runs or when it is no child of ours."""
        child = next((each for each in _children if each.pid == self.pid), None)
        return None if child is None else child.poll()

    def signal(self, number: int) -> None:
        """Send a signal to the process and all that it started."""
        if self.is_here and is_running(self.pid, self.started):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def sweep(self) -> None:
        """Kill what is left of its session, once the process itself has ended."""
        if not self.is_here or _another_has_number(self):
            return
        for pid in _session(self.pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        _children[:] = [each for each in _children if each.poll() is None]


def this_host() -> str:
    """This machine's name."""
    return socket.gethostname()


def command_of(folder: RunFolder, store: Path, engine: str, spark_submit: Sequence[str]) -> list[str]:
    """The command line of a run: nothing that a user sent is in it."""
    if spark_submit:
        program, engine = [*spark_submit, str(_script())], "spark"
    else:
        program = [sys.executable, "-m", "jobs"]
    order = ("--order", str(folder.order_file), "--progress-file", str(folder.progress_file))
    return [*program, "ingest", *order, "--store", str(store.absolute()), "--engine", engine, "--json"]


def start(command: Sequence[str], folder: RunFolder) -> RunProcess:
    """Start a run, with its log in its folder; Spark takes this Python unless told another one. Raises OSError."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(_SECRETS)}
    environment = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, **given}
    with folder.log_file.open("ab") as log:
        child = _Outliving(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**environment, "PYTHONUNBUFFERED": "1"},
        )
    _children.append(child)
    return RunProcess(child.pid, psutil.Process(child.pid).create_time(), this_host())


def find(folder: RunFolder) -> RunProcess | None:
    """The process of a run whose number was not written down, since its server died at that moment."""
    needle = str(folder.order_file)
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if needle in process.cmdline() and os.getsid(process.pid) == process.pid:
                return RunProcess(process.pid, process.create_time(), this_host())
    return None


def _session(leader: int) -> Iterator[int]:
    for pid in psutil.pids():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if pid != leader and os.getsid(pid) == leader:
                yield pid


def _another_has_number(run: RunProcess) -> bool:
    """Whether a process that is not the run has got its number; then nothing of the run's session is left."""
    try:
        return bool(abs(psutil.Process(run.pid).create_time() - run.started) > 1.0)
    except psutil.Error:
        return False


def _script() -> Path:
    """The command line's main file, which `spark-submit` takes."""
    found = importlib.util.find_spec("jobs")
    if found is None or not found.submodule_search_locations:
        raise StartupError(
            "the command line (package `jobs`) is not installed, so no ingestion can be started"
        )
    return Path(found.submodule_search_locations[0]) / "__main__.py"
