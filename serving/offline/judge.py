"""The decisions without a model: matching of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ner.text.language import detect_language
from ner.text.tokens import fold
from serving.judging import Settled, Verdict
from serving.offline.follow_ups import leans_on_before
from serving.offline.words import content_words, covered_words, text_keys
from serving.phrases import LANGUAGES
from serving.state.history import Exchange
from toolkit.documents import UniqueTextDocument, public_documents
from toolkit.tool import ChatbotTool

ROUTING_SHARE = 1 / 3
"""Part of a question's content words that a tool's description must hold for the tool to be needed."""
MOST_ADDED_WORDS = 6
"""Of the question before, added to one that leans on it."""
ENOUGH_TEXTS = 3
"""Texts that must each hold all content words; searching on costs little where no model is asked."""
_NEGATIVE_LINE = re.compile(r"^[\s\-*•]*(false|hamis|nem,)\b", re.IGNORECASE)


class OfflineJudge:
    """Decides by text matching: deterministic, no network."""

    async def in_context(self, question: str, history: Sequence[Exchange], language: str | None) -> str:
        """A question that leans on the one before it gets that one's words with content behind it."""
        asked = [message.content for message in history if message.role == "user"]
        code = language or detect_language(question, tuple(LANGUAGES))
        if not asked or not leans_on_before(question, code):
            return question
        own = {fold(word) for word in content_words(question, code)}
        added = [word for word in content_words(asked[-1], code) if fold(word) not in own]
        return f"{question} ({' '.join(added[:MOST_ADDED_WORDS])})" if added else question

    async def settle(self, question: str, language: str | None) -> Settled:
        """The language by its function words and letters; important are the words with content."""
        code = language or detect_language(question, tuple(LANGUAGES))
        return Settled(code, tuple(content_words(question, code)))

    async def needed_tools(
        self, question: str, tools: Sequence[ChatbotTool[Any]], settled: Settled
    ) -> list[str]:
        """The tools whose description shares enough content words with the question."""
        wanted = content_words(question, settled.language)
        return [tool.name for tool in tools if _speaks_of(tool, wanted, settled.language)]

    async def sub_queries(self, question: str, settled: Settled) -> list[str]:
        """The question itself: it is not split without a model."""
        return [question]

    async def suitable_tools(
        self, query: str, tools: Sequence[ChatbotTool[Any]], settled: Settled
    ) -> list[str]:
        """All of them: a tool that has nothing to say returns None."""
        return [tool.name for tool in tools]

    async def suffices(self, query: str, context: Sequence[UniqueTextDocument], settled: Settled) -> Verdict:
        """Whether enough texts of the context hold every content word of the query in some form."""
        wanted = content_words(query, settled.language)
        if not wanted:
            return Verdict(False, "the question has no content words")
        complete = 0
        for document in public_documents(context):
            keys = text_keys(document.text or "", settled.language)
            complete += len(covered_words(wanted, keys, settled.language)) == len(wanted)
        return Verdict(
            complete >= ENOUGH_TEXTS, f"texts that hold every content word of the question: {complete}"
        )

    async def further_queries(
        self, question: str, asked: Sequence[str], context: Sequence[UniqueTextDocument], settled: Settled
    ) -> list[str]:
        """None: words alone do not tell what is still missing."""
        return []


def _speaks_of(tool: ChatbotTool[Any], wanted: Sequence[str], language: str) -> bool:
    lines = tool.executable_instruction.splitlines()
    positive = "\n".join(line for line in lines if not _NEGATIVE_LINE.match(line))
    keys = text_keys(positive.removeprefix(f"{tool.name}:"), language) | text_keys(
        _schema_words(tool.request_json_schema()), language
    )
    found = covered_words(wanted, keys, language)
    return bool(found) and len(found) >= ROUTING_SHARE * len(wanted)


def _schema_words(schema: Any) -> str:
    """Field names and enum values, as words."""
    found: list[str] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            found.extend(node.get("properties", {}))
            found.extend(str(value) for value in node.get("enum", ()))
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(schema)
    return " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", word) for word in found)
