from __future__ import annotations

import pytest
from pydantic import BaseModel

from toolkit.activation import active_tools, closest_tools, is_active
from toolkit.tool import ALL, ChatbotTool, ToolCall


class Request(BaseModel):
    pass


class Tool(ChatbotTool[Request]):
    request_class = Request

    def __init__(self, domain: str | None, eligible_system: str | None) -> None:
        self.domain = domain  # type: ignore[misc]
        self.eligible_system = eligible_system  # type: ignore[misc]
        self.name = f"{domain}/{eligible_system}"  # type: ignore[misc]

    def execute_with_result(self, call: ToolCall) -> None:
        return None


@pytest.mark.parametrize(
    ("eligible_system", "systems", "active"),
    [
        (None, [], True),
        (None, ["his"], False),
        (None, ["his", "lab"], False),
        (ALL, [], True),
        (ALL, ["his"], True),
        ("his", [], False),
        ("his", ["his"], True),
        ("his", ["lab", "his"], True),
        ("his", ["lab"], False),
        ("his", ["HIS"], False),
    ],
)
def test_r1_3_to_r1_5_systems(eligible_system: str | None, systems: list[str], active: bool) -> None:
    assert is_active(Tool("korhaz", eligible_system), "korhaz", systems) is active


@pytest.mark.parametrize(
    ("domain", "active"), [(None, True), ("korhaz", True), ("Korhaz", False), ("regeny", False)]
)
def test_r1_2_domains(domain: str | None, active: bool) -> None:
    assert is_active(Tool(domain, ALL), "korhaz", ["his"]) is active


def test_r1_the_order_stays_and_systems_may_be_any_iterable() -> None:
    tools = [Tool(None, ALL), Tool("regeny", ALL), Tool("korhaz", "his"), Tool(None, None)]
    active = active_tools(tools, "korhaz", (each for each in ["his"]))
    assert active == (tools[0], tools[2])


def test_r4_3_the_closest_goes_first() -> None:
    order = [
        Tool("korhaz", "his"),
        Tool("korhaz", ALL),
        Tool("korhaz", None),
        Tool(None, "his"),
        Tool(None, ALL),
        Tool(None, None),
    ]
    for position, tool in enumerate(order):
        assert closest_tools(order[position:][::-1]) == (tool,)
    tied = [Tool("korhaz", "his"), Tool(None, ALL), Tool("korhaz", "lab")]
    assert closest_tools(tied) == (tied[0], tied[2])
    assert closest_tools([]) == ()
