"""`tudastar demo`: the sample documents, ingested and asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jobs.commands.ask import answer_question, tell
from jobs.commands.ingest import tell_report
from jobs.console import BarProgress, errors_told, print_text, say
from jobs.options import DEFAULT_STORE, StoreOption
from ner.ingestion import IngestionRequest, SourceRequest
from ner.spec import DomainSpec
from pipelines.engines.choose import choose, make
from pipelines.engines.contract import Engine
from pipelines.errors import SourceError
from pipelines.run import PipelineRunner

DOMAINS = {"hospital": "hospital", "tale": "tale", "museum": "english"}
"""Domain and folder of the sample documents."""
QUESTIONS = (
    ("hospital", "Hol van a kardiológia, és mi a telefonszáma?"),
    ("tale", "Ki az a Mátyás?"),
    ("museum", "Who was Captain Harrow?"),
)


def demo(
    samples: Annotated[Path, typer.Option(help="Folder of the sample documents.")] = Path("data"),
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Ingest the sample documents, ask three questions, and say how to go on."""
    with errors_told():
        if not samples.is_dir():
            raise SourceError(f"no sample documents at {samples}: run this where the repository lies")
        _ingest(samples, store)
        for domain, question in QUESTIONS:
            print_text(f"\n{question}   ({domain})\n")
            request = {"message": question, "domain": domain, "systems": []}
            tell(answer_question(store, request))
    print_text(
        "\nGo on with:\n"
        "  make serve                                                  chat in the browser\n"
        "  .venv/bin/tudastar ingest FOLDER --domain NAME              your own documents\n"
        '  .venv/bin/tudastar ask "..." --domain NAME                  and a question'
    )


def _ingest(samples: Path, store: Path) -> None:
    progress = BarProgress()

    def make_engine() -> Engine:
        choice = choose("auto")
        say(f"engine: {choice.reason}")
        return make(choice)

    with progress.shown(), PipelineRunner(store, make_engine, progress) as runner:
        for domain, folder in DOMAINS.items():
            request = IngestionRequest(sources=(SourceRequest(str(samples / folder)),))
            tell_report(runner.run(DomainSpec(domain=domain), request), store)
