"""The parser process: takes documents apart, one after the other, for the process that started it.

Frames go both ways: eight bytes of length, big-endian, then JSON. It says `{}` when it is ready; then each
request is {path, kind, name, seconds}, each answer {title, mediaType, pages, metadata, sha256} or {code, message}.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from pipelines.formats.contract import FormatError
from pipelines.formats.take import Content, take_apart

LENGTH = 8
"""Bytes before each frame that say how long it is."""
IDLE_SECONDS = 30.0
"""Without a request for so long the process ends, and frees its memory."""
RESERVED = 1 << 30
"""Address space that the parsers reserve and do not use; 1.1 GB was the most that was measured."""
_FILE_BYTES = 1 << 24
"""Parsers write no files; whatever one writes ends here."""
_ALARM_SECONDS = 10.0
"""When the other side is gone, an endless parse ends so long after its time."""


def serve(take: Callable[[bytes, str, str], Content], memory: int) -> None:
    """Answer requests until the other side closes, or nothing comes for `IDLE_SECONDS`. `memory` is in bytes."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the frames
    _limit(memory)
    requests = os.fdopen(os.dup(0), "rb", buffering=0)
    _send(answers, {})
    while select.select([requests], [], [], IDLE_SECONDS)[0]:
        request = _receive(requests)
        if request is None:
            return
        signal.setitimer(signal.ITIMER_REAL, request["seconds"] + _ALARM_SECONDS)
        answer = _answer(take, request)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _send(answers, answer)


def _limit(memory: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for kind, most in (
        (resource.RLIMIT_AS, memory + RESERVED),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        try:
            resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
        except (ValueError, OSError):  # not on every system
            continue


def _answer(take: Callable[[bytes, str, str], Content], request: dict[str, Any]) -> dict[str, Any]:
    try:
        content = Path(request["path"]).read_bytes()
        found = take(content, request["kind"], request["name"])
    except FormatError as error:
        return {"code": error.code, "message": str(error)}
    except MemoryError:
        return {"code": "memory", "message": ""}
    except OSError as error:
        return {"code": "unreadable", "message": f"cannot be opened: {error.strerror or error}"}
    except Exception as error:
        return {"code": "malformed", "message": f"{type(error).__name__}: {error}"[:500]}
    return {
        "title": found.title,
        "mediaType": found.media_type,
        "pages": [[page.heading, page.text] for page in found.pages],
        "metadata": found.metadata,
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _receive(requests: BinaryIO) -> dict[str, Any] | None:
    length = requests.read(LENGTH)
    if len(length) < LENGTH:
        return None
    size, content = int.from_bytes(length), b""
    while len(content) < size:
        piece = requests.read(size - len(content))
        if not piece:
            return None
        content += piece
    request: dict[str, Any] = json.loads(content)
    return request


def _send(answers: BinaryIO, answer: dict[str, Any]) -> None:
    content = json.dumps(answer, default=str).encode()
    answers.write(len(content).to_bytes(LENGTH))
    answers.write(content)
    answers.flush()


if __name__ == "__main__":
    serve(take_apart, int(sys.argv[1]))
