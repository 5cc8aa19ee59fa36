from __future__ import annotations

import pytest

from toolkit.prompting import fill_system_prompt


@pytest.mark.parametrize(
    ("system_prompt", "tasks", "expected"),
    [
        ("Feladat: %s\nMezők: %s", "keress", "Feladat: keress\nMezők: INSTRUCTION"),
        ("Feladat: %s\nMezők: %s", None, "Feladat: \nMezők: INSTRUCTION"),
        ("Feladat: %s.", "keress", "Feladat: keress."),
        ("Feladat: %s.", None, "Feladat: ."),
        ("%s|%s|%s", "a", "a|INSTRUCTION|%s"),
        ("nincs hely", "keress", "nincs hely"),
        ("", "keress", ""),
        ("100 %, %d és %(x)s, %s", "a", "100 %, %d és %(x)s, a"),
        ("%s-%s", "%s", "%s-INSTRUCTION"),
        ("%s", "\\1 {0} %", "\\1 {0} %"),
    ],
)
def test_r3_6_placeholders(system_prompt: str, tasks: str | None, expected: str) -> None:
    assert fill_system_prompt(system_prompt, tasks, "INSTRUCTION") == expected


def test_r3_6_an_instruction_is_not_looked_at_again() -> None:
    assert fill_system_prompt("%s %s", "tasks", "%s") == "tasks %s"
