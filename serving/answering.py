"""From a context to the answer's text: the seam between quoting and a model."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from serving.judging import Settled
from serving.phrases import phrase
from serving.prompt import Source, Supplement, answer_prompt, named_sources
from serving.state.history import Exchange
from serving.trace import Trace
from toolkit.errors import LlmError, LlmTruncatedError
from toolkit.llm.assistant import LlmAssistant

logger = logging.getLogger(__name__)

Say = Callable[[str], Awaitable[None]]
"""Takes the next piece of the answer's text."""


@dataclass(frozen=True, slots=True)
class AnswerTask:
    """All that an answer is made from."""

    question: str
    settled: Settled
    sources: Sequence[Source]
    """The final context, in reading order."""
    supplements: Sequence[Supplement] = ()
    vouched: frozenset[int] = frozenset()
    """Numbers of the sources for which a tool vouches: they may be quoted whatever their words are."""
    domain_prompt: str = ""
    """What a model is told about the domain."""
    history: Sequence[Exchange] = ()
    """The conversation before it, oldest first."""
    keep_numbers: bool = False
    """Cite by the sources' own numbers, since part of the answer has been said with them."""


class Answerer(Protocol):
    """Makes the answer."""

    async def answer(self, task: AnswerTask, say: Say, trace: Trace) -> list[Source]:
        """Say the answer piece by piece; returns the sources it rests on, by the numbers it cites.

        Raises LlmError when a model gave nothing or broke off.
        """


class ModelAnswerer:
    """A model's answer over the generated prompt; where it is cut off, the answer and the trace say so."""

    def __init__(self, llm: LlmAssistant) -> None:
        self._llm = llm

    async def answer(self, task: AnswerTask, say: Say, trace: Trace) -> list[Source]:
        """Stream the model's text; the sources are those it cites."""
        language = task.settled.language
        prompt = answer_prompt(
            task.question, language, task.sources, task.supplements, task.domain_prompt, task.history
        )
        pieces: list[str] = []
        stream = self._llm.stream_text(prompt.user, prompt.system)
        try:
            async for piece in stream:
                if piece:
                    pieces.append(piece)
                    await say(piece)
        except LlmTruncatedError as error:
            if _is_blank(pieces):
                raise
            logger.warning("%s", error)
            trace.note(str(error))
            await say(f"\n\n{phrase(language, 'model_cut_off')}")
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
        if _is_blank(pieces):
            raise LlmError("the model answered with an empty text")
        trace.answered_by = "model"
        return named_sources("".join(pieces), task.sources) or list(task.sources)


class FallbackAnswerer:
    """A model's answer, or, where the model fails, quotations; the answer and the trace say so."""

    def __init__(self, model: Answerer, quotes: Answerer) -> None:
        self._model = model
        self._quotes = quotes

    async def answer(self, task: AnswerTask, say: Say, trace: Trace) -> list[Source]:
        """The model's answer, or what it said so far and quotations behind it."""
        language = task.settled.language
        if not task.sources:
            return await self._quotes.answer(task, say, trace)
        said: list[str] = []

        async def say_and_remember(piece: str) -> None:
            said.append(piece)
            await say(piece)

        try:
            return await self._model.answer(task, say_and_remember, trace)
        except LlmError as error:
            logger.warning("the model failed, so the answer quotes: %s", error)
            trace.note(f"the model failed, so the answer quotes: {type(error).__name__}: {error}")
        if said:
            await say(f"\n\n{phrase(language, 'model_broke_off')}\n\n")
        await say(f"{phrase(language, 'model_failed')}\n\n")
        quoted = await self._quotes.answer(replace(task, keep_numbers=bool(said)), say, trace)
        named = named_sources("".join(said), task.sources)
        return sorted({*named, *quoted}, key=lambda source: source.number)


def _is_blank(pieces: Sequence[str]) -> bool:
    return not "".join(pieces).strip()
