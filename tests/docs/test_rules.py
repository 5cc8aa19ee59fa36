"""The table of rules is whole and up to date."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).with_name("rule_table.py")


@pytest.fixture
def rule_table() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rule_table", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_rule_has_a_test_and_the_page_is_up_to_date() -> None:
    ended = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("test", "rules"),
    [
        ("test_r3_7_the_call", ["R3.7"]),
        ("test_r4_8_r5_5_r3_10_internal_texts", ["R4.8", "R5.5", "R3.10"]),
        ("test_r4_3a_routed_tools", ["R4.3a"]),
        ("test_r3_2_a_null", ["R3.2"]),
        ("test_r1_3_to_r1_5_systems", ["R1.3", "R1.4", "R1.5"]),
        ("test_r1_the_order", []),
        ("test_about_r3_7_no_more", []),
    ],
)
def test_the_rules_in_a_name(rule_table: ModuleType, test: str, rules: list[str]) -> None:
    assert rule_table.rules_named(test, list(rule_table.stated_rules())) == rules


def test_a_rule_without_a_test_and_an_old_page_are_named(
    rule_table: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "tests" / "docs").mkdir(parents=True)
    (tmp_path / "tests" / "test_a.py").write_text("def test_r1_1_it_holds(): ...\n", encoding="utf-8")
    monkeypatch.setattr(rule_table, "ROOT", tmp_path)
    monkeypatch.setattr(rule_table, "PAGE", tmp_path / "rules.md")
    monkeypatch.setattr(rule_table, "stated_rules", lambda: {"R1.1": "One.", "R1.2": "Two."})
    assert rule_table.main(["--check"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "R1.2 has no test: Two.",
        "rules.md is out of date; run .venv/bin/python tests/docs/rule_table.py",
    ]
    assert rule_table.main([]) == 1
    assert capsys.readouterr().err.splitlines() == ["R1.2 has no test: Two."]
    assert (
        "| R1.1 | One. | [test_a.py](../tests/test_a.py): test_r1_1_it_holds |" in rule_table.PAGE.read_text()
    )
