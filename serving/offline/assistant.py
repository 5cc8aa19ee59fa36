"""The language model's stand-in for tools: deterministic, no network."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

from ner.text.language import detect_language
from serving.offline.extraction import extract_object
from serving.offline.words import content_words, covered_words, text_keys
from serving.phrases import LANGUAGES, phrase
from toolkit.errors import LlmOutputError, ToolParametersError
from toolkit.parameters import plain_parameters, validated_parameters
from toolkit.prompting import fill_system_prompt
from toolkit.tool import ChatbotTool

logger = logging.getLogger(__name__)

MOST_SENTENCES = 5
"""Sentences of the prompt that stand for a generated text."""
_SENTENCE = re.compile(r"[^\n.!?…]+[.!?…]*")


class OfflineAssistant:
    """An `LlmAssistant` that matches text: it extracts what the prompt names and quotes what it is given."""

    async def generate_tool_request(
        self, user_prompt: str, system_prompt: str, tasks: str | None, tool: ChatbotTool[Any]
    ) -> dict[str, dict[str, Any] | None]:
        """The parameters that the prompt names; None for the tool when it names none."""
        hints = f"{fill_system_prompt(system_prompt, tasks, tool.instruction)}\n{tool.instruction}"
        schema = tool.request_json_schema()
        found = extract_object(user_prompt, schema, hints, _language(user_prompt))
        if found is None:
            return {tool.name: None}
        try:
            return {tool.name: plain_parameters(validated_parameters(tool.request_class, found))}
        except ToolParametersError as error:
            logger.info("tool %s: what the text names does not make a request: %s", tool.name, error)
            return {tool.name: None}

    async def generate_json(
        self, user_prompt: str, system_prompt: str, schema: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The values that the prompt names. Raises LlmOutputError when it names none."""
        found = extract_object(user_prompt, schema, system_prompt, _language(user_prompt))
        if found is None:
            raise LlmOutputError(
                "no language model is set, and the text names none of the fields "
                f"{', '.join(schema.get('properties', {}))}: set TUDASTAR_LLM__BASE_URL to a model's server"
            )
        return found

    async def generate_text(self, user_prompt: str, system_prompt: str) -> str:
        """Sentences of the user prompt, word for word, under a heading that says so."""
        return "".join([piece async for piece in self.stream_text(user_prompt, system_prompt)])

    async def stream_text(self, user_prompt: str, system_prompt: str) -> AsyncIterator[str]:
        """The same, sentence by sentence."""
        language = _language(user_prompt)
        yield phrase(language, "quote_intro")
        for sentence in _telling_sentences(user_prompt, language):
            yield f"\n{sentence}"


def _language(text: str) -> str:
    return detect_language(text, tuple(LANGUAGES))


def _telling_sentences(text: str, language: str) -> list[str]:
    """Those that hold most words of the prompt's first line, in the prompt's order."""
    first, _, rest = text.strip().partition("\n")
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(rest or first) if sentence.strip()]
    wanted = content_words(first, language)
    ranked = sorted(
        range(len(sentences)),
        key=lambda at: (-len(covered_words(wanted, text_keys(sentences[at], language), language)), at),
    )
    return [sentences[at] for at in sorted(ranked[:MOST_SENTENCES])]
