"""A bounded pool of threads that never holds up the end of the process."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

MOST_ABANDONED = 64
"""Calls of one pool that nobody waits for and that still run."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Work:
    future: Future[Any]
    call: Callable[[], Any]

    def do(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self.call()
        except BaseException as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class DaemonThreadPool(Executor):
    """At most `max_workers` calls at once; further ones wait in line.

    Other than with the standard pool, a call that never ends does not keep the process from ending, and one that
    is abandoned does not keep its place.
    """

    def __init__(self, max_workers: int = 16, name: str = "tool") -> None:
        if max_workers < 1:
            raise ValueError(f"max_workers is {max_workers}: at least one thread is needed")
        self._max_workers = max_workers
        self._name = name
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._idle = 0
        self._threads: list[threading.Thread] = []
        self._abandoned: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._numbers = itertools.count()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Put a call in line. Raises RuntimeError after `shutdown`."""
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError(f"the {self._name!r} threads are shut down and take no further calls")
            self._queue.put(_Work(future, lambda: fn(*args, **kwargs)))
            if self._idle > 0:
                self._idle -= 1
            else:
                self._start_thread_if_there_is_room()
        return future

    def abandon(self, future: Future[Any]) -> None:
        """Nobody waits any more for this call, which has begun: until it ends, another thread may take its place.

        So many calls may be abandoned at once; beyond that they keep their places.
        """
        with self._lock:
            if not future.running() or len(self._abandoned) >= MOST_ABANDONED:
                return
            self._abandoned.add(future)
            if not self._queue.empty():
                self._start_thread_if_there_is_room()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no further calls; with `wait`, return when those in line are done."""
        with self._lock:
            first = not self._closed
            self._closed = True
        if cancel_futures:
            self._cancel_waiting()
        if first:
            for _ in self._threads:
                self._queue.put(None)
        if wait:
            self.join()

    def join(self, timeout: float | None = None) -> None:
        """After `shutdown`: wait until the threads have ended, for so many seconds at most.

        A thread that ends only together with the process may abort it, by what it holds of foreign code.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        for thread in tuple(self._threads):
            thread.join(None if deadline is None else max(deadline - time.monotonic(), 0))

    def _start_thread_if_there_is_room(self) -> None:
        if self._closed or len(self._threads) - len(self._abandoned) >= self._max_workers:
            return
        thread = threading.Thread(target=self._serve, name=f"{self._name}-{next(self._numbers)}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        while (work := self._next()) is not None:
            work.do()
            with self._lock:
                if work.future in self._abandoned:
                    self._abandoned.discard(work.future)
                    self._threads.remove(threading.current_thread())
                    return
            del work

    def _next(self) -> _Work | None:
        """What waits in line; a thread counts as idle only once there is nothing, so that none is counted twice."""
        with self._lock:
            try:
                return self._queue.get_nowait()
            except queue.Empty:
                self._idle += 1
        return self._queue.get()

    def _cancel_waiting(self) -> None:
        ends = 0
        while True:
            try:
                work = self._queue.get_nowait()
            except queue.Empty:
                break
            if work is None:
                ends += 1
            else:
                work.future.cancel()
        for _ in range(ends):
            self._queue.put(None)
