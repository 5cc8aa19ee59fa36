"""Which generations stay, and the sweeping of all that they do not need."""

from __future__ import annotations

import shutil

from store.commits import commit_numbers, read_commit
from store.layout import DomainLayout
from store.lease import unlink_unless_leased

KEPT_GENERATIONS = 3
"""The newest generations that stay unless told otherwise."""


def collect_garbage(layout: DomainLayout, keep: int = KEPT_GENERATIONS) -> None:
    """Delete all but the `keep` newest generations and those that some process reads, and the ended runs' markers.

    To be called under the domain's lock. Raises ValueError for less than one generation.
    """
    if keep < 1:
        raise ValueError(f"{keep} generations cannot be kept: the newest one serves, so keep 1 or more")
    for number in commit_numbers(layout)[:-keep]:
        unlink_unless_leased(layout.commit_file(number))
    sweep(layout)


def sweep(layout: DomainLayout) -> None:
    """Delete the files that no commit lists, and the ended runs' markers. To be called under the domain's lock."""
    commits = [read_commit(layout, number) for number in commit_numbers(layout)]
    needed = {part.path for commit in commits for part in commit.parts}
    needed |= {path for commit in commits for path in (commit.search, commit.knowledge)}
    files = [*layout.parts.glob("*/*"), *layout.search.iterdir(), *layout.root.glob("knowledge-*.duckdb")]
    files += [*layout.root.glob(".*.tmp*"), *layout.commits.glob(".*.tmp*")]
    for path in files:
        if str(path.relative_to(layout.root)) not in needed:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for run in layout.stages.iterdir():
        shutil.rmtree(run)
