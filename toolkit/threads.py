"""A bounded pool of threads that never holds up the end of the process."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

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

    Other than with the standard pool, a call that never ends does not keep the process from ending.
    """

    def __init__(self, max_workers: int = 16, name: str = "tool") -> None:
        if max_workers < 1:
            raise ValueError(f"max_workers is {max_workers}: at least one thread is needed")
        self._max_workers = max_workers
        self._name = name
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._idle = 0
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Put a call in line. Raises RuntimeError after `shutdown`."""
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError(f"the {self._name!r} threads are shut down and take no further calls")
            self._queue.put(_Work(future, lambda: fn(*args, **kwargs)))
            if self._idle > 0:
                self._idle -= 1
            elif len(self._threads) < self._max_workers:
                self._start_thread()
        return future

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
            for thread in self._threads:
                thread.join()

    def _start_thread(self) -> None:
        thread = threading.Thread(target=self._serve, name=f"{self._name}-{len(self._threads)}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        while (work := self._queue.get()) is not None:
            work.do()
            del work
            with self._lock:
                self._idle += 1

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
