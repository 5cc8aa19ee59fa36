"""Reading what a server answers: whole completions and streams of pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from toolkit.errors import LlmOutputError, LlmTruncatedError, shown
from toolkit.llm.retry import UnusableReplyError
from toolkit.llm.surrogates import SurrogateJoiner, whole_characters
from toolkit.llm.thoughts import ThoughtStripper, without_thoughts

_CUT_OFF = "length"
_FILTERED = "content_filter"


@dataclass(frozen=True, slots=True)
class Reply:
    """A completion's text, without thoughts."""

    text: str
    cut_off: bool
    """At the limit of tokens; then the text may be empty."""

    def whole_text(self) -> str:
        """The text. Raises LlmTruncatedError, with the text in it, when it is cut off."""
        if self.cut_off:
            raise _truncated(self.text)
        return self.text


def reply_of(completion: Any) -> Reply:
    """Raises UnusableReplyError, and LlmOutputError where the model will not answer."""
    if not isinstance(completion, ChatCompletion) or not completion.choices:
        raise UnusableReplyError(f"no completion but {shown(completion)}")
    choice = completion.choices[0]
    message = choice.message
    if message is not None and message.refusal:
        raise _refused(message.refusal)
    if choice.finish_reason == _FILTERED:
        raise LlmOutputError("the server's content filter took the answer away")
    content = message.content if message is not None else None
    text = without_thoughts(whole_characters(content)) if isinstance(content, str) else ""
    cut_off = choice.finish_reason == _CUT_OFF
    if not text and not cut_off:
        raise UnusableReplyError("an empty answer")
    return Reply(text, cut_off)


class TextStream:
    """A streamed answer's text: no character cut in two, no thoughts. Close it."""

    def __init__(self, stream: Any) -> None:
        """Raises UnusableReplyError when it is no stream."""
        if not isinstance(stream, openai.AsyncStream):
            raise UnusableReplyError(f"no stream but {shown(stream)}")
        self._chunks = stream
        self._joiner = SurrogateJoiner()
        self._thoughts = ThoughtStripper()
        self._said: list[str] = []
        self._refusal = ""
        self._finish_reason: str | None = None

    async def aclose(self) -> None:
        """Close the connection."""
        await self._chunks.close()

    async def next_piece(self) -> str | None:
        """The next piece of text; None when the answer is at its end, and whole.

        Raises LlmTruncatedError, with the whole text in it, at the end of one that was cut off, LlmOutputError
        where the model will not answer, and UnusableReplyError, OpenAIError or ValueError.
        """
        while (chunk := await anext(self._chunks, None)) is not None:
            text = self._thoughts.feed(self._joiner.feed(self._read(chunk)))
            if text:
                self._said.append(text)
                return text
        text = self._thoughts.feed(self._joiner.rest()) + self._thoughts.rest()
        if text:
            self._said.append(text)
            return text
        self._check_end()
        return None

    def _read(self, chunk: ChatCompletionChunk) -> str:
        choices = getattr(chunk, "choices", None)
        if not choices:
            return ""
        self._finish_reason = choices[0].finish_reason or self._finish_reason
        delta = choices[0].delta
        text = delta.content if delta is not None else None
        refusal = delta.refusal if delta is not None else None
        self._refusal += refusal if isinstance(refusal, str) else ""
        return text if isinstance(text, str) else ""

    def _check_end(self) -> None:
        if self._refusal:
            raise _refused(self._refusal)
        if self._finish_reason == _CUT_OFF:
            raise _truncated("".join(self._said))
        if self._finish_reason == _FILTERED:
            raise LlmOutputError("the server's content filter broke the answer off", "".join(self._said))
        if not self._said:
            raise UnusableReplyError("an empty stream")
        if self._finish_reason is None:
            raise UnusableReplyError("the stream ended before the answer did")


def _refused(refusal: str) -> LlmOutputError:
    return LlmOutputError(f"the model refuses to answer: {shown(refusal)}")


def _truncated(text: str) -> LlmTruncatedError:
    where = f"after {len(text)} characters" if text else "before its first word"
    return LlmTruncatedError(
        f"the model's answer was cut off {where}, at the limit of tokens; raise max_tokens", text
    )
