"""Word of a run's progress."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from store.parts import Part


class Progress(Protocol):
    """Told what a run is doing; called from one thread."""

    def begin(self, stage: str, items: int) -> None:
        """A stage begins that has so many pieces of work; those of `load` are files."""

    def advance(self, items: int) -> None:
        """So many more of them are done."""

    def found(self, root: Path, parts: Sequence[Part]) -> None:
        """These parts, in the domain's folder, are what the coming generation holds so far."""


class SilentProgress:
    """Says nothing."""

    def begin(self, stage: str, items: int) -> None:
        return

    def advance(self, items: int) -> None:
        return

    def found(self, root: Path, parts: Sequence[Part]) -> None:
        return


class JoinedProgress:
    """Tells several."""

    def __init__(self, *members: Progress) -> None:
        self._members = members

    def begin(self, stage: str, items: int) -> None:
        for each in self._members:
            each.begin(stage, items)

    def advance(self, items: int) -> None:
        for each in self._members:
            each.advance(items)

    def found(self, root: Path, parts: Sequence[Part]) -> None:
        for each in self._members:
            each.found(root, parts)
