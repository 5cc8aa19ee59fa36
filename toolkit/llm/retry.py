"""Trying again where that may help, and saying in our own errors what went wrong."""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

import openai

from toolkit.errors import (
    LlmError,
    LlmOutputError,
    LlmRateLimitError,
    LlmRejectedError,
    LlmTimeoutError,
    LlmUnavailableError,
    shown,
)
from toolkit.llm.settings import LlmSettings

log = logging.getLogger(__name__)

T = TypeVar("T")

_RETRIED_STATUSES = frozenset({408, 409, 429})
_HINTS = {
    400: "shorten the prompt, or set structured_output to json_object or none if it does not know json_schema",
    401: "check the api_key",
    403: "check the api_key and its rights",
    404: "check base_url and model",
    413: "shorten the prompt",
    422: "set structured_output to json_object or none if it does not know json_schema",
    429: "the account has no credit left",
}


class UnusableReplyError(Exception):
    """The server's reply is no answer of a model: no JSON, no choices, empty."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment by which a call must be done, in the event loop's time."""

    at: float
    total_seconds: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """So many seconds from now."""
        return cls(asyncio.get_running_loop().time() + seconds, seconds)

    async def guard(self, awaitable: Awaitable[T]) -> T:
        """Its result, or LlmTimeoutError when the moment comes first."""
        try:
            async with asyncio.timeout_at(self.at):
                return await awaitable
        except TimeoutError as error:
            raise LlmTimeoutError(f"the model gave no answer within {self.total_seconds:g} s") from error

    def allows(self, delay: float) -> bool:
        """Whether after so many seconds there is still time."""
        return asyncio.get_running_loop().time() + delay < self.at


async def with_retries(attempt: Callable[[], Awaitable[T]], settings: LlmSettings, deadline: Deadline) -> T:
    """What the first successful try gives. Raises LlmError of the last one when none succeeds in time."""
    tries = 0
    while True:
        tries += 1
        try:
            return await deadline.guard(attempt())
        except (openai.OpenAIError, UnusableReplyError, ValueError) as error:
            failure = as_llm_error(error, settings)
            delay = _delay(error, tries, settings)
            if tries > settings.max_retries or not _may_pass(error) or not deadline.allows(delay):
                raise failure from error
        log.info("try %d of the model failed (%s); next in %.1f s", tries, failure, delay)
        await asyncio.sleep(delay)


def as_llm_error(error: Exception, settings: LlmSettings) -> LlmError:
    """The error in terms of this toolkit; the key never stands in its message."""
    told = shown(_without_key(str(error), settings))
    server = f"model server {settings.base_url}"
    if isinstance(error, openai.APITimeoutError):
        return LlmTimeoutError(f"{server} gave no answer within {settings.silence_seconds:g} s")
    if isinstance(error, openai.APIConnectionError):
        cause = shown(_without_key(str(error.__cause__ or ""), settings)) or told
        return LlmUnavailableError(f"{server} cannot be reached or broke off: {cause}; is it running?")
    if isinstance(error, openai.APIStatusError):
        return _status_error(error, f"{server} answered {error.status_code}: {told}")
    if isinstance(error, UnusableReplyError):
        return LlmOutputError(f"{server} gave no usable reply: {told}")
    return LlmUnavailableError(f"{server} failed: {told}")


def _status_error(error: openai.APIStatusError, message: str) -> LlmError:
    status = error.status_code
    if status >= 500 or status in (408, 409):
        return LlmUnavailableError(message)
    if status == 429 and not _out_of_credit(error):
        return LlmRateLimitError(f"{message}; try later, or lower max_concurrency")
    hint = _HINTS.get(status)
    return LlmRejectedError(f"{message}; {hint}" if hint else message, status)


def _may_pass(error: Exception) -> bool:
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        return (status >= 500 or status in _RETRIED_STATUSES) and not _out_of_credit(error)
    return True


def _out_of_credit(error: openai.APIStatusError) -> bool:
    return error.status_code == 429 and error.code == "insufficient_quota"


def _delay(error: Exception, tries: int, settings: LlmSettings) -> float:
    if isinstance(error, openai.APIStatusError):
        asked = retry_after(error.response.headers)
        if asked is not None:
            return asked
    growing = min(settings.first_delay_seconds * 2.0 ** min(tries - 1, 30), settings.longest_delay_seconds)
    return growing * (1 - random.random() / 4)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that the server asks to wait, from `Retry-After-Ms` or `Retry-After` (seconds or a date)."""
    for name, divisor in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / divisor
        except ValueError:
            continue
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(moment.timestamp() - time.time(), 0.0)


def _without_key(text: str, settings: LlmSettings) -> str:
    return text.replace(settings.api_key, "***") if settings.api_key else text
