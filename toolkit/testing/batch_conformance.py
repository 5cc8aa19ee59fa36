"""Checks for the tools outside the chat: ingestion and tasks.

class TestExport(AsyncTaskToolConformance):
    @pytest.fixture
    def tool_class(self):
        return Export

    @pytest.fixture
    def request_parameters(self):
        return {"ward": "B"}
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Mapping
from typing import Any

import pytest

from toolkit.kinds import AsyncTaskTool, IngestionTool
from toolkit.parameters import validated_parameters
from toolkit.testing.conformance import ToolConformance, call_for
from toolkit.testing.recording import RecordingProgress
from toolkit.tool import ChatbotTool


class _BatchConformance(ToolConformance):
    @pytest.fixture
    def request_parameters(self) -> Mapping[str, Any]:
        """Parameters of a request that the tool can serve."""
        return {}

    def test_r4_4_it_takes_no_part_in_the_chat(self, tool: ChatbotTool[Any]) -> None:
        assert tool.execute_with_result(call_for(tool, "x")) is None


class IngestionToolConformance(_BatchConformance):
    """For ingestion tools. Override `failing_parameters` with a request that cannot succeed."""

    @pytest.fixture
    def failing_parameters(self) -> Mapping[str, Any] | None:
        """Parameters of a request that must fail; None: there are none."""
        return None

    def test_r4_4_it_is_idempotent(
        self, tool: ChatbotTool[Any], request_parameters: Mapping[str, Any]
    ) -> None:
        assert isinstance(tool, IngestionTool)
        request = validated_parameters(tool.request_class, request_parameters)
        for turn in ("first", "second"):
            report = _value(tool.execute_ingestion(request))
            assert report.error is None, f"the {turn} run failed: {report.error}"
            assert report.status != "failed", f"the {turn} run failed"

    def test_r4_4_an_error_stands_in_the_report(
        self, tool: ChatbotTool[Any], failing_parameters: Mapping[str, Any] | None
    ) -> None:
        if failing_parameters is None:
            pytest.skip("override failing_parameters to check how the tool fails")
        assert isinstance(tool, IngestionTool)
        report = _value(tool.execute_ingestion(validated_parameters(tool.request_class, failing_parameters)))
        assert report.status == "failed"
        assert report.error


class AsyncTaskToolConformance(_BatchConformance):
    """For tools that run tasks."""

    def test_r12_1_its_result_can_be_held_by_json(
        self, tool: ChatbotTool[Any], request_parameters: Mapping[str, Any]
    ) -> None:
        assert isinstance(tool, AsyncTaskTool)
        request = validated_parameters(tool.request_class, request_parameters)
        json.dumps(_value(tool.run(request, RecordingProgress())))


def _value(outcome: Any) -> Any:
    return asyncio.run(_awaited(outcome)) if inspect.isawaitable(outcome) else outcome


async def _awaited(outcome: Any) -> Any:
    return await outcome
