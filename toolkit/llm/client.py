"""The model behind any OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import cache, partial
from typing import Any, TypeVar

import openai

from toolkit.errors import LlmOutputError, LlmTruncatedError
from toolkit.llm.extraction import extracted, is_null, validated_json
from toolkit.llm.replies import Reply, TextStream, reply_of
from toolkit.llm.retry import Deadline, UnusableReplyError, as_llm_error, with_retries
from toolkit.llm.settings import LlmSettings
from toolkit.parameters import MissingValueError, plain_parameters, validated_parameters
from toolkit.prompting import fill_system_prompt
from toolkit.tool import ChatbotTool

log = logging.getLogger(__name__)

T = TypeVar("T")
Messages = list[dict[str, str]]


class OpenAiAssistant:
    """An `LlmAssistant` on an OpenAI-compatible server. Use it within one event loop, and close it.

    Each call is bounded in time and tried again where that may help; cancelling it closes its connection.
    """

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.max_concurrency)
        self._client = openai.AsyncOpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key or "none",
            max_retries=0,
            timeout=openai.Timeout(settings.silence_seconds, connect=settings.connect_seconds),
            http_client=openai.DefaultAsyncHttpxClient(verify=_tls_context()),
        )
        self._client.organization = self._client.project = None

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def generate_tool_request(
        self, user_prompt: str, system_prompt: str, tasks: str | None, tool: ChatbotTool[Any]
    ) -> dict[str, dict[str, Any] | None]:
        """The tool's parameters under its name; None when a mandatory one is not to be had from the prompt.

        Raises LlmError.
        """
        schema = tool.request_json_schema()
        filled = fill_system_prompt(system_prompt, tasks, tool.instruction)
        accept = partial(_tool_parameters, tool, schema)

        def read(text: str) -> dict[str, Any] | None:
            return None if is_null(text) else extracted(text, schema, accept, tool.name)

        return {tool.name: await self._structured(_messages(user_prompt, filled), schema, tool.name, read)}

    async def generate_json(
        self, user_prompt: str, system_prompt: str, schema: Mapping[str, Any]
    ) -> dict[str, Any]:
        """An object that is valid by the JSON schema. Raises LlmError."""

        def read(text: str) -> dict[str, Any]:
            return extracted(text, schema, lambda value: validated_json(value, schema))

        return await self._structured(_messages(user_prompt, system_prompt), schema, "answer", read)

    async def generate_text(self, user_prompt: str, system_prompt: str) -> str:
        """The whole answer. Raises LlmError; one that is cut off stands in the LlmTruncatedError."""
        deadline = Deadline.after(self._settings.total_seconds)
        reply = await self._complete(_messages(user_prompt, system_prompt), deadline)
        return reply.whole_text()

    async def stream_text(self, user_prompt: str, system_prompt: str) -> AsyncGenerator[str, None]:
        """The answer piece by piece, no character cut in two; closing the iterator closes the connection.

        Before the first piece a failure is tried again as elsewhere; later it raises LlmError, and
        LlmTruncatedError behind the last piece of an answer that is cut off.
        """
        deadline = Deadline.after(self._settings.total_seconds)
        await deadline.guard(self._slots.acquire())
        try:
            opening = partial(self._open_stream, _messages(user_prompt, system_prompt))
            stream, first = await with_retries(opening, self._settings, deadline)
            try:
                piece: str | None = first
                while piece is not None:
                    yield piece
                    piece = await self._next_piece(stream, deadline)
            finally:
                await stream.aclose()
        finally:
            self._slots.release()

    async def _structured(
        self, messages: Messages, schema: Mapping[str, Any], name: str, read: Callable[[str], T]
    ) -> T:
        """Ask for JSON; when it is not what is wanted, ask once more with the error."""
        deadline = Deadline.after(self._settings.total_seconds)
        options = self._json_options(schema, name)
        messages = self._with_schema(messages, schema)
        reply = await self._complete(messages, deadline, **options)
        try:
            return read(reply.text)
        except LlmOutputError as error:
            fault = error
        log.info("the model's JSON is not what is wanted, asking again: %s", fault)
        again = [*messages, *_correction(reply, fault)]
        if reply.cut_off and self._settings.max_tokens is not None:
            options["max_tokens"] = 2 * self._settings.max_tokens
        reply = await self._complete(again, deadline, **options)
        try:
            return read(reply.text)
        except LlmOutputError as error:
            raise _final_error(reply, error) from error

    async def _complete(self, messages: Messages, deadline: Deadline, **options: Any) -> Reply:
        await deadline.guard(self._slots.acquire())
        try:
            return await with_retries(partial(self._ask, messages, options), self._settings, deadline)
        finally:
            self._slots.release()

    async def _ask(self, messages: Messages, options: Mapping[str, Any]) -> Reply:
        return reply_of(await self._create(messages, options, stream=False))

    async def _open_stream(self, messages: Messages) -> tuple[TextStream, str]:
        """A stream and its first piece of text, so that what fails before can be tried again."""
        stream = TextStream(await self._create(messages, {}, stream=True))
        try:
            first = await stream.next_piece()
        except BaseException:
            await stream.aclose()
            raise
        return stream, first or ""

    async def _next_piece(self, stream: TextStream, deadline: Deadline) -> str | None:
        try:
            return await deadline.guard(stream.next_piece())
        except (openai.OpenAIError, UnusableReplyError, ValueError) as error:
            raise as_llm_error(error, self._settings) from error

    async def _create(self, messages: Messages, options: Mapping[str, Any], *, stream: bool) -> Any:
        settings = self._settings
        fields: dict[str, Any] = {"temperature": settings.temperature, "max_tokens": settings.max_tokens}
        fields = {name: value for name, value in {**fields, **options}.items() if value is not None}
        create: Any = self._client.chat.completions.create
        # In extra_body the SDK sends them as they are; as arguments it would walk through every JSON schema.
        body = {**fields, **settings.extra_body}
        return await create(model=settings.model, messages=messages, stream=stream, extra_body=body or None)

    def _json_options(self, schema: Mapping[str, Any], name: str) -> dict[str, Any]:
        mode = self._settings.structured_output
        if mode == "none":
            return {}
        if mode == "json_object":
            return {"response_format": {"type": "json_object"}}
        if mode == "json_object_schema":
            return {"response_format": {"type": "json_object", "schema": dict(schema)}}
        named = "".join(each if each.isascii() and each.isalnum() else "_" for each in name)[:64]
        described = {"name": named, "strict": True, "schema": dict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": described}}

    def _with_schema(self, messages: Messages, schema: Mapping[str, Any]) -> Messages:
        if self._settings.structured_output in ("json_schema", "json_object_schema"):
            return messages
        told = (
            "Answer with one JSON object that is valid by this JSON schema, and with nothing else:\n"
            + json.dumps(schema, ensure_ascii=False)
        )
        *system, user = messages
        before = system[0]["content"] + "\n\n" if system else ""
        return [{"role": "system", "content": before + told}, user]


@cache
def _tls_context() -> ssl.SSLContext:
    """Shared, since reading the system's certificates takes a tenth of a second."""
    return ssl.create_default_context()


def _messages(user_prompt: str, system_prompt: str) -> Messages:
    system = [{"role": "system", "content": system_prompt}] if system_prompt else []
    return [*system, {"role": "user", "content": user_prompt}]


def _tool_parameters(
    tool: ChatbotTool[Any], schema: Mapping[str, Any], value: dict[str, Any]
) -> dict[str, Any] | None:
    if type(tool).request_json_schema is not ChatbotTool.request_json_schema:
        value = validated_json(value, schema)
    try:
        return plain_parameters(validated_parameters(tool.request_class, value))
    except MissingValueError:
        return None


def _correction(reply: Reply, fault: LlmOutputError) -> Messages:
    wrong = f"That is not what was asked for: {fault}."
    if reply.cut_off:
        wrong = "Your answer was cut off before its end; give a shorter one."
    said = [{"role": "assistant", "content": reply.text}] if reply.text.strip() else []
    return [
        *said,
        {
            "role": "user",
            "content": f"{wrong} Answer again, with the one valid JSON object and nothing else.",
        },
    ]


def _final_error(reply: Reply, fault: LlmOutputError) -> LlmOutputError:
    if reply.cut_off:
        return LlmTruncatedError(
            f"the model's JSON was cut off after {len(reply.text)} characters, also when asked again; "
            "raise max_tokens",
            reply.text,
        )
    return LlmOutputError(
        f"the model's JSON is not what was asked for, also when asked again: {fault}", reply.text
    )
