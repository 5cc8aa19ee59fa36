"""Small tools of every kind, for the tests of loading, checks and registry."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any, ClassVar, cast

from pydantic import BaseModel

from toolkit.contexts import ToolContexts
from toolkit.kinds import (
    AsyncTaskTool,
    IngestionTool,
    OrchestratorActivatedTool,
    OrchestratorTool,
    TaskProgress,
    ToolDependent,
)
from toolkit.knowledge import KnowledgeBase
from toolkit.llm.assistant import LlmAssistant
from toolkit.load_report import LoadStage
from toolkit.registry import ToolRegistry
from toolkit.services import Services
from toolkit.tool import ALL, ChatbotTool, ToolCall

LLM = cast(LlmAssistant, object())
KNOWLEDGE = cast(KnowledgeBase, object())


class Request(BaseModel):
    patient: str | None = None


class Plain(ChatbotTool[Request]):
    request_class = Request
    eligible_system = ALL

    def execute_with_result(self, call: ToolCall) -> None:
        return None


class Routed(Plain):
    name = "routed"
    executable_instruction = "routed: true ha kell"


class Lookup(OrchestratorActivatedTool[Request]):
    name = "lookup"
    eligible_system = ALL
    executable_instruction = "lookup: true ha beteg"
    request_class = Request
    priority = 0

    def execute_with_result(self, call: ToolCall) -> None:
        return None


class Dependent(OrchestratorActivatedTool[Request], ToolDependent[Request]):
    eligible_system = ALL
    request_class = Request
    needs: ClassVar[tuple[type[Any], ...]] = ()
    required: Set[Any] = frozenset()

    @property
    def required_tools(self) -> Set[Any]:
        return self.required

    def init(self, services: Services) -> None:
        self.required = frozenset(services.get(each) for each in self.needs)

    def execute_with_required_context(self, call: ToolCall, required_tool_contexts: ToolContexts) -> None:
        return None


class Risk(Dependent):
    name = "risk"
    executable_instruction = "risk: true ha kockázat"
    priority = 10
    needs: ClassVar[tuple[type[Any], ...]] = (Lookup,)


class Conductor(OrchestratorTool[Request]):
    name = "conductor"
    eligible_system = ALL
    request_class = Request
    services: Services

    def init(self, services: Services) -> None:
        self.services = services

    def execute_with_result(self, call: ToolCall) -> None:
        return None


class Report:
    status = "unchanged"
    error = None


class Fill(IngestionTool[Request]):
    name = "fill"
    eligible_system = ALL
    request_class = Request

    def execute_ingestion(self, request: Request) -> Report:
        return Report()


class Export(AsyncTaskTool[Request]):
    name = "export"
    task_type = "export-patients"
    eligible_system = ALL
    request_class = Request

    def run(self, request: Request, progress: TaskProgress) -> None:
        return None


def registry(*built_ins: type[ChatbotTool[Any]], modules: Iterable[str] = ()) -> ToolRegistry:
    return ToolRegistry(built_ins, modules, llm=LLM, knowledge=KNOWLEDGE, plugins=())


def path(tool_class: type) -> str:
    return f"{tool_class.__module__}:{tool_class.__qualname__}"


def left_out(made: ToolRegistry) -> list[tuple[str, LoadStage]]:
    return [(each.what.rpartition(":")[2].rpartition(".")[2], each.stage) for each in made.report.left_out]
