"""A typed question to the user."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClarifyingQuestion:
    """What the client shows when a tool lacks a parameter.

    Raises ValueError when neither options nor free text could answer it.
    """

    question_id: str
    """Machine name by which the tool recognises the answer."""
    text: str
    options: tuple[str, ...] = ()
    """None means free text only."""
    allow_free_text: bool = False
    """With options: whether anything else is accepted too."""

    def __post_init__(self) -> None:
        if not self.question_id or not self.text.strip():
            raise ValueError("a clarifying question needs a question_id and a text; one of them is empty")
        object.__setattr__(self, "options", tuple(self.options))
        if not self.options:
            object.__setattr__(self, "allow_free_text", True)

    def accepts(self, answer: str) -> bool:
        """Whether the answer is valid: an option but for surrounding space, or free text where allowed."""
        given = answer.strip()
        return bool(given) and (self.allow_free_text or given in {option.strip() for option in self.options})

    def to_wire(self) -> dict[str, object]:
        """The JSON object of the API."""
        return {
            "questionId": self.question_id,
            "text": self.text,
            "options": list(self.options),
            "allowFreeText": self.allow_free_text,
        }
