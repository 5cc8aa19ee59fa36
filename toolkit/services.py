"""What the platform hands to a tool's `init`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from toolkit.knowledge import KnowledgeBase
from toolkit.llm.assistant import LlmAssistant

if TYPE_CHECKING:
    from toolkit.kinds import OrchestratorActivatedTool

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
        """The one instance of another tool, initialised. Raises LookupError when it is not loaded."""

    def settings(self, section: str) -> Mapping[str, Any]:
        """The settings of that section, by custom the tool's name; empty when there are none."""

    def orchestrated_tools(
        self, domain: str, systems: Sequence[str]
    ) -> Sequence[OrchestratorActivatedTool[Any]]:
        """For an orchestrator: its tools that are active for a request, by priority and name."""
