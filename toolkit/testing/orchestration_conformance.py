"""Checks for the tools that start others: coordinators and orchestrators.

class TestCaseReview(AgentCoordinatorConformance):
    @pytest.fixture
    def tool_class(self):
        return CaseReview

    @pytest.fixture
    def other_tools(self):
        return (PatientLookup, RiskAssessment)
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from toolkit.coordination import AgentCoordinator, checked_steps
from toolkit.testing.conformance import ToolConformance, call_for
from toolkit.testing.harness import ToolHarness
from toolkit.tool import ChatbotTool


class AgentCoordinatorConformance(ToolConformance):
    """For tools that split their task into steps. Override `step_tools` with names of tools that are not loaded."""

    @pytest.fixture
    def step_tools(self) -> Sequence[str]:
        """Names of further tools that its steps may name, beside the loaded ones."""
        return ()

    def test_r6_1_it_is_not_run_itself(self, tool: ChatbotTool[Any]) -> None:
        assert isinstance(tool, AgentCoordinator)
        with pytest.raises(NotImplementedError):
            tool.execute_with_result(call_for(tool, "x"))

    def test_r6_2_its_trees_can_be_run(
        self,
        harness: ToolHarness,
        tool: ChatbotTool[Any],
        questions: Sequence[str],
        step_tools: Sequence[str],
    ) -> None:
        assert isinstance(tool, AgentCoordinator)
        loaded = [each.name for each in harness.registry.tools if not isinstance(each, AgentCoordinator)]
        for each in questions:
            root = asyncio.run(harness.decompose(tool, call_for(tool, each)))
            if root is not None:
                checked_steps(root, {*loaded, *step_tools})


class OrchestratorToolConformance(ToolConformance):
    """For orchestrators, which are made anew for each request."""

    def test_r4_3_each_request_gets_an_instance_of_its_own(
        self, harness: ToolHarness, tool: ChatbotTool[Any]
    ) -> None:
        domain, systems = call_for(tool, "x").domain, call_for(tool, "x").systems
        first, second = (harness.registry.orchestrator(domain, systems) for _ in range(2))
        assert type(first) is type(second) is type(tool), "another orchestrator serves its requests"
        assert first is not second
        assert first is not tool

    def test_r2_3_instances_share_no_state(self, harness: ToolHarness, tool: ChatbotTool[Any]) -> None:
        call = call_for(tool, "x")
        made = [harness.registry.orchestrator(call.domain, call.systems) for _ in range(2)]
        first, second = (vars(each) for each in made)
        shared = [
            name
            for name, value in first.items()
            if isinstance(value, (list, dict, set, bytearray)) and second.get(name) is value
        ]
        assert not shared, f"attributes {shared} are one object in two requests; make them in init"
