from __future__ import annotations

import pytest
from sample_tools import Conductor, Export, Fill, Lookup, Risk, Routed, path, registry

from toolkit.activation import ToolKind
from toolkit.errors import PluginLoadError, ToolNotActivatableError, UnknownToolError
from toolkit.load_report import LoadedTool
from toolkit.services import Services


def test_each_kind_is_found_where_it_belongs() -> None:
    made = registry(Routed, Lookup, Risk, Conductor, Fill, Export)

    assert made.report.left_out == ()
    assert made.report.warnings == ()
    assert [(each.name, each.kind, each.origin) for each in made.report.loaded] == [
        ("routed", ToolKind.ROUTED, "built-in"),
        ("lookup", ToolKind.ORCHESTRATED, "built-in"),
        ("risk", ToolKind.ORCHESTRATED, "built-in"),
        ("conductor", ToolKind.ORCHESTRATOR, "built-in"),
        ("fill", ToolKind.INGESTION, "built-in"),
        ("export", ToolKind.ASYNC_TASK, "built-in"),
    ]
    assert made.report.loaded[0] == LoadedTool("routed", path(Routed), "built-in", ToolKind.ROUTED)
    assert [tool.name for tool in made.routed("korhaz", [])] == ["routed"]
    assert [tool.name for tool in made.orchestrated("korhaz", [])] == ["lookup", "risk"]
    assert made.ingestion_tool("fill").name == "fill"
    assert made.task_tool("export-patients").name == "export"


def test_r1_tools_of_other_domains_and_systems_take_no_part() -> None:
    class Elsewhere(Routed):
        name = "elsewhere"
        domain = "regeny"
        executable_instruction = "elsewhere: x"

    class Late(Lookup):
        name = "late"
        priority = 5
        eligible_system = "lab"
        executable_instruction = "late: x"

    made = registry(Elsewhere, Routed, Late, Lookup)
    assert [tool.name for tool in made.routed("korhaz", ["lab"])] == ["routed"]
    assert [tool.name for tool in made.orchestrated("korhaz", ["lab"])] == ["lookup", "late"]
    assert [tool.name for tool in made.orchestrated("korhaz", ["his"])] == ["lookup"]


class Orchestrators:
    class Default(Conductor):
        name = "anywhere"

    class OfDomain(Conductor):
        name = "of_domain"
        domain = "korhaz"

    class OfSystem(Conductor):
        name = "of_system"
        domain = "korhaz"
        eligible_system = "his"

    class OfOtherSystem(Conductor):
        name = "of_other_system"
        domain = "korhaz"
        eligible_system = "lab"


@pytest.mark.parametrize(
    ("domain", "systems", "expected"),
    [
        ("regeny", [], "anywhere"),
        ("korhaz", [], "of_domain"),
        ("korhaz", ["his"], "of_system"),
        ("korhaz", ["pacs"], "of_domain"),
    ],
)
def test_r4_3_exactly_one_orchestrator_is_chosen(domain: str, systems: list[str], expected: str) -> None:
    made = registry(
        Orchestrators.OfSystem, Orchestrators.OfDomain, Orchestrators.Default, Orchestrators.OfOtherSystem
    )
    chosen = made.orchestrator(domain, systems)
    assert chosen is not None
    assert chosen.name == expected


def test_r4_3_of_equals_the_one_loaded_last_runs_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    made = registry(Orchestrators.OfOtherSystem, Orchestrators.OfSystem, Orchestrators.OfDomain)
    chosen = [made.orchestrator("korhaz", ["his", "lab"]) for _ in range(2)]
    assert [each.name for each in chosen if each] == ["of_system", "of_system"]
    warnings = [each.getMessage() for each in caplog.records if "fit a request equally" in each.getMessage()]
    assert warnings == [
        "orchestrators ('of_other_system', 'of_system') fit a request equally; 'of_system', loaded last, runs"
    ]


def test_r4_3_none_is_active_so_the_platforms_default_runs() -> None:
    assert registry(Orchestrators.OfDomain).orchestrator("regeny", []) is None


def test_r2_3_each_request_has_an_orchestrator_of_its_own() -> None:
    made = registry(Conductor, Lookup)
    first, second = made.orchestrator("korhaz", []), made.orchestrator("korhaz", [])
    assert isinstance(first, Conductor)
    assert first is not second
    assert first is not made.get("conductor")
    assert [tool.name for tool in first.services.orchestrated_tools("korhaz", [])] == ["lookup"]


def test_an_orchestrator_that_can_no_longer_be_made_is_a_typed_error() -> None:
    class Once(Conductor):
        made = 0

        def init(self, services: Services) -> None:
            Once.made += 1
            if Once.made > 1:
                raise ConnectionError("no database")

    with pytest.raises(PluginLoadError, match="'conductor' cannot be made: no database"):
        registry(Once).orchestrator("korhaz", [])


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("absent", UnknownToolError, "no tool 'absent'; valid are: lookup"),
        ("fill", ToolNotActivatableError, "of kind INGESTION"),
        ("export", ToolNotActivatableError, "of kind ASYNC_TASK"),
        ("conductor", ToolNotActivatableError, "of kind ORCHESTRATOR"),
        (
            "of_lab",
            ToolNotActivatableError,
            "serves domain korhaz, system lab; the request names domain 'korhaz'",
        ),
    ],
)
def test_r4_10_what_cannot_be_started_by_name(name: str, error: type[Exception], message: str) -> None:
    class OfLab(Lookup):
        name = "of_lab"
        domain = "korhaz"
        eligible_system = "lab"

    made = registry(Conductor, Export, Fill, Lookup, OfLab)
    with pytest.raises(error, match=message):
        made.activatable(name, "korhaz", ["his"])
    assert made.activatable("of_lab", "korhaz", ["lab"]).name == "of_lab"
    assert made.activatable("lookup", "korhaz", ["his"]).name == "lookup"
