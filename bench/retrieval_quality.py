"""How well the search index ranks documents: nDCG@10 and recall over folders of judged queries.

A folder holds corpus.jsonl (_id, title, text), queries.jsonl (_id, text) and qrels.tsv (query, document, grade; one
header line). The index is built as the ingestion builds it, without the names; one configuration for all folders.

Run: python -m bench.retrieval_quality FOLDER… [--json] [--untitled] [--runs DIR]
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from ner.text.clean import clean
from ner.text.language import detect_language
from ner.text.sentences import split_sentences
from ner.text.terms import analyse
from retrieval.index.build import build_index
from retrieval.index.query import SearchIndex, SearchTerms
from store.tables import DOCUMENTS, PAGES, SENTENCES, Table

DEPTH = 100
"""Documents asked for per query."""
LANGUAGES = ("hu", "en")
BATCH_ROWS = 2_000


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus as an index on disk."""

    index: SearchIndex
    languages: tuple[str, ...]
    """The most frequent first."""
    identities: Sequence[str]
    """The record's own id by document id."""

    @classmethod
    def build(cls, folder: Path, source: Path, titled: bool) -> Corpus:
        """Index the records of a jsonl file into a folder."""
        records = list(json_lines(source))
        languages = [detect_language(record["text"], LANGUAGES) for record in records]
        texts = [clean(record["text"]).text for record in records]
        build_index(
            folder,
            _batches(DOCUMENTS, _documents(records, languages, titled)),
            _batches(PAGES, _pages(records, titled)),
            _batches(SENTENCES, _sentences(texts, languages)),
        )
        by_frequency = tuple(language for language, _ in Counter(languages).most_common())
        return cls(SearchIndex(folder), by_frequency, [record["_id"] for record in records])

    def ranked(self, query: str) -> list[tuple[str, float]]:
        """The best documents for a query, with scores."""
        terms = SearchTerms.of(query, self.languages)
        return [(self.identities[number], score) for number, score in self.index.documents(terms, (), DEPTH)]


def _documents(
    records: Iterable[Mapping[str, Any]], languages: Sequence[str], titled: bool
) -> Iterator[dict[str, Any]]:
    for number, record in enumerate(records):
        title = record.get("title", "") if titled else ""
        name = title or f"corpus.jsonl #{record['_id']}"
        yield {"document_id": number, "system": "", "name": name, "language": languages[number]}


def _pages(records: Iterable[Mapping[str, Any]], titled: bool) -> Iterator[dict[str, Any]]:
    for number, record in enumerate(records):
        heading = record.get("title", "") if titled else ""
        yield {"document_id": number, "page": 0, "heading": heading or None}


def _sentences(texts: Iterable[str], languages: Sequence[str]) -> Iterator[dict[str, Any]]:
    for number, text in enumerate(texts):
        for place, (start, end) in enumerate(split_sentences(text, languages[number])):
            sentence = text[start:end]
            yield {
                "document_id": number,
                "page": 0,
                "sentence_number": place,
                "text": sentence,
                "terms": analyse(sentence, languages[number]).joined(),
            }


def _batches(table: Table, rows: Iterator[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
    while group := list(islice(rows, BATCH_ROWS)):
        yield pa.RecordBatch.from_pylist(group, schema=table.schema)


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file with one on each line."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def read_grades(path: Path) -> dict[str, dict[str, float]]:
    """By query, the documents that are relevant, with their grades."""
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if float(grade) > 0:
            grades[query][document] = float(grade)
    return dict(grades)


def ndcg(ranked: Sequence[str], grades: Mapping[str, float], depth: int) -> float:
    """Discounted gain of the first documents, as a share of the best possible."""
    gain = sum((2 ** grades.get(each, 0) - 1) / math.log2(at + 2) for at, each in enumerate(ranked[:depth]))
    best = sorted(grades.values(), reverse=True)[:depth]
    return gain / sum((2**grade - 1) / math.log2(at + 2) for at, grade in enumerate(best))


def recall(ranked: Sequence[str], grades: Mapping[str, float], depth: int) -> float:
    """Share of the relevant documents that are among the first."""
    return sum(each in grades for each in ranked[:depth]) / len(grades)


def measure(folder: Path, titled: bool, runs: Path | None) -> dict[str, float]:
    """The figures of one folder."""
    grades = read_grades(folder / "qrels.tsv")
    with tempfile.TemporaryDirectory() as place:
        began = time.perf_counter()
        corpus = Corpus.build(Path(place), folder / "corpus.jsonl", titled)
        built = time.perf_counter()
        queries = [query for query in json_lines(folder / "queries.jsonl") if query["_id"] in grades]
        ranked = {query["_id"]: corpus.ranked(query["text"]) for query in queries}
        asked = time.perf_counter()
    if runs:
        _write_run(runs / f"{folder.name}.trec", ranked)
    names = {query: [name for name, _ in ranked.get(query, [])] for query in grades}
    return {
        "ndcg@10": _mean(ndcg(names[query], grades[query], 10) for query in grades),
        **{
            f"recall@{depth}": _mean(recall(names[query], grades[query], depth) for query in grades)
            for depth in (1, 2, 5, 10, 100)
        },
        "build s": round(built - began, 1),
        "ms a query": round(1000 * (asked - built) / len(queries), 2),
    }


def _mean(values: Iterable[float]) -> float:
    collected = list(values)
    return round(sum(collected) / len(collected), 4)


def _write_run(path: Path, ranked: Mapping[str, Sequence[tuple[str, float]]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as out:
        for query, documents in ranked.items():
            for rank, (document, score) in enumerate(documents, 1):
                out.write(f"{query} Q0 {document} {rank} {score:.6f} bench\n")


def main() -> None:
    """Print a table, or a JSON object for each folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--untitled", action="store_true", help="without the titles")
    parser.add_argument("--runs", type=Path, help="where to write the runs in TREC form")
    arguments = parser.parse_args()
    for number, folder in enumerate(arguments.folders):
        figures = measure(folder, not arguments.untitled, arguments.runs)
        if arguments.json:
            print(json.dumps({"set": folder.name, **figures}))
            continue
        if number == 0:
            print(f"{'set':26}" + "".join(f"{name:>12}" for name in figures))
        print(f"{folder.name:26}" + "".join(f"{value:>12}" for value in figures.values()))


if __name__ == "__main__":
    main()
