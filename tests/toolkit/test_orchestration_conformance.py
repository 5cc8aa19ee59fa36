"""The suites for coordinators and orchestrators pass for good tools, and fail for bad ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from sample_tools import Conductor, Lookup, Request

from toolkit.contexts import ToolContexts
from toolkit.coordination import AgentCoordinator, AgentStep
from toolkit.discovery import ToolClass
from toolkit.errors import StepTreeError
from toolkit.services import Services
from toolkit.testing.harness import ToolHarness
from toolkit.testing.orchestration_conformance import (
    AgentCoordinatorConformance,
    OrchestratorToolConformance,
)
from toolkit.tool import ALL, ToolCall


class Review(AgentCoordinator[Request]):
    name = "review"
    eligible_system = ALL
    executable_instruction = "review: true, ha eset"
    request_class = Request

    async def decompose(self, call: ToolCall, contexts: ToolContexts) -> AgentStep | None:
        lookups = [AgentStep(word, "lookup") for word in call.user_prompt.split()]
        return AgentStep(call.user_prompt, "judge", lookups) if lookups else None


class TestReview(AgentCoordinatorConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return Review

    @pytest.fixture
    def other_tools(self) -> Sequence[ToolClass]:
        return (Lookup,)

    @pytest.fixture
    def step_tools(self) -> Sequence[str]:
        return ("judge",)


class TestConductor(OrchestratorToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return Conductor


SHARED: list[str] = []


class Sharing(Conductor):
    name = "sharing"

    def init(self, services: Services) -> None:
        self.queries = SHARED


class Runs(Review):
    name = "runs"
    executable_instruction = "runs: x"

    def execute_with_result(self, call: ToolCall) -> None:
        return None


def checked(tool_class: ToolClass, suite: Any, test: str, **more: Any) -> None:
    with ToolHarness(Lookup, tool_class) as harness:
        given = {"harness": harness, "tool": harness.tool(tool_class), "questions": ("Hol?",), **more}
        method = getattr(suite(), test)
        names = method.__code__.co_varnames[1 : method.__code__.co_argcount]
        method(**{name: given[name] for name in names})


def test_a_tree_with_an_unknown_tool_fails() -> None:
    with pytest.raises(StepTreeError, match="unknown tool 'judge'; valid are lookup"):
        checked(Review, AgentCoordinatorConformance, "test_r6_2_its_trees_can_be_run", step_tools=())


def test_a_coordinator_that_runs_by_itself_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        checked(Runs, AgentCoordinatorConformance, "test_r6_1_it_is_not_run_itself")


def test_an_orchestrator_that_shares_state_fails() -> None:
    with pytest.raises(AssertionError, match="queries"):
        checked(Sharing, OrchestratorToolConformance, "test_r2_3_instances_share_no_state")
