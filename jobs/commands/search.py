"""`tudastar search`: sentences for people, runs for measurement."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from jobs.console import errors_told, print_json, print_text, say
from jobs.options import DEFAULT_STORE, DomainOption, JsonOption, LimitOption, StoreOption, SystemsOption
from retrieval.knowledge import StoreKnowledge, StoreKnowledgeBase
from toolkit.documents import UniqueTextDocument

RUN_TAG = "tudastar"


def search(
    query: Annotated[str | None, typer.Argument(help="What to look for.")] = None,
    domain: DomainOption = ...,  # type: ignore[assignment]
    system: SystemsOption = None,
    limit: LimitOption = 10,
    queries: Annotated[
        Path | None, typer.Option(help="JSONL of queries with `_id` and `text`, instead of QUERY.")
    ] = None,
    run: Annotated[Path | None, typer.Option(help="Where the run goes, in TREC form, by document.")] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Find the best sentences for a query, or the best documents for a file of queries."""
    with errors_told():
        knowledge = StoreKnowledgeBase(store).open(domain)
        systems = tuple(system or ())
        if queries and run:
            count = _write_run(knowledge, queries, run, systems, limit)
            say(f"{count:,} queries answered into {run}")
        elif query and not queries and not run:
            for document in knowledge.search(query, systems, limit):
                print_json(document.to_wire()) if as_json else print_text(line_of(document))
        else:
            raise typer.BadParameter("give QUERY, or both --queries and --run")


def line_of(document: UniqueTextDocument) -> str:
    """A sentence with its place; pages and sentences count from 1 for people."""
    place = f"{document.document_name}, page {document.page + 1}, sentence {document.sentence_number + 1}"
    return f"{document.sentence_score:8.2f}  {document.text}\n          [{place}]"


def _write_run(
    knowledge: StoreKnowledge, queries: Path, run: Path, systems: tuple[str, ...], limit: int
) -> int:
    count = 0
    with run.open("w", encoding="utf-8") as out:
        for identity, text in _queries(queries):
            count += 1
            for rank, (name, score) in enumerate(knowledge.search_documents(text, systems, limit), 1):
                out.write(f"{_word(identity)} Q0 {_word(name)} {rank} {score:.6f} {RUN_TAG}\n")
    return count


def _queries(path: Path) -> Iterator[tuple[str, str]]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                yield str(row["_id"]), str(row["text"])
            except (ValueError, KeyError, TypeError) as error:
                raise typer.BadParameter(
                    f"{path}, line {number}: each line is a JSON object with `_id` and `text` ({error!r})",
                    param_hint="--queries",
                ) from error


def _word(text: str) -> str:
    """A name as one word: white space and `%` as percent escapes of their UTF-8 bytes."""
    return "".join(
        "".join(f"%{byte:02X}" for byte in char.encode()) if char.isspace() or char == "%" else char
        for char in text
    )
