"""A typed question to the user, and what a tool gets with the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ClarifyingQuestion:
    """What the client shows when a tool lacks a parameter.

    Raises ValueError when the id, the text or an option is empty.
    """

    question_id: str
    """Machine name by which the tool recognises the answer."""
    text: str
    options: tuple[str, ...] = ()
    """None at all: free text only."""
    allow_free_text: bool = False
    """With options: whether anything else is accepted too."""

    def __post_init__(self) -> None:
        if not self.question_id or not self.text.strip():
            raise ValueError("a clarifying question needs a question_id and a text; one of them is empty")
        if isinstance(self.options, str) or not all(option.strip() for option in self.options):
            raise ValueError(
                f"options of question {self.question_id!r} must be non-empty texts, not {self.options!r}"
            )
        object.__setattr__(self, "options", tuple(self.options))
        if not self.options:
            object.__setattr__(self, "allow_free_text", True)

    def accepts(self, answer: str) -> bool:
        """Whether the answer is valid: an option but for surrounding space, or free text where allowed."""
        given = answer.strip()
        return bool(given) and (self.allow_free_text or given in {option.strip() for option in self.options})

    @classmethod
    def of_wire(cls, data: Mapping[str, Any]) -> ClarifyingQuestion:
        """What `to_wire` gave."""
        return cls(data["questionId"], data["text"], tuple(data["options"]), data["allowFreeText"])

    def to_wire(self) -> dict[str, object]:
        """The JSON object of the API."""
        return {
            "questionId": self.question_id,
            "text": self.text,
            "options": list(self.options),
            "allowFreeText": self.allow_free_text,
        }


@dataclass(frozen=True, slots=True)
class ClarificationSession:
    """What a tool that asked gets back together with the user's answer."""

    partial_request_json: str
    """The request so far, unchanged as the tool handed it over with its question."""
    pending_question_id: str
    """The question that has just been answered."""
    pending_answer: str
    """The user's answer, without surrounding space."""
