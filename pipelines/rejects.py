"""The rejects of a coming generation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import TooManyRejectsError
from pipelines.options import RejectLimit
from store.parts import Part, read_parts

EXAMPLES = 10
"""Rejects of one code that are named."""


@dataclass(frozen=True, slots=True)
class RejectsOfCode:
    """How often something went wrong, and the first ones by name."""

    code: str
    count: int
    examples: tuple[dict[str, str], ...]
    """{source, sourceId, stage, message}."""


def rejects_by_code(root: Path, parts: Iterable[Part]) -> list[RejectsOfCode]:
    """Rejects that the parts hold, the commonest code first."""
    counts: Counter[str] = Counter()
    examples: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in _rows(root, parts):
        counts[row["code"]] += 1
        if len(examples[row["code"]]) < EXAMPLES:
            examples[row["code"]].append(
                {
                    "source": row["source"],
                    "sourceId": row["source_id"],
                    "stage": row["stage"],
                    "message": row["message"],
                }
            )
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return [RejectsOfCode(code, count, tuple(examples[code])) for code, count in ranked]


def check_rejects(root: Path, parts: Sequence[Part], limit: RejectLimit | None) -> None:
    """Raises TooManyRejectsError when more was rejected than may be."""
    if limit is None:
        return
    rejects = sum(part.rows for part in parts if part.table == "rejects")
    documents = sum(part.rows for part in parts if part.table == "documents")
    if limit.allows(rejects, documents):
        return
    found = rejects_by_code(root, parts)
    told = "; ".join(f"{each.count:,} {each.code}, as {_example(each)}" for each in found[:3])
    raise TooManyRejectsError(
        f"{rejects:,} rejects beside {documents:,} documents are more than the limit of {limit}: {told}. Nothing was "
        "published, the last generation serves on. Mend the documents or raise --max-rejects, and run again: what was "
        "read is not read again. --progress-file names more of them"
    )


def _example(found: RejectsOfCode) -> str:
    first = found.examples[0]
    return f"{first['source']}/{first['sourceId']} ({first['message'][:120]})"


def _rows(root: Path, parts: Iterable[Part]) -> Iterator[dict[str, Any]]:
    """In the order of the parts' buckets, so that the same rejects are named whatever ran first."""
    listed = sorted((p for p in parts if p.table == "rejects"), key=lambda p: (p.bucket, p.path))
    for batch in read_parts(root, listed):
        yield from batch.to_pylist()
