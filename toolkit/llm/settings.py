"""Where the model is, and within which bounds it is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

StructuredOutput = Literal["json_schema", "json_object_schema", "json_object", "none"]


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """Of one OpenAI-compatible server. Raises ValueError for what cannot work."""

    base_url: str
    """For instance `http://127.0.0.1:8000/v1`."""
    model: str
    """The name by which the server knows the model."""
    api_key: str | None = field(default=None, repr=False)
    """None where the server wants none."""
    structured_output: StructuredOutput = "json_schema"
    """How the server is told to answer in JSON. With `json_object` and `none` the prompt holds the schema.

    `json_object_schema` hands the schema over beside the type `json_object`, as llama-cpp-python wants it.
    """
    temperature: float | None = 0.0
    """None leaves it to the server; some models refuse it."""
    max_tokens: int | None = None
    """Limit of an answer; None leaves it to the server. Doubled once when JSON was cut off."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request, as the server takes them."""
    connect_seconds: float = 5.0
    silence_seconds: float = 60.0
    """The longest wait for the next byte of an answer."""
    total_seconds: float = 180.0
    """The longest time of one call: waiting for a slot, all tries and the asking again included."""
    max_retries: int = 3
    """Further tries after 429, 408, 409, 5xx, an unreachable server or an unusable reply."""
    first_delay_seconds: float = 0.5
    """Before the first retry; doubled each time, shortened by up to a quarter at random."""
    longest_delay_seconds: float = 30.0
    max_concurrency: int = 8
    """Calls at once; further ones wait."""

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise ValueError(f"the model's base_url is {self.base_url!r}; it begins with http:// or https://")
        if not self.model:
            raise ValueError("the model has no name; set the one that the server lists under /models")
        if self.structured_output not in (valid := get_args(StructuredOutput)):
            raise ValueError(f"structured_output is {self.structured_output!r}; valid are {', '.join(valid)}")
        if self.max_concurrency < 1 or self.max_retries < 0:
            raise ValueError("max_concurrency must be at least 1 and max_retries at least 0")
        for name in ("connect_seconds", "silence_seconds", "total_seconds"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be more than 0")
