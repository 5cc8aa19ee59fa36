from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import gc
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from toolkit.errors import PluginError
from toolkit.execution import run_tool_method, unblocked, wait_for
from toolkit.threads import DaemonThreadPool


@pytest.fixture
def executor() -> Iterator[DaemonThreadPool]:
    pool = DaemonThreadPool(max_workers=2)
    yield pool
    pool.shutdown(wait=False, cancel_futures=True)


async def double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


def plain_double(number: int) -> int:
    return 2 * number


def returns_awaitable(number: int) -> Awaitable[int]:
    return double(number)


class AsyncCallable:
    async def __call__(self, number: int) -> int:
        return 2 * number


@pytest.mark.parametrize(
    "method",
    [double, plain_double, returns_awaitable, AsyncCallable(), functools.partial(double), lambda n: 2 * n],
)
async def test_async_and_plain_methods_give_the_same(
    method: Callable[..., Any], executor: DaemonThreadPool
) -> None:
    assert await run_tool_method(method, 21, executor=executor) == 42


async def test_a_plain_method_does_not_hold_up_the_event_loop(executor: DaemonThreadPool) -> None:
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0.01)

    heart = asyncio.create_task(beat())
    await run_tool_method(time.sleep, 0.2, executor=executor)
    heart.cancel()
    assert beats > 8


async def test_the_number_of_plain_methods_at_once_is_bounded(executor: DaemonThreadPool) -> None:
    running, most, lock = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1

    await asyncio.gather(*(run_tool_method(work, executor=executor) for _ in range(8)))
    assert most == 2


async def test_an_exception_comes_through(executor: DaemonThreadPool) -> None:
    def fail() -> None:
        raise LookupError("no such patient")

    async def fail_async() -> None:
        fail()

    for method in (fail, fail_async):
        with pytest.raises(LookupError, match="no such patient"):
            await run_tool_method(method, executor=executor)


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), StopIteration(), asyncio.CancelledError()]
)
async def test_r3_12_a_plain_tool_cannot_end_the_server_or_pose_as_cancelled(
    error: BaseException, executor: DaemonThreadPool
) -> None:
    def misbehave() -> None:
        raise error

    with pytest.raises(PluginError, match=rf"misbehave raised {type(error).__name__}"):
        await asyncio.wait_for(run_tool_method(misbehave, executor=executor), 2)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()])
async def test_r3_12_an_async_tool_cannot_end_the_server_or_pose_as_cancelled(
    error: BaseException, executor: DaemonThreadPool
) -> None:
    async def misbehave() -> None:
        raise error

    with pytest.raises(PluginError, match=rf"misbehave raised {type(error).__name__}"):
        await run_tool_method(misbehave, executor=executor)


async def test_cancelling_an_async_method_cancels_it(executor: DaemonThreadPool) -> None:
    cleaned = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.set()

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(run_tool_method(work, executor=executor), 0.02)
    assert cleaned.is_set()


async def test_cancelling_returns_at_once_though_a_plain_method_goes_on(executor: DaemonThreadPool) -> None:
    release = threading.Event()
    started = time.perf_counter()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(run_tool_method(release.wait, executor=executor), 0.05)
    assert time.perf_counter() - started < 1
    release.set()


async def test_a_plain_method_that_was_cancelled_in_line_never_runs(executor: DaemonThreadPool) -> None:
    release, ran = threading.Event(), threading.Event()
    blockers = [asyncio.create_task(run_tool_method(release.wait, executor=executor)) for _ in range(2)]
    await asyncio.sleep(0.02)
    waiting = asyncio.create_task(run_tool_method(ran.set, executor=executor))
    await asyncio.sleep(0.02)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    release.set()
    await asyncio.gather(*blockers)
    await run_tool_method(time.sleep, 0, executor=executor)
    assert not ran.is_set()


async def test_a_coroutine_that_nobody_hears_any_more_leaves_no_warning(executor: DaemonThreadPool) -> None:
    release, done = threading.Event(), threading.Event()

    def late() -> Awaitable[int]:
        release.wait(5)
        try:
            return double(1)
        finally:
            done.set()

    task = asyncio.create_task(run_tool_method(late, executor=executor))
    await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    release.set()
    await asyncio.to_thread(done.wait, 5)
    await asyncio.sleep(0.02)
    gc.collect()


async def test_a_plain_method_waits_for_a_call_on_the_event_loop(executor: DaemonThreadPool) -> None:
    def work(number: int) -> int:
        return wait_for(double(number)) + 1

    assert await run_tool_method(work, 20, executor=executor) == 41


async def test_cancelling_ends_what_a_plain_method_waits_for(executor: DaemonThreadPool) -> None:
    cancelled, ended = asyncio.Event(), threading.Event()

    async def slow_model() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def work() -> None:
        try:
            wait_for(slow_model())
        finally:
            ended.set()

    task = asyncio.create_task(run_tool_method(work, executor=executor))
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.wait_for(cancelled.wait(), 2)
    assert await asyncio.to_thread(ended.wait, 2)


async def test_wait_for_refuses_to_block_the_event_loop(executor: DaemonThreadPool) -> None:
    async def work() -> int:
        return wait_for(double(1))

    with pytest.raises(RuntimeError, match="in an async one use await"):
        await run_tool_method(work, executor=executor)


async def test_context_variables_reach_a_plain_method(executor: DaemonThreadPool) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("request")
    variable.set("42")
    assert await run_tool_method(variable.get, executor=executor) == "42"


def test_the_pool_takes_nothing_after_shutdown_and_ends_what_is_in_line() -> None:
    pool = DaemonThreadPool(max_workers=1)
    futures = [pool.submit(plain_double, number) for number in range(5)]
    pool.shutdown()
    assert [future.result(0) for future in futures] == [0, 2, 4, 6, 8]
    pool.shutdown(cancel_futures=True)
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(plain_double, 1)


def test_a_tool_that_never_ends_does_not_keep_the_process() -> None:
    code = (
        "import threading, toolkit.threads\n"
        "pool = toolkit.threads.DaemonThreadPool()\n"
        "pool.submit(threading.Event().wait)\n"
        "print('end')\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    assert (run.returncode, run.stdout) == (0, "end\n")


async def test_r3_12_an_async_method_that_takes_no_cancellation_is_left(
    executor: DaemonThreadPool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("toolkit.execution.GRACE_SECONDS", 0.05)
    ended = asyncio.Event()

    async def stubborn() -> None:
        for _ in range(4):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.1)
        ended.set()
        raise RuntimeError("unheard")

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await run_tool_method(stubborn, executor=executor)
    assert not ended.is_set()
    assert "goes on though it was cancelled" in caplog.text
    await ended.wait()


def begun(pool: DaemonThreadPool, method: Callable[..., Any], *args: Any) -> Future[Any]:
    started = threading.Event()

    def call() -> Any:
        started.set()
        return method(*args)

    future = pool.submit(call)
    assert started.wait(5)
    return future


def test_the_place_of_an_abandoned_call_is_taken_until_it_ends() -> None:
    pool = DaemonThreadPool(max_workers=1)
    release = threading.Event()
    hanging = begun(pool, release.wait, 10)
    waiting = pool.submit(threading.get_ident)
    with pytest.raises(TimeoutError):
        waiting.result(0.05)
    pool.abandon(hanging)
    first = waiting.result(5)
    release.set()
    assert hanging.result(5)
    assert [pool.submit(threading.get_ident).result(5) for _ in range(3)] == [first] * 3
    pool.abandon(waiting)
    pool.shutdown()


def test_no_more_than_so_many_calls_can_be_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.threads.MOST_ABANDONED", 2)
    pool = DaemonThreadPool(max_workers=1)
    release = threading.Event()
    for _ in range(3):
        pool.abandon(begun(pool, release.wait, 10))
    waiting = pool.submit(threading.get_ident)
    with pytest.raises(TimeoutError):
        waiting.result(0.05)
    release.set()
    assert waiting.result(5)
    pool.shutdown()


async def test_r2_3_in_an_async_method_what_blocks_runs_in_a_thread_of_the_platforms(
    executor: DaemonThreadPool,
) -> None:
    def blocking(number: int) -> tuple[str, int]:
        return threading.current_thread().name, wait_for(double(number))

    async def method() -> list[Any]:
        return [await unblocked(blocking, 4), await unblocked(double, 4), await unblocked(lambda: double(4))]

    (thread, doubled), *others = await run_tool_method(method, executor=executor)
    assert thread.startswith("tool-")
    assert [doubled, *others] == [8, 8, 8]


async def test_without_the_platform_it_runs_in_a_thread_of_the_event_loops() -> None:
    assert await unblocked(threading.current_thread) is not threading.current_thread()
    assert [await unblocked(double, 4), await unblocked(lambda: double(4))] == [8, 8]


def test_joining_waits_for_what_ends_and_not_for_what_never_does() -> None:
    pool = DaemonThreadPool(2)
    pool.submit(time.sleep, 0.1)
    never = threading.Event()
    pool.submit(never.wait)
    pool.shutdown(wait=False)
    started = time.monotonic()
    pool.join(0.5)
    assert 0.4 < time.monotonic() - started < 5
    assert [thread.is_alive() for thread in threading.enumerate() if thread.name.startswith("tool-")].count(
        True
    ) >= 1
    never.set()
    pool.join()


def test_a_thread_that_took_what_waited_in_line_does_not_count_as_idle() -> None:
    pool = DaemonThreadPool(1)
    never, begun = threading.Event(), threading.Event()

    def block() -> None:
        begun.set()
        never.wait()

    pool.submit(time.sleep, 0.05)
    blocked = pool.submit(block)
    assert begun.wait(5)
    pool.abandon(blocked)
    assert pool.submit(lambda: 7).result(timeout=5) == 7
    never.set()
    pool.shutdown()
