"""`tudastar entities`, `digest` and `status`: what a store holds."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from jobs.console import errors_told, print_json, print_text
from jobs.options import DEFAULT_STORE, DomainOption, JsonOption, LimitOption, StoreOption
from ner.text.tokens import fold
from store.digest import combine, digest_tables
from store.layout import DomainLayout
from store.reader import Generation, KnowledgeStore

ENTITIES = """
SELECT entity_id, name, label, aliases, mention_count FROM entities
WHERE ? = '' OR label = ? ORDER BY mention_count DESC, name, entity_id
"""


def entities(
    query: Annotated[str, typer.Argument(help="A name or part of one; none lists all.")] = "",
    domain: DomainOption = ...,  # type: ignore[assignment]
    label: Annotated[str, typer.Option(help="Only this label: PER, LOC, ORG, MISC.")] = "",
    limit: LimitOption = 20,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """List entities, the most mentioned first."""
    with errors_told(), KnowledgeStore(store).open(domain) as generation:
        for row in _entities(generation, query, label)[:limit]:
            if as_json:
                print_json(row)
            else:
                print_text(
                    f"{row['mentionCount']:>7,}  {row['label']:<4} {row['name']}  "
                    f"({', '.join(row['aliases'][:8])})"
                )


def _entities(generation: Generation, query: str, label: str) -> list[dict[str, Any]]:
    wanted = fold(query)
    rows = generation.query(ENTITIES, [label, label]).to_pylist()
    return [
        {
            "entityId": str(row["entity_id"]),
            "name": row["name"],
            "label": row["label"],
            "aliases": row["aliases"],
            "mentionCount": row["mention_count"],
        }
        for row in rows
        if not wanted or any(wanted in fold(name) for name in (row["name"], *row["aliases"]))
    ]


def digest(domain: DomainOption, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Print the logical digest: equal content has an equal digest, wherever and however it was built."""
    with errors_told():
        commit = KnowledgeStore(store).commit(domain)
        tables = digest_tables(DomainLayout.of(store, domain).root, commit.parts)
        whole = combine(tables)
        if as_json:
            print_json({"digest": whole, "tables": tables})
        else:
            print_text(whole)


def status(
    domain: Annotated[str | None, typer.Option("--domain", help="One domain, with its rejects.")] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Say which generations serve, what they hold, and which files could not be read."""
    with errors_told():
        base = KnowledgeStore(store)
        for name in [domain] if domain else base.domains():
            row = _status(base, name, with_rejects=domain is not None)
            print_json(row) if as_json else _tell(row)
        if not domain and not base.domains() and not as_json:
            print_text(f"no domain in {store} yet: make one with `tudastar ingest PATH --domain NAME`")


def _status(base: KnowledgeStore, domain: str, with_rejects: bool) -> dict[str, Any]:
    commit = base.commit(domain)
    row: dict[str, Any] = {
        "domain": domain,
        "generation": commit.number,
        "createdAt": commit.created_at,
        "counts": commit.counts,
        "sources": [source.model_dump(mode="json") for source in commit.sources],
    }
    if with_rejects:
        with base.open(domain) as generation:
            row["rejects"] = generation.query("SELECT * FROM rejects ORDER BY ALL").to_pylist()
    return row


def _tell(row: dict[str, Any]) -> None:
    print_text(f"{row['domain']}: generation {row['generation']} of {row['createdAt']}")
    print_text("  " + "  ".join(f"{count:,} {table}" for table, count in row["counts"].items()))
    for source in row["sources"]:
        system = f", system {source['system']}" if source["system"] else ""
        print_text(f"  source {source['name']}: {source['files']:,} files from {source['root']}{system}")
    for reject in row.get("rejects", ()):
        print_text(
            f"  reject {reject['source']}/{reject['source_id']} [{reject['code']}] {reject['message']}"
        )
