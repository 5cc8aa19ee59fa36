"""Keeping what a turn comes to, however it ends."""

from __future__ import annotations

import time

from serving.progress import TurnProgress
from serving.state.records import Answer, TurnStatus
from serving.state.state import State
from serving.trace import Trace
from toolkit.emitter import LLM_GENERATION, ProgressEmitter, ProgressEvent


class FinalText:
    """The callback of tools that deliver by themselves: keeps the whole text."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._texts: list[str] = []

    @property
    def text(self) -> str:
        """What the tools delivered; empty when they said nothing here."""
        return "".join(self._texts)

    def on_success(self, tool_name: str, response: str) -> None:
        """Keep what the tool delivered."""
        self._texts.append(response)

    def on_error(self, error: BaseException) -> None:
        """Trace that the delivery failed."""
        self._trace.note(f"a tool's delivery failed: {type(error).__name__}: {error}")


class Transcript:
    """The emitter that tools get: what they send goes on, and text of the answer is remembered."""

    def __init__(self, emitter: ProgressEmitter) -> None:
        self._emitter = emitter
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        """The answer's text so far."""
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        """Remember text that was sent on another way."""
        self._pieces.append(piece)

    def next(self, event: ProgressEvent) -> None:
        """Send one event on; from any thread."""
        if getattr(event, "progress_status", None) == LLM_GENERATION and isinstance(event.content, str):
            self._pieces.append(event.content)
        self._emitter.next(event)


class TurnRecorder:
    """Writes one turn's end, its question, or how far it has come; what is begun is written, cancelled or not."""

    def __init__(self, state: State, turn_id: str, question_seconds: float) -> None:
        self._state = state
        self._turn_id = turn_id
        self._question_seconds = question_seconds
        self.end: TurnStatus | None = None
        """What the turn came to; ASKING: it waits for the user."""

    async def finish(self, answer: Answer) -> None:
        """Write the answer."""
        self.end = answer.status
        await self._state.chats.finish(self._turn_id, answer)

    async def give_back(self, so_far: Answer) -> None:
        """Have the question that the turn went on with wait again; without one, write what has been said."""
        self.end = TurnStatus.INTERRUPTED
        await self._state.chats.give_back(self._turn_id, so_far)

    async def ask(self, progress: TurnProgress) -> None:
        """Write the open question, with all the work done so far."""
        asked = progress.open_question
        assert asked is not None
        self.end = TurnStatus.ASKING
        expires_at = time.time() + self._question_seconds
        await self._state.questions.ask(
            self._turn_id, progress.to_json(), asked.question.to_wire(), expires_at
        )

    async def checkpoint(self, progress: TurnProgress) -> None:
        """Write how far the turn has come since the user's answer."""
        await self._state.chats.checkpoint(self._turn_id, progress.to_json())
