"""The loaded tools as the chat sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from toolkit.kinds import OrchestratorActivatedTool, OrchestratorTool
from toolkit.tool import ChatbotTool


class Toolbox(Protocol):
    """Which tools are active for a domain and systems; safe for threads."""

    def routed(self, domain: str, systems: Sequence[str]) -> list[ChatbotTool[Any]]:
        """Active tools that the routing may pick."""

    def orchestrated(self, domain: str, systems: Sequence[str]) -> list[OrchestratorActivatedTool[Any]]:
        """Active tools that an orchestrator may pick."""

    def new_orchestrator(self, domain: str, systems: Sequence[str]) -> OrchestratorTool[Any]:
        """A fresh instance of the one orchestrator that runs the request."""

    def named(self, name: str, domain: str, systems: Sequence[str]) -> ChatbotTool[Any]:
        """The tool that a request names. Raises ToolRequestError when it cannot be started by name."""
