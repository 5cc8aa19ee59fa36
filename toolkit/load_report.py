"""What became of the plugins at start-up."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from toolkit.activation import ToolKind


class LoadStage(StrEnum):
    """Where a tool was left out."""

    IMPORT = "IMPORT"
    """Its module or class could not be had."""
    CONSTRUCT = "CONSTRUCT"
    """Its constructor failed."""
    CONTRACT = "CONTRACT"
    """It declares something that its kind does not allow."""
    NAME = "NAME"
    """Another tool, loaded later, has the same name."""
    INIT = "INIT"
    """Its `init` failed."""
    REQUIRED = "REQUIRED"
    """A tool that it needs is missing or has no smaller priority."""


@dataclass(frozen=True, slots=True)
class LoadedTool:
    """A tool that serves."""

    name: str
    class_path: str
    """`module:Class`."""
    origin: str
    """Where it comes from: `built-in`, `entry point …` or `settings …`."""
    kind: ToolKind


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that was to be loaded and does not serve."""

    what: str
    """`module:Class` or the module."""
    origin: str
    stage: LoadStage
    reason: str


@dataclass(frozen=True, slots=True)
class LoadReport:
    """All of it, in load order."""

    loaded: tuple[LoadedTool, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    warnings: tuple[str, ...] = ()
