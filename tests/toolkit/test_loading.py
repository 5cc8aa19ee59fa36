from __future__ import annotations

import logging
from typing import cast

import pytest
from pydantic import BaseModel
from sample_tools import (
    KNOWLEDGE,
    LLM,
    Conductor,
    Export,
    Fill,
    Lookup,
    Plain,
    Request,
    Routed,
    left_out,
    path,
    registry,
)

from toolkit.errors import ToolNotLoadedError
from toolkit.kinds import (
    OrchestratorActivatedTool,
)
from toolkit.load_report import LoadStage
from toolkit.registry import ToolRegistry
from toolkit.services import Services


def test_r2_2_all_are_constructed_before_the_first_init_and_each_is_initialised_once() -> None:
    log: list[str] = []

    class First(Routed):
        name = "first"
        executable_instruction = "first: x"

        def __init__(self) -> None:
            log.append("construct first")

        def init(self, services: Services) -> None:
            assert (services.llm, services.knowledge) == (LLM, KNOWLEDGE)
            self.other = services.get(Second)
            log.append("init first")

    class Second(Routed):
        name = "second"
        executable_instruction = "second: x"

        def __init__(self) -> None:
            log.append("construct second")

        def init(self, services: Services) -> None:
            log.append("init second")

    made = registry(First, Second)
    assert log == ["construct first", "construct second", "init second", "init first"]
    assert cast(First, made.get("first")).other is made.get("second")


def test_r2_2_settings_reach_the_tool() -> None:
    class Configured(Routed):
        def init(self, services: Services) -> None:
            self.own = services.settings(self.name)
            self.none = services.settings("absent")

    made = ToolRegistry(
        [Configured], llm=LLM, knowledge=KNOWLEDGE, plugins=(), settings={"routed": {"limit": 3}}
    )
    tool = cast(Configured, made.get("routed"))
    assert (tool.own, tool.none) == ({"limit": 3}, {})
    with pytest.raises(TypeError):
        tool.own["limit"] = 4  # type: ignore[index]


def test_r2_4_the_last_of_one_name_stays_and_the_loser_is_not_initialised(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Loser(Routed):
        def init(self, services: Services) -> None:
            raise AssertionError("the loser was initialised")

    made = registry(Loser, Routed)

    assert type(made.get("routed")) is Routed
    (gone,) = made.report.left_out
    (warning,) = made.report.warnings
    assert (gone.what, gone.stage, gone.reason) == (path(Loser), LoadStage.NAME, warning)
    assert path(Loser) in warning
    assert path(Routed) in warning
    assert (logging.WARNING, warning) in [(each.levelno, each.getMessage()) for each in caplog.records]


def test_r2_4_two_tasks_of_one_type() -> None:
    class Other(Export):
        name = "other"

    made = registry(Export, Other)
    assert made.task_tool("export-patients").name == "other"
    assert left_out(made) == [("Export", LoadStage.NAME)]


def test_r2_5_what_fails_is_reported_and_the_rest_serve() -> None:
    class Unfinished(OrchestratorActivatedTool[Request]):
        name = "unfinished"

    class NeedsArgument(Routed):
        def __init__(self, path: str) -> None:
            pass

    class Exits(Routed):
        def __init__(self) -> None:
            raise SystemExit(1)

    class FailsInInit(Routed):
        name = "fails"
        executable_instruction = "fails: x"

        def init(self, services: Services) -> None:
            raise ConnectionError("no database")

    class AsyncInit(Routed):
        name = "async_init"

        async def init(self, services: Services) -> None:  # type: ignore[override]
            return None

    made = registry(
        Unfinished,  # type: ignore[type-abstract]
        NeedsArgument,
        Exits,
        FailsInInit,
        AsyncInit,
        Lookup,
    )

    assert [tool.name for tool in made.tools] == ["lookup"]
    assert left_out(made) == [
        ("Unfinished", LoadStage.CONSTRUCT),
        ("NeedsArgument", LoadStage.CONSTRUCT),
        ("Exits", LoadStage.CONSTRUCT),
        ("FailsInInit", LoadStage.INIT),
        ("AsyncInit", LoadStage.INIT),
    ]
    reasons = [each.reason for each in made.report.left_out]
    assert reasons[3] == "ConnectionError: no database"
    assert "make it a plain method" in reasons[4]


def test_r2_5_what_needs_a_failed_tool_is_left_out_too_unless_it_can_do_without() -> None:
    class Broken(Routed):
        name = "broken"

        def init(self, services: Services) -> None:
            raise ConnectionError("no database")

    class Needs(Routed):
        name = "needs"
        executable_instruction = "needs: x"

        def init(self, services: Services) -> None:
            services.get(Broken)

    class CanDoWithout(Routed):
        def init(self, services: Services) -> None:
            with pytest.raises(LookupError, match=r"'broken' is left out: ConnectionError: no database"):
                services.get(Broken)

    made = registry(Needs, CanDoWithout, Broken)
    assert [tool.name for tool in made.tools] == ["routed"]
    assert left_out(made) == [("Broken", LoadStage.INIT), ("Needs", LoadStage.INIT)]


def test_r2_5_of_two_that_take_each_other_none_is_left_with_a_failed_one() -> None:
    class Left(Routed):
        name = "left"

        def init(self, services: Services) -> None:
            services.get(Right)
            raise ConnectionError("no database")

    class Right(Routed):
        name = "right"

        def init(self, services: Services) -> None:
            services.get(Left)

    made = registry(Left, Right)
    assert made.tools == ()
    assert left_out(made) == [("Left", LoadStage.INIT), ("Right", LoadStage.REQUIRED)]


def test_getting_a_tool_by_a_base_class_or_one_that_is_not_there() -> None:
    class Other(Lookup):
        name = "other"
        executable_instruction = "other: x"

    class Asks(Routed):
        def init(self, services: Services) -> None:
            assert type(services.get(Lookup)) is Lookup
            assert type(services.get(Fill)) is Fill
            for wrong, message in (
                (Export, "no tool of class .*Export is loaded; loaded are: routed, lookup"),
                (OrchestratorActivatedTool, "several tools .* lookup, other"),
                (Conductor, "each request has an instance of its own"),
            ):
                with pytest.raises(ToolNotLoadedError, match=message):
                    services.get(wrong)

    made = registry(Asks, Lookup, Other, Fill, Conductor)
    assert made.report.left_out == ()


def test_r3_4_an_instruction_without_the_tools_name_is_warned_about() -> None:
    class Silent(Plain):
        name = "silent"

    class Indented(Plain):
        name = "indented"
        executable_instruction = "\n    indented: true ha\n"

    made = registry(Silent, Indented, Fill, Export, Conductor)
    assert len(made.report.warnings) == 1
    assert made.report.warnings[0].startswith(
        "tool 'silent': its executable_instruction should begin with 'silent:'"
    )
    assert made.report.left_out == ()


def test_r3_2_a_request_class_without_strict_form_is_warned_about() -> None:
    class Free(BaseModel):
        counts: dict[str, int] = {}

    class FreeTool(Routed):
        request_class = Free  # type: ignore[assignment]

    made = registry(FreeTool)
    (warning,) = made.report.warnings
    assert "no parameters can be drawn" in warning
    assert "Free.counts" in warning
