from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import cast

import pytest
from pydantic import BaseModel

from toolkit.knowledge import KnowledgeBase
from toolkit.llm.assistant import LlmAssistant
from toolkit.load_report import LeftOut, LoadStage
from toolkit.registry import ToolRegistry
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


def registry(modules: Iterable[str]) -> ToolRegistry:
    return ToolRegistry((), modules, llm=LLM, knowledge=KNOWLEDGE, plugins=())


def path(tool_class: type) -> str:
    return f"{tool_class.__module__}:{tool_class.__qualname__}"


PLUGIN = """
from pydantic import BaseModel
from toolkit.tool import ALL, ChatbotTool

class Request(BaseModel):
    pass

class _Base(ChatbotTool[Request]):
    request_class = Request
    eligible_system = ALL
    def execute_with_result(self, call):
        return None

class {name}(_Base):
    name = "{tool}"
    executable_instruction = "{tool}: x"
"""


def install(site: Path, distribution: str, version: str, entry_points: str) -> None:
    info = site / f"{distribution}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[tudastar.tools]\n{entry_points}")


def test_r2_1_installed_plugins_are_found_by_entry_point_in_a_fixed_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "zz-plugin", "2.0", "clinic = tk_zz_plugin:Clinic\nbeds = tk_zz_plugin:Beds\n")
    install(tmp_path, "aa-plugin", "1.0", "broken = tk_aa_plugin:Broken\nno_tool = json:dumps\n")
    (tmp_path / "tk_zz_plugin.py").write_text(
        PLUGIN.format(name="Clinic", tool="clinic") + "class Beds(Clinic):\n    name = 'beds'\n"
    )
    (tmp_path / "tk_aa_plugin.py").write_text("import does_not_exist\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    made = ToolRegistry([Routed], llm=LLM, knowledge=KNOWLEDGE)

    loaded = [each for each in made.report.loaded if each.class_path.startswith(("tk_", path(Routed)))]
    assert [(each.name, each.origin) for each in loaded] == [
        ("routed", "built-in"),
        ("beds", "entry point 'beds' of zz-plugin 2.0"),
        ("clinic", "entry point 'clinic' of zz-plugin 2.0"),
    ]
    broken, no_tool = (each for each in made.report.left_out if "aa-plugin" in each.origin)
    assert broken == LeftOut(
        "tk_aa_plugin:Broken",
        "entry point 'broken' of aa-plugin 1.0",
        LoadStage.IMPORT,
        "ModuleNotFoundError: No module named 'does_not_exist'",
    )
    assert "is no tool class" in no_tool.reason


def test_r2_1_modules_classes_files_and_folders_in_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    package, folder = tmp_path / "tk_package", tmp_path / "folder"
    package.mkdir()
    folder.mkdir()
    (tmp_path / "tk_module.py").write_text(PLUGIN.format(name="Clinic", tool="clinic"))
    (package / "__init__.py").write_text("from tk_package.beds import Beds\n")
    (package / "beds.py").write_text(PLUGIN.format(name="Beds", tool="beds"))
    (folder / "tk_first.py").write_text("from tk_second import *\n")
    (folder / "tk_second.py").write_text(PLUGIN.format(name="Second", tool="second"))
    (folder / "json.py").write_text(PLUGIN.format(name="Json", tool="json"))
    monkeypatch.syspath_prepend(str(tmp_path))

    made = registry(
        modules=[
            "tk_module",
            f"{tmp_path}/tk_package",
            "tk_module:Clinic",
            f"{folder}",
            f"{tmp_path}/absent.py",
            "toolkit.tool",
        ]
    )

    assert [(each.name, each.class_path) for each in made.report.loaded] == [
        ("clinic", "tk_module:Clinic"),
        ("beds", "tk_package.beds:Beds"),
        ("second", "tk_second:Second"),
    ]
    assert [(each.what, each.stage) for each in made.report.left_out] == [
        (f"{folder}/json.py", LoadStage.IMPORT),
        (f"{folder}/tk_first.py", LoadStage.IMPORT),
        (f"{tmp_path}/absent.py", LoadStage.IMPORT),
        ("toolkit.tool", LoadStage.IMPORT),
    ]
    taken, *_, abstract_only = (each.reason for each in made.report.left_out)
    assert "another module has the name" in taken
    assert "defines no tool" in abstract_only


def test_r2_4_load_order_is_built_ins_then_plugins_then_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "own-plugin", "1.0", "routed = tk_own_plugin:Own\n")
    (tmp_path / "tk_own_plugin.py").write_text(PLUGIN.format(name="Own", tool="routed"))
    (tmp_path / "tk_own_module.py").write_text(PLUGIN.format(name="Mine", tool="routed"))
    monkeypatch.syspath_prepend(str(tmp_path))

    made = ToolRegistry([Routed], ["tk_own_module"], llm=LLM, knowledge=KNOWLEDGE)

    assert type(made.get("routed")).__name__ == "Mine"
    gone = [each.what for each in made.report.left_out if each.stage is LoadStage.NAME]
    assert gone == [path(Routed), "tk_own_plugin:Own"]
