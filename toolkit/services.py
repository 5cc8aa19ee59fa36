"""What the platform hands to a tool's `init`."""

from __future__ import annotations

from typing import Protocol, TypeVar

from toolkit.knowledge import KnowledgeBase
from toolkit.llm.assistant import LlmAssistant

T = TypeVar("T")


class Services(Protocol):
    """The platform as a tool sees it."""

    @property
    def llm(self) -> LlmAssistant:
        """The model, or the offline assistant that stands in for it."""

    @property
    def knowledge(self) -> KnowledgeBase:
        """The published knowledge stores."""

    def get(self, tool_class: type[T]) -> T:
        """The one instance of another tool. Raises LookupError when it is not loaded."""
