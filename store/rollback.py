"""An earlier generation, published again."""

from __future__ import annotations

import datetime

from store.commits import Commit, commit_numbers, publish, read_commit
from store.errors import NoGenerationError
from store.layout import DomainLayout
from store.lock import writer_lock
from store.retention import KEPT_GENERATIONS, collect_garbage
from store.verify import check_whole


def rollback(layout: DomainLayout, to: int | None = None, keep: int = KEPT_GENERATIONS) -> Commit:
    """Publish a kept generation again, by default the one before the newest; it gets the next number.

    The next run plans against it. Raises NoGenerationError that names those that are kept, DamagedPartError when it
    is not whole, StoreLockedError, StoreFormatError; the newest generation then serves on.
    """
    if not layout.commits.is_dir():
        raise NoGenerationError(f"there is no generation in {layout.root}")
    layout.check_format()
    with writer_lock(layout.lock_file):
        numbers = commit_numbers(layout)
        chosen = to if to is not None else next(iter(numbers[-2:-1]), None)
        if chosen is None or chosen not in numbers[:-1]:
            raise NoGenerationError(_cannot(layout, numbers, to))
        target = read_commit(layout, chosen)
        check_whole(layout, target)
        commit = target.model_copy(
            update={
                "number": numbers[-1] + 1,
                "parent": numbers[-1],
                "created_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                "restored": chosen,
            }
        )
        publish(layout, commit)
        collect_garbage(layout, keep)
    return commit


def _cannot(layout: DomainLayout, numbers: list[int], to: int | None) -> str:
    earlier = ", ".join(map(str, numbers[:-1])) or "none"
    serving = f"; {numbers[-1]} serves now" if numbers else ""
    wanted = "no earlier generation" if to is None else f"no earlier generation {to}"
    return f"{wanted} is kept in {layout.root}: there are {earlier}{serving}"
