"""Word of a run's progress."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told what a run is doing; called from one thread."""

    def begin(self, stage: str, items: int) -> None:
        """A stage begins that has so many pieces of work."""

    def advance(self, items: int) -> None:
        """So many more of them are done."""


class SilentProgress:
    """Says nothing."""

    def begin(self, stage: str, items: int) -> None:
        return

    def advance(self, items: int) -> None:
        return
