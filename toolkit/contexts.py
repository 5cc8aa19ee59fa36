"""What earlier tools found, as later tools get it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from toolkit.documents import UniqueTextDocument


@dataclass(frozen=True, slots=True)
class PromptAndContext:
    """What one tool found for one prompt; internal documents are among it."""

    prompt: str
    """The sub-query that the tool was run for."""
    context: tuple[UniqueTextDocument, ...]
    """Each place once, in the order of the tool's result."""


ToolContexts: TypeAlias = Mapping[str, Sequence[PromptAndContext]]
"""Contexts by key; no value is None, and an absent key means no data."""

NO_CONTEXTS: ToolContexts = MappingProxyType({})
"""The empty mapping."""


def completion_key(task_no: int, tool_name: str) -> str:
    """The key of a finished tool in prior contexts: `"<taskNo>:<toolName>"`, tasks counted from 1."""
    return f"{task_no}:{tool_name}"


def freeze_contexts(contexts: Mapping[str, Iterable[PromptAndContext]]) -> ToolContexts:
    """A snapshot that later changes of the original do not reach, and that raises when it is changed."""
    return MappingProxyType({key: tuple(values) for key, values in contexts.items()})
