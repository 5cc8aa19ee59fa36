from __future__ import annotations

import logging
import re
from collections.abc import Set
from typing import Any, ClassVar

import pytest
from sample_tools import Fill, Lookup, Plain, Request, Risk, Routed, left_out, path, registry

from toolkit.contexts import ToolContexts
from toolkit.kinds import (
    MAX_PRIORITY,
    AsyncTaskTool,
    ContextConsumerTool,
    TaskProgress,
)
from toolkit.load_report import LoadStage
from toolkit.services import Services
from toolkit.tool import ChatbotTool, ToolCall


class NoPriority(Lookup):
    name = "no_priority"
    priority = None  # type: ignore[assignment]


class PriorityTooGreat(Lookup):
    name = "too_great"
    priority = MAX_PRIORITY + 1


class PriorityOfText(Lookup):
    name = "text"
    priority = "0"  # type: ignore[assignment]


class NoName(Plain):
    pass


class ColonName(Plain):
    name = "a:b"


class NoRequestClass(ChatbotTool[Request]):
    name = "no_request"

    def execute_with_result(self, call: ToolCall) -> None:
        return None


class LoneConsumer(ContextConsumerTool[Request]):
    name = "lone"
    request_class = Request

    def execute_with_prior_context(self, call: ToolCall, prior_tool_contexts: ToolContexts) -> None:
        return None


class TwoKinds(Fill, Lookup):  # type: ignore[misc]
    name = "two_kinds"


class NoTaskType(AsyncTaskTool[Request]):
    name = "no_type"
    request_class = Request

    def run(self, request: Request, progress: TaskProgress) -> None:
        return None


class EmptyDomain(Routed):
    domain = ""


@pytest.mark.parametrize(
    ("tool_class", "fault"),
    [
        (NoPriority, "it has no priority"),
        (PriorityTooGreat, "its priority is 2147483648; valid are whole numbers of at most 2147483647"),
        (PriorityOfText, "its priority is '0'"),
        (NoName, "its name is None"),
        (ColonName, "its name is 'a:b'"),
        (NoRequestClass, "its request_class is None"),
        (LoneConsumer, "add OrchestratorActivatedTool to its bases"),
        (TwoKinds, r"of several kinds \(OrchestratorActivatedTool, IngestionTool\)"),
        (NoTaskType, "its task_type is None"),
        (EmptyDomain, "its domain is ''"),
    ],
)
def test_r4_1_r4_2_a_tool_that_breaks_its_contract_is_refused(
    tool_class: type[ChatbotTool[Any]], fault: str
) -> None:
    made = registry(tool_class, Routed)
    assert [tool.name for tool in made.tools] == ["routed"]
    ((what, origin, stage, reason),) = [
        (each.what, each.origin, each.stage, each.reason) for each in made.report.left_out
    ]
    assert (what, origin, stage) == (path(tool_class), "built-in", LoadStage.CONTRACT)
    assert re.search(fault, reason)


def test_r4_2_the_greatest_priority_is_allowed() -> None:
    class Fallback(Lookup):
        priority = MAX_PRIORITY

    assert registry(Fallback).report.left_out == ()


class TooEarly(Risk):
    name = "too_early"
    priority = 0


class OnTooEarly(Risk):
    name = "on_too_early"
    needs: ClassVar[tuple[type[Any], ...]] = (TooEarly,)
    priority = 20


class OnRouted(Risk):
    name = "on_routed"
    needs: ClassVar[tuple[type[Any], ...]] = (Routed,)


class OnStranger(Risk):
    name = "on_stranger"

    def init(self, services: Services) -> None:
        self.required = frozenset({Lookup()})


class OtherDomain(Lookup):
    name = "other_domain"
    domain = "regeny"


class OnOtherDomain(Risk):
    name = "on_other_domain"
    domain = "korhaz"
    needs: ClassVar[tuple[type[Any], ...]] = (OtherDomain,)


class Unreadable(Risk):
    name = "unreadable"

    @property
    def required_tools(self) -> Set[Any]:
        raise AttributeError("not wired")


@pytest.mark.parametrize(
    ("tool_class", "needed", "reason"),
    [
        (TooEarly, Lookup, "it requires 'lookup', whose priority 0 must be smaller than its own 0"),
        (OnRouted, Routed, "it requires 'routed', which no orchestrator can run"),
        (OnStranger, Lookup, "it requires 'lookup', which is not among the loaded tools"),
        (OnOtherDomain, OtherDomain, "serves domain 'korhaz' but requires 'other_domain' of domain 'regeny'"),
        (Unreadable, Lookup, "required_tools cannot be read: AttributeError: not wired"),
    ],
)
def test_r4_6_a_dependent_with_wrong_requirements_is_left_out_with_an_error(
    tool_class: type[ChatbotTool[Any]],
    needed: type[ChatbotTool[Any]],
    reason: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = registry(tool_class, needed)
    assert [tool.name for tool in made.tools] == [needed.name]
    ((stage, told),) = [(each.stage, each.reason) for each in made.report.left_out]
    assert stage is LoadStage.REQUIRED
    assert reason in told
    assert any(each.levelno == logging.ERROR and reason in each.getMessage() for each in caplog.records)


def test_r4_6_the_check_is_transitive() -> None:
    made = registry(OnTooEarly, TooEarly, Lookup, Risk)
    assert [tool.name for tool in made.tools] == ["lookup", "risk"]
    assert left_out(made) == [("TooEarly", LoadStage.REQUIRED), ("OnTooEarly", LoadStage.REQUIRED)]
