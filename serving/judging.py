"""The decisions on the way to an answer that a model makes, or text matching in its stead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from serving.state.history import Exchange
from toolkit.documents import UniqueTextDocument
from toolkit.tool import ChatbotTool


@dataclass(frozen=True, slots=True)
class Settled:
    """What is known of a question before any tool runs."""

    language: str
    """Code: `hu` or `en`."""
    important_words: tuple[str, ...]
    """As they stand in the question."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a context suffices."""

    suffices: bool
    reason: str


class Judge(Protocol):
    """Makes the decisions. Calls run in parallel; none raises but by cancellation."""

    async def in_context(self, question: str, history: Sequence[Exchange], language: str | None) -> str:
        """The question so that it can be understood without the conversation before it."""

    async def settle(self, question: str, language: str | None) -> Settled:
        """The question's language, unless the request gives it, and its important words."""

    async def needed_tools(
        self, question: str, tools: Sequence[ChatbotTool[Any]], settled: Settled
    ) -> list[str]:
        """Names of the routed tools that the question needs, in the order given."""

    async def sub_queries(self, question: str, settled: Settled) -> list[str]:
        """The question in parts that can be answered one by one; itself when it is simple."""

    async def suitable_tools(
        self, query: str, tools: Sequence[ChatbotTool[Any]], settled: Settled
    ) -> list[str]:
        """Names of the orchestrator's tools that may help with a sub-query, in the order given."""

    async def suffices(self, query: str, context: Sequence[UniqueTextDocument], settled: Settled) -> Verdict:
        """The quality gate: whether the context answers the sub-query."""

    async def further_queries(
        self, question: str, asked: Sequence[str], context: Sequence[UniqueTextDocument], settled: Settled
    ) -> list[str]:
        """Sub-queries that follow from what was found and are needed for the question; none when it suffices."""
