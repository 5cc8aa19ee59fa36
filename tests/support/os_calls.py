"""What this process does to files, call by call: to end a run before any of them, or to let one fail."""

from __future__ import annotations

import errno
import io
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeAlias
from unittest.mock import patch

CHANGING = ("fsync", "replace", "rename", "link", "unlink", "rmdir", "mkdir", "ftruncate", "pwrite")
Before: TypeAlias = Callable[[str], None]


class Killed(BaseException):
    """The process is gone."""


class _Stream:
    """A file open for writing whose writes are told."""

    def __init__(self, stream: Any, before: Before) -> None:
        self._stream, self._before = stream, before

    def write(self, content: Any) -> int:
        self._before("write")
        return int(self._stream.write(content))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


@contextmanager
def told(before: Before) -> Iterator[None]:
    """Call `before` with the name of each call that changes files, ahead of it; what it raises is the call's error."""

    def hooked(name: str) -> Callable[..., Any]:
        original = getattr(os, name)

        def call(*arguments: Any, **options: Any) -> Any:
            before(name)
            return original(*arguments, **options)

        return call

    original_open = io.open

    def opened(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if set(mode).isdisjoint("wax+"):
            return original_open(file, mode, *arguments, **options)
        before("open")
        return _Stream(original_open(file, mode, *arguments, **options), before)

    with ExitStack() as stack:
        for name in CHANGING:
            stack.enter_context(patch.object(os, name, hooked(name)))
        stack.enter_context(patch.object(io, "open", opened))
        yield


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """The calls of the block by name."""
    calls: Counter[str] = Counter()

    def count(name: str) -> None:
        calls[name] += 1

    with told(count):
        yield calls


@contextmanager
def killed_before(number: int) -> Iterator[None]:
    """End the block ahead of its call of that number, as a signal would: nothing is cleaned up behind it.

    A block with fewer calls ends by itself.
    """
    seen = 0

    def count(_: str) -> None:
        nonlocal seen
        seen += 1
        if seen > number:
            raise Killed

    with told(count):
        yield


@contextmanager
def failing(number: int, code: int = errno.ENOSPC, names: tuple[str, ...] = ()) -> Iterator[None]:
    """Let the call of that number fail, of all calls or of those named; the others succeed."""
    seen = 0

    def count(name: str) -> None:
        nonlocal seen
        if names and name not in names:
            return
        seen += 1
        if seen == number + 1:
            raise OSError(code, os.strerror(code))

    with told(count):
        yield
