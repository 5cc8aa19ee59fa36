"""Sentence boundaries against NerKor: precision, recall and F1 by genre, and the speed.

Run: python -m bench.sentences [devel.jsonl] [--errors N]
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from ner.text.sentences import split_sentences

NO_SPACE_BEFORE = set(".,;:!?…)]}%”»’") | {"...", "!!", "??", "?!", "..", "!?"}
NO_SPACE_AFTER = set("([{„«")
TERMINAL = ".!?…"
CLOSING = "\"'”’»)]"


def running_text(tokens: Iterable[str]) -> str:
    """Tokens as they would stand in print; straight quotes open and close in turn."""
    text = ""
    glue = True
    inside = False
    for token in tokens:
        closes = token in NO_SPACE_BEFORE or (token == '"' and inside)
        text += token if glue or closes else f" {token}"
        if token == '"':
            inside = not inside
        glue = token in NO_SPACE_AFTER or (token == '"' and inside)
    return text


def documents(path: Path) -> Iterator[tuple[str, list[str]]]:
    """(genre, sentences as running text) of each document."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            row = json.loads(line)
            found[row["genre"], row["doc"]].append(running_text(row["tokens"]))
    for (genre, _), sentences in found.items():
        yield genre, sentences


def boundaries(sentences: list[str]) -> tuple[str, set[int]]:
    """The document's text and the places where a sentence but the first begins."""
    starts, at = set(), 0
    for sentence in sentences:
        starts.add(at)
        at += len(sentence) + 1
    return " ".join(sentences), starts - {0}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "path", type=Path, nargs="?", default=Path("../shared/data/hu_ner_nerkor/devel.jsonl")
    )
    parser.add_argument("--errors", type=int, default=0)
    arguments = parser.parse_args()
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    seconds = size = 0.0
    shown: dict[str, int] = defaultdict(int)
    for genre, sentences in documents(arguments.path):
        text, gold = boundaries(sentences)
        began = time.perf_counter()
        found = {start for start, _ in split_sentences(text, "hu")} - {0}
        seconds += time.perf_counter() - began
        size += len(text.encode()) / 1e6
        unmarked = {at for at in gold if text[: at - 1].rstrip(CLOSING)[-1:] not in TERMINAL}
        for name in (genre, "all"):
            for index, part in enumerate((gold & found, found - gold, gold - found, unmarked)):
                counts[name][index] += len(part)
        for kind, places in (("EXTRA", found - gold), ("MISSED", gold - found - unmarked)):
            for at in sorted(places):
                shown[genre + kind] += 1
                if shown[genre + kind] <= arguments.errors:
                    print(genre, kind, repr(text[max(at - 50, 0) : at] + "‖" + text[at : at + 40]))
    print(f"{'genre':10} {'P':>6} {'R':>6} {'F1':>6}   without a mark at the end: R can be at most")
    for genre, (hits, extra, missed, unmarked_count) in counts.items():
        precision, recall = hits / (hits + extra), hits / (hits + missed)
        score = 2 * precision * recall / (precision + recall)
        limit = 1 - unmarked_count / (hits + missed)
        print(f"{genre:10} {precision:6.4f} {recall:6.4f} {score:6.4f}   {limit:.4f}")
    print(f"{size / seconds:.2f} MB/s")


if __name__ == "__main__":
    main()
