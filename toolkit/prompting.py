"""Filling in the system prompt for drawing a tool's parameters from a question."""

from __future__ import annotations


def fill_system_prompt(system_prompt: str, tasks: str | None, instruction: str) -> str:
    """The prompt with `tasks` (nothing for None) for the first `%s`, the instruction for the second.

    Further `%s` and every other `%` stay as they are, and what was put in is not looked at again. Without
    any `%s` neither is used.
    """
    first, *rest = system_prompt.split("%s", 2)
    values = (tasks or "", instruction)
    return first + "".join(value + part for value, part in zip(values, rest, strict=False))
