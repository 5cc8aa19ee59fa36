"""Progress events on their way to the client."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Protocol

LLM_GENERATION = "LLM_GENERATION"
"""Reserved: a piece of the answer's text."""
SEGMENT_BREAK = "SEGMENT_BREAK"
"""Reserved: between two segments of a streamed answer, without content."""


@dataclass(frozen=True, slots=True)
class ProgressEvent:
    """One event: a status, and for some of them a text."""

    progress_status: str
    content: str | None = None


class ProgressEmitter(Protocol):
    """Takes events. Never blocks, never raises, and may be called from any thread."""

    def next(self, event: ProgressEvent) -> None:
        """Send one event."""


class _ToolProgressEmitter:
    """Puts the tool's name space before each status, and swallows events when nobody listens."""

    def __init__(self, tool_name: str, emitter: ProgressEmitter | None) -> None:
        self._prefix = f"TOOL_PROGRESS:{tool_name.upper()}:"
        self._emitter = emitter

    def next(self, event: ProgressEvent) -> None:
        if self._emitter is not None:
            self._emitter.next(ProgressEvent(self._prefix + event.progress_status, event.content))


def tool_progress_emitter(tool_name: str, emitter: ProgressEmitter | None) -> ProgressEmitter:
    """An emitter that sends `X` as `TOOL_PROGRESS:<TOOL_NAME>:X`; safe where `emitter` is None."""
    return _ToolProgressEmitter(tool_name, emitter)


def emit_words(emitter: ProgressEmitter | None, text: str, delay: float = 0.02) -> None:
    """From a plain tool method: send a text word by word, as a model would.

    Blocks `delay` seconds between two words. The text is cut before spaces only, so the pieces joined give
    it back unchanged. Without an emitter nothing is sent, at once.
    """
    if emitter is None:
        return
    for number, word in enumerate(_words(text)):
        if number and delay > 0:
            time.sleep(delay)
        emitter.next(ProgressEvent(LLM_GENERATION, word))


async def emit_words_async(emitter: ProgressEmitter | None, text: str, delay: float = 0.02) -> None:
    """The same from an `async` tool method, without holding up the event loop."""
    if emitter is None:
        return
    for number, word in enumerate(_words(text)):
        if number and delay > 0:
            await asyncio.sleep(delay)
        emitter.next(ProgressEvent(LLM_GENERATION, word))


def _words(text: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = text.find(" ", start + 1)
        end = len(text) if end < 0 else end
        pieces.append(text[start:end])
        start = end
    return pieces
