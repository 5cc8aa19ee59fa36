"""A PostgreSQL server of the tests' own, from Debian's packages, and databases in it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE = 30.0
"""Seconds after which a server that does not begin counts as broken."""
_SETTINGS = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "listen_addresses=127.0.0.1")


def newest_programs() -> Path | None:
    """The folder of `initdb` and `postgres`; None where PostgreSQL is not installed."""
    found = [each.parent for each in Path("/usr/lib/postgresql").glob("*/bin/postgres")]
    return max(found, key=lambda folder: int(folder.parent.name), default=None)


@dataclass(frozen=True)
class OwnPostgres:
    """A running server on a port of 127.0.0.1."""

    programs: Path
    port: int

    def url(self, database: str = "postgres") -> str:
        """Its address, as TUDASTAR_STATE takes it."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def run(self, sql: str) -> None:
        """Run one statement. Raises CalledProcessError."""
        command = [self.programs / "psql", "-qX", "-v", "ON_ERROR_STOP=1", self.url(), "-c", sql]
        subprocess.run(command, check=True, capture_output=True, env=_plain_environment())

    @contextmanager
    def fresh_database(self) -> Iterator[str]:
        """The address of an empty database, dropped at the end."""
        name = f"t{uuid.uuid4().hex}"
        self.run(f"CREATE DATABASE {name}")
        yield self.url(name)
        self.run(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def running_postgres(programs: Path) -> Iterator[OwnPostgres]:
    """Start a server in a folder of its own, and end it with all that it kept."""
    folder = Path(tempfile.mkdtemp(prefix="tudastar-postgres-"))
    try:
        as_user = _as_user(folder)
        _run(
            [programs / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8"],
            as_user,
        )
        port = _free_port()
        command: list[Any] = [programs / "postgres", "-D", folder / "data", "-p", str(port), "-k", folder]
        command += [part for setting in _SETTINGS for part in ("-c", setting)]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(command, stdout=log, stderr=log, env=_plain_environment(), **as_user)
        try:
            _wait(programs, port, server, folder / "log")
            yield OwnPostgres(programs, port)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(PATIENCE)
    finally:
        shutil.rmtree(folder)


def _as_user(folder: Path) -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return {}
    shutil.chown(folder, "postgres", "postgres")
    return {"user": "postgres", "group": "postgres", "extra_groups": []}


def _plain_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}


def _run(command: list[Any], as_user: dict[str, Any]) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd="/", env=_plain_environment(), **as_user
    )
    assert done.returncode == 0, done.stderr


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


def _wait(programs: Path, port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    ready = [programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
    while subprocess.run(ready, check=False, env=_plain_environment()).returncode:
        assert server.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
