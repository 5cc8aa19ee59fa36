"""Dictionary forms of names against NerKor's gold lemmas: accuracy by label, for inflected names and for base forms.

The gold form of a name is the name with the gold lemma in place of its last word; case does not count.

Run: python -m bench.name_lemmas [devel.jsonl] [--errors N]
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.sentences import running_text
from ner.text.lemmas import name_lemma


def gold_names(path: Path) -> Iterator[tuple[str, str, str]]:
    """(label, name as it stands, gold dictionary form) of each gold mention."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            row = json.loads(line)
            for start, end in _spans(row["ner"]):
                words = row["tokens"][start:end]
                form = running_text([*words[:-1], row["lemmas"][end - 1]])
                yield row["ner"][start][2:], running_text(words), form


def _spans(tags: list[str]) -> Iterator[tuple[int, int]]:
    start = None
    for at, tag in enumerate([*tags, "O"]):
        if start is not None and not tag.startswith("I-"):
            yield start, at
            start = None
        if tag.startswith("B-"):
            start = at


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "path", type=Path, nargs="?", default=Path("../shared/data/hu_ner_nerkor/devel.jsonl")
    )
    parser.add_argument("--errors", type=int, default=0)
    arguments = parser.parse_args()
    right: Counter[tuple[str, str]] = Counter()
    seen: Counter[tuple[str, str]] = Counter()
    errors: Counter[str] = Counter()
    for label, surface, gold in gold_names(arguments.path):
        found = name_lemma(surface, "hu")
        kind = "base" if surface.casefold() == gold.casefold() else "inflected"
        for cell in ((label, kind), ("all", kind), (label, "both"), ("all", "both")):
            seen[cell] += 1
            right[cell] += found.casefold() == gold.casefold()
        if found.casefold() != gold.casefold():
            errors[f"{kind}: {surface} → {found}, gold {gold}"] += 1
    print(f"{'label':8}" + "".join(f"{kind:>20}" for kind in ("inflected", "base", "both")))
    for label in sorted({label for label, _ in seen}):
        cells = (
            f"{right[label, k] / seen[label, k]:.4f} of {seen[label, k]}"
            for k in ("inflected", "base", "both")
        )
        print(f"{label:8}" + "".join(f"{cell:>20}" for cell in cells))
    for error, count in errors.most_common(arguments.errors):
        print(f"{count:4} {error}")


if __name__ == "__main__":
    main()
