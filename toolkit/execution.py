"""Running a tool's methods, whether `async` or plain, without holding up the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError as FutureCancelledError
from concurrent.futures import Executor, Future
from typing import Any, TypeVar, overload

from toolkit.errors import PluginError
from toolkit.threads import DaemonThreadPool

logger = logging.getLogger(__name__)

GRACE_SECONDS = 1.0
"""Given to an `async` method to end when it is cancelled."""

T = TypeVar("T")


class _Caller:
    """The event loop for which a plain method works, and what that method waits for there."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.left = False
        self._waiting: set[Future[Any]] = set()

    def wait_for(self, awaitable: Awaitable[T]) -> T:
        future = asyncio.run_coroutine_threadsafe(_coroutine(awaitable), self.loop)
        self._waiting.add(future)
        if self.left:
            future.cancel()
        try:
            return future.result()
        finally:
            self._waiting.discard(future)

    def leave(self) -> None:
        self.left = True
        for future in tuple(self._waiting):
            future.cancel()


_caller: contextvars.ContextVar[_Caller] = contextvars.ContextVar("tudastar_tool_caller")
_threads: contextvars.ContextVar[Executor] = contextvars.ContextVar("tudastar_tool_threads")


@overload
async def run_tool_method(method: Callable[..., Awaitable[T]], *args: Any, executor: Executor) -> T: ...
@overload
async def run_tool_method(method: Callable[..., T | Awaitable[T]], *args: Any, executor: Executor) -> T: ...
async def run_tool_method(method: Callable[..., Any], *args: Any, executor: Executor) -> Any:
    """Call a tool's method and give back its result.

    An `async` method is awaited here. A plain one runs in the executor, within a copy of this context;
    what it returns is awaited when it is awaitable.

    On cancellation this returns at once: a plain method that has not begun is never run; one that has begun
    ends by itself, unheard, but what it awaits by `wait_for` is cancelled. An `async` method is cancelled; one that
    does not end for it within GRACE_SECONDS goes on unheard, too.

    Raises what the method raises. A method that tries to end the process (`SystemExit`), or raises
    `StopIteration` or a cancellation that nobody asked for, has failed: that is a PluginError.
    """
    if _is_async(method):
        token = _threads.set(executor)
        try:
            return await _awaited(method, method(*args))
        finally:
            with contextlib.suppress(ValueError):
                _threads.reset(token)
    caller = _Caller(asyncio.get_running_loop())
    context = contextvars.copy_context()
    context.run(_caller.set, caller)
    future = executor.submit(context.run, _call_plain, method, args)
    try:
        result = await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        caller.leave()
        future.add_done_callback(_drop)
        if isinstance(executor, DaemonThreadPool):
            executor.abandon(future)
        raise
    if inspect.isawaitable(result):
        return await _awaited(method, result)
    return result


def wait_for(awaitable: Awaitable[T]) -> T:
    """Within a plain tool method: run an awaitable (a call of the model, say) and wait for its result.

    Raises RuntimeError anywhere else, since it would block an event loop, or have none.
    """
    caller = _caller.get(None)
    if caller is None or _in_event_loop():
        if inspect.iscoroutine(awaitable):
            awaitable.close()
        raise RuntimeError(
            "wait_for is for plain tool methods run by the platform; in an async one use await"
        )
    return caller.wait_for(awaitable)


@overload
async def unblocked(function: Callable[..., Awaitable[T]], *args: Any) -> T: ...
@overload
async def unblocked(function: Callable[..., T | Awaitable[T]], *args: Any) -> T: ...
async def unblocked(function: Callable[..., Any], *args: Any) -> Any:
    """Within an `async` tool method: call something that may be `async`, or plain and block.

    The counterpart of `wait_for`: a plain function runs in a thread of the platform's, an `async` one is awaited.
    Raises what it raises.
    """
    threads = _threads.get(None)
    if threads is not None:
        return await run_tool_method(function, *args, executor=threads)
    if _is_async(function):
        return await function(*args)
    result = await asyncio.to_thread(function, *args)
    return await result if inspect.isawaitable(result) else result


def _is_async(method: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(method) or inspect.iscoroutinefunction(
        getattr(method, "__call__", None)  # noqa: B004
    )


async def _coroutine(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _call_plain(method: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        return method(*args)
    except (
        SystemExit,
        KeyboardInterrupt,
        StopIteration,
        asyncio.CancelledError,
        FutureCancelledError,
    ) as error:
        raise _misbehaviour(method, error) from error


def _drop(future: Future[Any]) -> None:
    """End a call that nobody hears any more without a word about what it left behind."""
    if not future.cancelled() and future.exception() is None and inspect.iscoroutine(future.result()):
        future.result().close()


async def _awaited(method: Callable[..., Any], awaitable: Awaitable[T]) -> T:
    """In a task of its own, so that a method which holds up its cancellation holds up nothing else."""
    task = asyncio.ensure_future(_behaving(method, awaitable))
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        task.add_done_callback(_drop_task)
        await asyncio.wait({task}, timeout=GRACE_SECONDS)
        if not task.done():
            logger.warning("%s goes on though it was cancelled; nobody hears it", _name(method))
        raise
    return task.result()


async def _behaving(method: Callable[..., Any], awaitable: Awaitable[T]) -> T:
    try:
        return await awaitable
    except (SystemExit, KeyboardInterrupt) as error:
        raise _misbehaviour(method, error) from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and not task.cancelling():
            raise _misbehaviour(method, error) from error
        raise


def _drop_task(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


def _name(method: Callable[..., Any]) -> str:
    return getattr(method, "__qualname__", repr(method))


def _misbehaviour(method: Callable[..., Any], error: BaseException) -> PluginError:
    return PluginError(
        f"{_name(method)} raised {type(error).__name__}, which a tool must not; raise an Exception instead"
    )


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
