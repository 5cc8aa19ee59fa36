from __future__ import annotations

import pytest

from toolkit.coordination import AgentStep, checked_steps
from toolkit.errors import StepTreeError

TOOLS = {"search", "summary", "risk"}


def test_r6_1_children_come_before_their_parent() -> None:
    search = AgentStep("Hol van Eger?", "search")
    summary = AgentStep("Miről szól?", "summary", (search,))
    second = AgentStep("Ki Dobó?", "search")
    root = AgentStep("Mi a kockázat?", "risk", [summary, second])

    assert checked_steps(root, TOOLS) == (search, summary, second, root)


def test_r6_2_an_unknown_tool_is_told_with_the_valid_ones() -> None:
    root = AgentStep("a", "risk", (AgentStep("b", "oracle"),))
    with pytest.raises(StepTreeError, match="unknown tool 'oracle'; valid are risk, search, summary"):
        checked_steps(root, TOOLS)


def test_r6_2_a_cycle_is_refused() -> None:
    children: list[AgentStep] = []
    root = AgentStep("a", "risk", children)
    children.append(AgentStep("b", "search", (root,)))
    with pytest.raises(StepTreeError, match="'risk' is its own ancestor: a"):
        checked_steps(root, TOOLS)


def test_r6_2_one_step_under_two_parents_is_refused() -> None:
    shared = AgentStep("b", "search")
    root = AgentStep("a", "risk", (shared, AgentStep("c", "summary", (shared,))))
    with pytest.raises(StepTreeError, match="'search' stands twice: b"):
        checked_steps(root, TOOLS)


def test_r6_2_depth_is_bounded() -> None:
    step = AgentStep("leaf", "search")
    for _ in range(3):
        step = AgentStep("above", "summary", (step,))
    assert len(checked_steps(step, TOOLS, max_depth=4)) == 4
    with pytest.raises(StepTreeError, match="deeper than the 3 steps"):
        checked_steps(step, TOOLS, max_depth=3)


def test_r6_2_the_number_of_steps_is_bounded() -> None:
    root = AgentStep("a", "risk", tuple(AgentStep(str(number), "search") for number in range(5)))
    assert len(checked_steps(root, TOOLS, max_steps=6)) == 6
    with pytest.raises(StepTreeError, match="more than the 5 steps"):
        checked_steps(root, TOOLS, max_steps=5)
