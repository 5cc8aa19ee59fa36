"""Parsing in a child process with limits, so that no file can stop a batch."""

from __future__ import annotations

import atexit
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psutil

from pipelines.errors import EngineError
from pipelines.formats.child import LENGTH
from pipelines.formats.contract import FormatError, RawPage
from pipelines.formats.take import Content

START_SECONDS = 60.0
_LOOK_SECONDS = 0.05
"""How often the child's memory is looked at while it parses."""
_CHUNK = 1 << 16
_FOLDER = Path(__file__).resolve().parents[2]
_OUT_OF_MEMORY = (b"memory allocation of", b"out of memory", b"bad_alloc", b"MemoryError")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may take."""

    seconds: float = 120.0
    memory: int = 2 << 30
    """Bytes that the parser process may hold."""
    output: int = 256 << 20
    """Bytes of the text that comes out, with its framing."""

    @property
    def command(self) -> tuple[str, ...]:
        """The program that parses."""
        return (sys.executable, "-P", "-m", "pipelines.formats.child", str(self.memory))


class ParserProcess:
    """A child that parses one file after the other; a new one is started when it ended or grew.

    Threads take turns. After a fork the new process starts a child of its own.
    """

    def __init__(self, limits: Limits, command: Sequence[str] | None = None) -> None:
        self._limits = limits
        self._command = tuple(command or limits.command)
        self._lock = threading.Lock()
        self._owner = 0
        self._child: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None

    def take(self, path: str, kind: str, name: str) -> tuple[Content, str]:
        """What is in a file, and the SHA-256 of its bytes.

        Raises FormatError (`timed_out`, `too_large`, `crashed`, or the format's own reason), and EngineError when no
        child can be started.
        """
        with self._lock:
            request = {"path": path, "kind": kind, "name": name, "seconds": self._limits.seconds}
            answer = self._ask(request)
            self._replace_grown()
        if answer.get("code") == "memory":
            raise self._too_much_memory()
        if "code" in answer:
            raise FormatError(answer["code"], answer["message"])
        pages = [RawPage(heading, text) for heading, text in answer["pages"]]
        return Content(answer["title"], answer["mediaType"], pages, answer["metadata"]), answer["sha256"]

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        said, self._said = self._said, None
        if said:
            said.close()
        if child is None or self._owner != os.getpid():
            return
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            _pipe(pipe).close()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        content = json.dumps(request).encode()
        for attempt in (1, 2):
            child = self._ready()
            try:
                _pipe(child.stdin).write(len(content).to_bytes(LENGTH) + content)
                _pipe(child.stdin).flush()
                return self._answer(child, self._limits.seconds)
            except (EOFError, BrokenPipeError):
                status = child.wait()
                if status == 0 and attempt == 1:  # it ended as it had nothing to do
                    self.close()
                    continue
                raise self._crashed(status) from None
            except BaseException:
                self.close()
                raise
        raise AssertionError("unreachable")

    def _ready(self) -> subprocess.Popen[bytes]:
        if self._child is not None and self._owner == os.getpid() and self._child.poll() is None:
            return self._child
        self.close()
        places = [str(_FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            child = subprocess.Popen(  # noqa: S603
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
            )
            self._child, self._owner = child, os.getpid()
            self._answer(child, START_SECONDS)
        except (OSError, EOFError, FormatError) as error:
            self.close()
            raise EngineError(
                f"the parser process ({self._command[0]}) cannot be started: {error}"
            ) from error
        return child

    def _answer(self, child: subprocess.Popen[bytes], seconds: float) -> dict[str, Any]:
        """The next frame. Raises EOFError when the child ended, FormatError when it went beyond a limit."""
        end, looked, content = time.monotonic() + seconds, 0.0, bytearray()
        pipe = _pipe(child.stdout).fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while len(content) < LENGTH or len(content) < LENGTH + int.from_bytes(content[:LENGTH]):
                now = time.monotonic()
                if now > end:
                    raise FormatError("timed_out", f"reading took more than {self._limits.seconds:g} seconds")
                if now - looked > _LOOK_SECONDS:
                    looked = now
                    if _memory_of(child) > self._limits.memory:
                        raise self._too_much_memory()
                if selector.select(min(_LOOK_SECONDS, max(end - now, 0.001))):
                    piece = os.read(pipe, _CHUNK)
                    if not piece:
                        raise EOFError("the process ended")
                    content += piece
                if len(content) >= LENGTH and int.from_bytes(content[:LENGTH]) > self._limits.output:
                    raise FormatError(
                        "too_large", f"more than {self._limits.output >> 20} MB of text come out"
                    )
        answer: dict[str, Any] = json.loads(content[LENGTH:])
        return answer

    def _replace_grown(self) -> None:
        if self._child is not None and _memory_of(self._child) > self._limits.memory // 2:
            self.close()

    def _crashed(self, status: int) -> FormatError:
        said = b""
        if self._said:
            self._said.seek(max(self._said.seek(0, os.SEEK_END) - _CHUNK, 0))
            said = self._said.read()
        self.close()
        if any(sign in said for sign in _OUT_OF_MEMORY):
            return self._too_much_memory()
        how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        return FormatError("crashed", f"the parser ended {how}")

    def _too_much_memory(self) -> FormatError:
        return FormatError("too_large", f"reading takes more than {self._limits.memory >> 20} MB of memory")


_kept: dict[Limits, ParserProcess] = {}


def parser_of(limits: Limits) -> ParserProcess:
    """The parser of this process with these limits; kept for the files to come."""
    if limits not in _kept:
        atexit.unregister(close_parsers)
        atexit.register(close_parsers)
    return _kept.setdefault(limits, ParserProcess(limits))


def close_parsers() -> None:
    """End the children that this process keeps."""
    while _kept:
        _kept.popitem()[1].close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _memory_of(child: subprocess.Popen[bytes]) -> int:
    try:
        return int(psutil.Process(child.pid).memory_info().rss)
    except psutil.Error:
        return 0
