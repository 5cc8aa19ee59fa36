"""All tools of the platform, and which of them take part in a request."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeVar

from toolkit.activation import ToolKind, active_tools, closest_tools, is_active, kind_of
from toolkit.discovery import FoundTool, ToolClass, configured_tools, installed_tools
from toolkit.errors import PluginLoadError, ToolNotActivatableError, UnknownToolError
from toolkit.kinds import (
    MAX_PRIORITY,
    AsyncTaskTool,
    IngestionTool,
    OrchestratorActivatedTool,
    OrchestratorTool,
)
from toolkit.knowledge import KnowledgeBase
from toolkit.llm.assistant import LlmAssistant
from toolkit.load_report import LoadReport
from toolkit.loading import ToolLoader, initialise
from toolkit.tool import ChatbotTool

log = logging.getLogger(__name__)

T = TypeVar("T")
_STARTABLE = (ToolKind.ROUTED, ToolKind.ORCHESTRATED)
"""Kinds whose tools a chat request can start by name."""


class ToolRegistry:
    """The loaded tools; made once at start-up, then read from any thread.

    Raises nothing because of a bad plugin: it is left out, is logged as an error and stands in `report`.
    """

    def __init__(
        self,
        built_ins: Iterable[ToolClass] = (),
        modules: Iterable[str] = (),
        *,
        llm: LlmAssistant,
        knowledge: KnowledgeBase,
        settings: Mapping[str, Mapping[str, Any]] | None = None,
        plugins: Iterable[EntryPoint] | None = None,
    ) -> None:
        """Load built-ins, installed plugins (`plugins`, or those of this environment), then `modules`."""
        self._loader = ToolLoader(
            lambda loader, user: ToolServices(llm, knowledge, settings or {}, self, loader, user)
        )
        self._tools: tuple[ChatbotTool[Any], ...] = ()
        self._warned: set[tuple[str, ...]] = set()
        found = chain(
            (FoundTool(each, "built-in") for each in built_ins),
            installed_tools(plugins),
            configured_tools(modules),
        )
        self._tools = self._loader.load(found)
        self.report: LoadReport = self._loader.report()
        """What was loaded, from where, and what was left out and why."""

    @property
    def tools(self) -> tuple[ChatbotTool[Any], ...]:
        """All tools in load order; of an orchestrator the pattern, which itself serves no request."""
        return self._tools

    def of_kind(self, kind: ToolKind) -> tuple[ChatbotTool[Any], ...]:
        """All tools of a kind in load order."""
        return tuple(tool for tool in self._tools if kind_of(tool) is kind)

    def get(self, name: str) -> ChatbotTool[Any]:
        """The tool of that name. Raises UnknownToolError."""
        return _named(name, {tool.name: tool for tool in self._tools}, "tool")

    def routed(self, domain: str, systems: Sequence[str]) -> tuple[ChatbotTool[Any], ...]:
        """The tools among which the routing chooses, before their `is_eligible` is asked."""
        return active_tools(self.of_kind(ToolKind.ROUTED), domain, systems)

    def orchestrated(self, domain: str, systems: Sequence[str]) -> tuple[OrchestratorActivatedTool[Any], ...]:
        """The tools that an orchestrator may run for a request, by priority and name.

        Of several fallbacks (at `MAX_PRIORITY`) only those made for the request most closely are among them: a
        domain's own retrieval takes the place of the general one.
        """
        tools = [tool for tool in self._tools if isinstance(tool, OrchestratorActivatedTool)]
        active = active_tools(tools, domain, systems)
        fallbacks = [tool for tool in active if tool.priority == MAX_PRIORITY]
        left_out = set(fallbacks) - set(closest_tools(fallbacks))
        kept = [tool for tool in active if tool not in left_out]
        return tuple(sorted(kept, key=lambda tool: (tool.priority, tool.name)))

    def orchestrator(self, domain: str, systems: Sequence[str]) -> OrchestratorTool[Any] | None:
        """A fresh orchestrator for one request; None where none is active, so that the default runs.

        Of several the closest is taken: a named domain before none; a named system before `ALL` before
        none; then, with a warning, the one loaded last. Raises PluginLoadError when it cannot be made.
        """
        tools = [tool for tool in self._tools if isinstance(tool, OrchestratorTool)]
        closest = closest_tools(active_tools(tools, domain, systems))
        if not closest:
            return None
        self._warn_of_tie(closest)
        return self._fresh(closest[-1])

    def ingestion_tool(self, name: str) -> IngestionTool[Any]:
        """The ingestion tool of that name. Raises UnknownToolError."""
        tools = {tool.name: tool for tool in self._tools if isinstance(tool, IngestionTool)}
        return _named(name, tools, "ingestion tool")

    def task_tool(self, task_type: str) -> AsyncTaskTool[Any]:
        """The tool that runs tasks of a type. Raises UnknownToolError."""
        tools = {tool.task_type: tool for tool in self._tools if isinstance(tool, AsyncTaskTool)}
        return _named(task_type, tools, "task type")

    def activatable(self, name: str, domain: str, systems: Sequence[str]) -> ChatbotTool[Any]:
        """The tool that a request starts by its name, past the routing; `is_eligible` is still to be asked.

        Raises UnknownToolError, and ToolNotActivatableError for an ingestion, task or orchestrator tool or
        one that does not serve this domain and these systems.
        """
        tools = {tool.name: tool for tool in self._tools}
        tool = tools[name] if name in tools else _named(name, self._startable(domain, systems), "tool")
        kind = kind_of(tool)
        if kind not in _STARTABLE:
            raise ToolNotActivatableError(
                f"tool {name!r} is of kind {kind.value} and cannot be started in a chat"
            )
        if not is_active(tool, domain, systems):
            served = f"domain {tool.domain or 'any'}, system {tool.eligible_system or 'none'}"
            raise ToolNotActivatableError(
                f"tool {name!r} serves {served}; the request names domain {domain!r}, "
                f"systems {', '.join(systems) or 'none'}"
            )
        return tool

    def _startable(self, domain: str, systems: Sequence[str]) -> dict[str, ChatbotTool[Any]]:
        kinds = [tool for tool in self._tools if kind_of(tool) in _STARTABLE]
        return {tool.name: tool for tool in active_tools(kinds, domain, systems)}

    def _fresh(self, pattern: OrchestratorTool[Any]) -> OrchestratorTool[Any]:
        try:
            orchestrator = type(pattern)()
            initialise(orchestrator, self._loader.services_for(type(pattern)))
        except Exception as error:
            raise PluginLoadError(f"orchestrator {pattern.name!r} cannot be made: {error}") from error
        return orchestrator

    def _warn_of_tie(self, tied: Sequence[OrchestratorTool[Any]]) -> None:
        names = tuple(tool.name for tool in tied)
        if len(names) > 1 and names not in self._warned:
            self._warned.add(names)
            log.warning("orchestrators %s fit a request equally; %r, loaded last, runs", names, names[-1])


class ToolServices:
    """The platform as one tool sees it."""

    def __init__(
        self,
        llm: LlmAssistant,
        knowledge: KnowledgeBase,
        settings: Mapping[str, Mapping[str, Any]],
        registry: ToolRegistry,
        loader: ToolLoader,
        user: type,
    ) -> None:
        self._llm = llm
        self._knowledge = knowledge
        self._settings = settings
        self._registry = registry
        self._loader = loader
        self._user = user

    @property
    def llm(self) -> LlmAssistant:
        """The model, or the offline assistant that stands in for it."""
        return self._llm

    @property
    def knowledge(self) -> KnowledgeBase:
        """The published knowledge stores."""
        return self._knowledge

    def get(self, tool_class: type[T]) -> T:
        """The one instance of another tool, initialised. Raises ToolNotLoadedError, a LookupError."""
        return self._loader.find(tool_class, self._user)

    def settings(self, section: str) -> Mapping[str, Any]:
        """The settings of that section, read-only; empty when there are none."""
        return MappingProxyType(dict(self._settings.get(section, {})))

    def orchestrated_tools(
        self, domain: str, systems: Sequence[str]
    ) -> Sequence[OrchestratorActivatedTool[Any]]:
        """The orchestrator's tools that are active for a request; complete once all tools are loaded."""
        return self._registry.orchestrated(domain, systems)


Tool = TypeVar("Tool", bound=ChatbotTool[Any])


def _named(name: str, tools: Mapping[str, Tool], what: str) -> Tool:
    try:
        return tools[name]
    except KeyError:
        valid = ", ".join(sorted(tools)) or "none"
        raise UnknownToolError(f"there is no {what} {name!r}; valid are: {valid}") from None
