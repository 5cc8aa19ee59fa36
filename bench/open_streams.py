"""What a thousand clients that read slowly, leave or reset cost the server, and whether anything of them stays.

The server is a process of its own: the chat over an empty store with its history in SQLite, and a tool that says far
more than a slow reader takes in and then waits. The sockets have small buffers, so that what is not read waits in
the server. Each round opens all streams; some clients reset in the middle of their request, some in the middle of
the answer, most read a byte a second and then leave, the rest read to the end. The first round warms up.

Run: python -m bench.open_streams [--streams 1000] [--seconds 10] [--rounds 3] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from socket import SO_LINGER, SO_RCVBUF, SOL_SOCKET, socket
from typing import Any

import httpx

from bench.chat_overhead import BODY
from serving.server import raise_descriptor_limit

BUFFER = 4096
"""Bytes of each socket's buffers, as far as the system makes them so small."""
HEAD = (
    "POST /api/chatbot/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    f"Content-Length: {len(BODY)}\r\nConnection: close\r\n\r\n"
).encode()
IN_REQUEST, IN_ANSWER, LEAVING = 0.1, 0.3, 0.9
"""Up to which share of the clients reset in the request, reset in the answer, leave; the others read to the end."""
SETTLED_SECONDS = 30.0
"""Within which the server must be rid of all clients."""

Figures = dict[str, float]


@contextmanager
def running_server() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server's process, and its address."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bench.open_streams_server", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process, process.stdout.readline().strip()
            finally:
                process.kill()


class Crowd:
    """All clients of one round."""

    def __init__(self, url: str, size: int) -> None:
        self._address = (httpx.URL(url).host, httpx.URL(url).port or 0)
        self._loop = asyncio.get_running_loop()
        self._sockets: list[socket] = []
        self._size = size
        self.ended = 0
        """Answers that were read whole."""

    async def open(self) -> None:
        """Send all requests; some only in part, and read the head of every answer to the others."""
        await asyncio.gather(*(self._open(number) for number in range(self._size)))

    async def _open(self, number: int) -> None:
        client = socket()
        client.setblocking(False)
        client.setsockopt(SOL_SOCKET, SO_RCVBUF, BUFFER)
        await self._loop.sock_connect(client, self._address)
        self._sockets.append(client)
        if number < IN_REQUEST * self._size:
            await self._loop.sock_sendall(client, HEAD + BODY[: len(BODY) // 2])
            await asyncio.sleep(0.5)
            self._leave(client, reset=True)
            return
        await self._loop.sock_sendall(client, HEAD + BODY)
        assert await self._loop.sock_recv(client, 12) == b"HTTP/1.1 200"
        if number < IN_ANSWER * self._size:
            self._leave(client, reset=True)

    async def read_slowly(self, seconds: int) -> None:
        """A byte a second each."""
        for _ in range(seconds):
            began = time.perf_counter()
            for client in self._sockets:
                assert await self._loop.sock_recv(client, 1)
            await asyncio.sleep(max(0, 1 - (time.perf_counter() - began)))

    def leave(self) -> None:
        """Most close in the middle of the answer."""
        for client in self._sockets[: round(len(self._sockets) * (LEAVING - IN_ANSWER) / (1 - IN_ANSWER))]:
            self._leave(client, reset=False)

    def reset(self) -> None:
        """All that are left."""
        for client in self._sockets[:]:
            self._leave(client, reset=True)

    async def read_all(self) -> None:
        """To the end of the answer."""
        await asyncio.gather(*map(self._read_all, self._sockets))

    async def _read_all(self, client: socket) -> None:
        tail = b""
        while data := await self._loop.sock_recv(client, 65536):
            tail = (tail + data)[-100:]
        self.ended += b'"DONE"' in tail
        client.close()

    def _leave(self, client: socket, *, reset: bool) -> None:
        if reset:
            client.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        self._sockets.remove(client)


async def measure(streams: int, seconds: int, rounds: int) -> dict[str, Any]:
    """What the server holds before, with all streams open, and after each round; and how fast it answered meanwhile."""
    raise_descriptor_limit()
    with running_server() as (process, url):
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            told: dict[str, Any] = {
                "idle": await _settled(client, inf),
                "open": [],
                "after": [],
                "healthz": [],
            }
            for _ in range(rounds):
                crowd = Crowd(url, streams)
                await _round(client, crowd, seconds, told)
                told["after"].append(await _settled(client, told["idle"]["tasks"]))
                told["ended"] = crowd.ended
            told["stop"] = await _stopped(process, Crowd(url, streams))
    return told


async def _round(client: httpx.AsyncClient, crowd: Crowd, seconds: int, told: dict[str, Any]) -> None:
    await client.post("/hold")
    await crowd.open()
    watching = asyncio.create_task(_watch(str(client.base_url), told["healthz"]))
    await crowd.read_slowly(seconds)
    told["open"].append((await client.get("/figures")).json())
    crowd.leave()
    await client.post("/release")
    await crowd.read_all()
    watching.cancel()


async def _watch(url: str, milliseconds: list[float]) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        while True:
            began = time.perf_counter()
            (await client.get("/healthz")).raise_for_status()
            milliseconds.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(0.2)


async def _settled(client: httpx.AsyncClient, tasks: float) -> Figures:
    """What the server holds once it has no other connection and no more tasks than these; the seconds until then."""
    began = time.perf_counter()
    while True:
        figures: Figures = (await client.get("/figures")).json()
        taken = time.perf_counter() - began
        at_rest = figures["connections"] <= 1 and figures["tasks"] <= tasks
        if at_rest or taken > SETTLED_SECONDS:
            return figures | {"seconds": taken}
        await asyncio.sleep(0.1)


async def _stopped(process: subprocess.Popen[str], crowd: Crowd) -> Figures:
    """Seconds from SIGTERM, with all streams open, to the end of the process."""
    await crowd.open()
    began = time.perf_counter()
    process.send_signal(signal.SIGTERM)
    code = await asyncio.to_thread(process.wait, 60)
    seconds = time.perf_counter() - began
    crowd.reset()
    return {"seconds": seconds, "code": code}


def main() -> None:
    """Print a table, or a JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    told = asyncio.run(measure(arguments.streams, arguments.seconds, arguments.rounds))
    if arguments.json:
        print(json.dumps(told))
        return
    columns = {"idle": told["idle"]}
    for number, (opened, after) in enumerate(zip(told["open"], told["after"], strict=True), 1):
        columns |= {f"open {number}": opened, f"after {number}": after}
    print(f"{arguments.streams} streams{'':12}" + "".join(f"{name:>10}" for name in columns))
    for figure in told["idle"]:
        print(f"{figure:24}" + "".join(f"{each.get(figure, 0):>10.1f}" for each in columns.values()))
    print(
        f"/healthz meanwhile: {statistics.median(told['healthz']):.1f} ms in the median, "
        f"{max(told['healthz']):.1f} at most"
    )
    print(f"answers read to their end in the last round: {told['ended']}")
    print(f"SIGTERM with all streams open: {told['stop']['seconds']:.1f} s, code {told['stop']['code']:.0f}")


if __name__ == "__main__":
    main()
