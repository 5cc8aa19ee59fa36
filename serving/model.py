"""The language model of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serving.errors import StartupError
from serving.settings import ModelSettings

if TYPE_CHECKING:
    from toolkit.llm.client import OpenAiAssistant


def model_of(settings: ModelSettings) -> OpenAiAssistant | None:
    """The model's client; None where no server is set. Raises StartupError for an address that cannot be."""
    if settings.base_url is None or settings.model is None:
        return None
    from toolkit.llm.client import OpenAiAssistant
    from toolkit.llm.settings import LlmSettings

    key = settings.api_key.get_secret_value() if settings.api_key else None
    try:
        made = LlmSettings(
            settings.base_url,
            settings.model,
            key,
            structured_output=settings.structured_output,
            max_tokens=settings.max_tokens,
            total_seconds=settings.total_seconds,
            max_concurrency=settings.max_concurrency,
        )
    except ValueError as error:
        raise StartupError(f"the language model's settings do not work: {error}") from error
    return OpenAiAssistant(made)
