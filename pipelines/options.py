"""What a run may be told besides what to ingest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from store.retention import KEPT_GENERATIONS


@dataclass(frozen=True, slots=True)
class RejectLimit:
    """How many rejects a generation may have: a number, or a share of all that was to be read."""

    number: int | None = None
    percent: float | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """`20`, or `5%`. Raises ValueError."""
        found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(%?)", text.strip(), re.ASCII)
        if found and found[2] and float(found[1]) <= 100:
            return cls(percent=float(found[1]))
        if found and not found[2] and "." not in found[1]:
            return cls(number=int(found[1]))
        raise ValueError(f"{text[:40]!r} is no limit: use a number, as 20, or a share from 0% to 100%, as 5%")

    def allows(self, rejects: int, documents: int) -> bool:
        """Whether so many rejects beside so many documents are few enough."""
        if self.number is not None:
            return rejects <= self.number
        return self.percent is None or rejects * 100 <= self.percent * (rejects + documents)

    def __str__(self) -> str:
        return f"{self.percent:g} %" if self.percent is not None else f"{self.number:,}"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is to be done."""

    keep: int = KEPT_GENERATIONS
    """So many of the newest generations stay."""
    include_purged: bool = False
    """Take in again what was purged from the named sources."""
    max_rejects: RejectLimit | None = None
    """With more of them nothing is published."""


NO_OPTIONS = RunOptions()
