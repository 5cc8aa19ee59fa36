"""The decisions by a language model, each in one structured call; where it fails, text matching decides."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

from serving.judging import Judge, Settled, Verdict
from serving.orchestrator import MOST_SUB_QUERIES
from serving.phrases import LANGUAGES, phrase
from serving.prompt import data_fence, number_sources, render_sources, told_history
from serving.state.history import Exchange
from serving.trace import note
from toolkit.documents import UniqueTextDocument
from toolkit.errors import LlmError, LlmUnavailableError, shown
from toolkit.llm.assistant import LlmAssistant
from toolkit.tool import ChatbotTool

logger = logging.getLogger(__name__)

REST_SECONDS = 10.0
"""A server that cannot be reached is not asked again for so long, or each decision would wait for it."""

LONGEST_ADDITION = 400
"""Characters by which a question may grow when it is made to stand by itself."""
MOST_FURTHER_QUERIES = 3
"""Of one hop."""

Tools = Sequence[ChatbotTool[Any]]


class ModelJudge:
    """Asks the model; falls back to another judge on LlmError."""

    def __init__(self, llm: LlmAssistant, fallback: Judge) -> None:
        self._llm = llm
        self._fallback = fallback
        self._resting_until = 0.0

    async def in_context(self, question: str, history: Sequence[Exchange], language: str | None) -> str:
        """One call, where there is a conversation; a rewriting that is much longer is not believed."""
        if not history:
            return question
        code = (await self._fallback.settle(question, language)).language
        prompt = phrase(code, "in_context", history=told_history(history, code))
        answer = await self._ask(question, prompt, _object(message={"type": "string"}))
        if answer is None:
            return await self._fallback.in_context(question, history, language)
        rewritten = str(answer.get("message") or "").strip()
        fits = rewritten and len(rewritten) <= len(question) + LONGEST_ADDITION
        return rewritten if fits else await self._fallback.in_context(question, history, language)

    async def settle(self, question: str, language: str | None) -> Settled:
        """One call for language and words. Words that do not stand in the question are left out."""
        without_model = await self._fallback.settle(question, language)
        schema = _object(
            language={"type": "string", "enum": list(LANGUAGES)},
            important_words={"type": "array", "items": {"type": "string"}},
        )
        answer = await self._ask(question, phrase(without_model.language, "settle"), schema)
        if answer is None:
            return without_model
        found = answer.get("language")
        code = language or (found if found in LANGUAGES else without_model.language)
        words = _texts(answer.get("important_words"))
        kept = tuple(word for word in dict.fromkeys(words) if word.lower() in question.lower())
        return Settled(code, kept or without_model.important_words)

    async def needed_tools(self, question: str, tools: Tools, settled: Settled) -> list[str]:
        """One call over the tools' `executable_instruction` texts."""
        names = await self._choose(question, tools, settled)
        return await self._fallback.needed_tools(question, tools, settled) if names is None else names

    async def suitable_tools(self, query: str, tools: Tools, settled: Settled) -> list[str]:
        """The same for an orchestrator's tools; one without a description is always suitable."""
        described = [tool for tool in tools if tool.executable_instruction.strip()]
        names = await self._choose(query, described, settled) if described else []
        if names is None:
            return await self._fallback.suitable_tools(query, tools, settled)
        return [tool.name for tool in tools if tool not in described or tool.name in names]

    async def sub_queries(self, question: str, settled: Settled) -> list[str]:
        """One call; the question itself when the model gives none."""
        prompt = phrase(settled.language, "split", limit=MOST_SUB_QUERIES)
        schema = _object(sub_queries={"type": "array", "items": {"type": "string"}})
        answer = await self._ask(question, prompt, schema)
        if answer is None:
            return await self._fallback.sub_queries(question, settled)
        return _texts(answer.get("sub_queries"))[:MOST_SUB_QUERIES] or [question]

    async def suffices(self, query: str, context: Sequence[UniqueTextDocument], settled: Settled) -> Verdict:
        """One call over the context."""
        text = render_sources(number_sources(context), settled.language)
        prompt = phrase(settled.language, "gate", context=text, fence=data_fence(text))
        answer = await self._ask(query, prompt, _object(suffices={"type": "boolean"}))
        if answer is None:
            return await self._fallback.suffices(query, context, settled)
        return Verdict(answer.get("suffices") is True, "the model's judgement")

    async def further_queries(
        self, question: str, asked: Sequence[str], context: Sequence[UniqueTextDocument], settled: Settled
    ) -> list[str]:
        """One call over the context; none where the model fails."""
        text = render_sources(number_sources(context), settled.language)
        prompt = phrase(
            settled.language,
            "further",
            asked="\n".join(f"- {' '.join(query.split())}" for query in asked),
            context=text,
            fence=data_fence(text),
            limit=MOST_FURTHER_QUERIES,
        )
        schema = _object(further_queries={"type": "array", "items": {"type": "string"}})
        answer = await self._ask(question, prompt, schema)
        return _texts((answer or {}).get("further_queries"))[:MOST_FURTHER_QUERIES]

    async def _choose(self, question: str, tools: Tools, settled: Settled) -> list[str] | None:
        described = "\n\n".join(tool.executable_instruction.strip() for tool in tools)
        schema = _object(**{tool.name: {"type": "boolean"} for tool in tools})
        answer = await self._ask(question, phrase(settled.language, "route", tools=described), schema)
        if answer is None:
            return None
        return [tool.name for tool in tools if answer.get(tool.name) is True]

    async def _ask(
        self, user_prompt: str, system_prompt: str, schema: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        if time.monotonic() < self._resting_until:
            note("the model could not be reached a moment ago, so text matching decided")
            return None
        try:
            return await self._llm.generate_json(user_prompt, system_prompt, schema)
        except LlmError as error:
            logger.warning("the model failed, so text matching decides: %s", error)
            note(f"the model failed, so text matching decided: {type(error).__name__}: {shown(str(error))}")
            if isinstance(error, LlmUnavailableError):
                self._resting_until = time.monotonic() + REST_SECONDS
            return None


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """A schema in which every field is required and nothing else is allowed."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _texts(value: Any) -> list[str]:
    items = value if isinstance(value, list) else []
    return [item.strip() for item in items if isinstance(item, str) and item.strip()]
