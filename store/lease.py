"""A reader's hold on a generation: a shared lock on its commit file.

The system frees it when the reader ends, however it ends. The writer sweeps a generation only if it gets the lock
for itself, so what is read in any process stays.
"""

from __future__ import annotations

import fcntl
import os
import weakref
from pathlib import Path
from types import TracebackType
from typing import Self


class Lease:
    """Held until it is closed or forgotten. Raises FileNotFoundError when the generation was swept meanwhile."""

    def __init__(self, commit_file: Path) -> None:
        descriptor = os.open(commit_file, os.O_RDONLY)
        self._close = weakref.finalize(self, os.close, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if not os.path.samestat(commit_file.stat(), os.fstat(descriptor)):
                raise FileNotFoundError(f"{commit_file} was replaced")
        except BaseException:
            self._close()
            raise

    def close(self) -> None:
        """Free the generation; closing twice is no error."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def unlink_unless_leased(commit_file: Path) -> bool:
    """Delete a commit; False, and nothing is done, when some process reads its generation."""
    descriptor = os.open(commit_file, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        commit_file.unlink()
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def is_leased(commit_file: Path) -> bool:
    """Whether some process reads the generation."""
    descriptor = os.open(commit_file, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
