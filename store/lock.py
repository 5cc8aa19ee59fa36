"""One writer at a time for a domain."""

from __future__ import annotations

import datetime
import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from store.errors import StoreLockedError


@contextmanager
def writer_lock(path: Path) -> Iterator[None]:
    """Hold the domain's lock; the system frees it when the process ends, however it ends.

    Raises StoreLockedError that names the holder.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(descriptor, 4096, 0).decode(errors="replace").strip()
            raise StoreLockedError(
                f"another run is writing to {path.parent}: {holder or 'unknown'}; wait for it to end"
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, _holder(), 0)
        yield
    finally:
        os.close(descriptor)


def _holder() -> bytes:
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "started": started}).encode()
