"""`tudastar doctor`: what is found, what is missing, what to do."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from jobs.console import print_json, print_text
from jobs.options import DEFAULT_STORE, JsonOption, StoreOption
from ner.errors import NerError
from ner.recognisers.contract import recogniser_class
from ner.spec import DEFAULT_RECOGNISERS
from pipelines.engines.choose import JAVA_HELP, OLDEST_JAVA, java_version
from store.errors import StoreError
from store.reader import KnowledgeStore


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    ok: bool
    found: str
    advice: str = ""

    @property
    def mark(self) -> str:
        """What stands before it in the list."""
        if not self.ok:
            return "missing"
        return "note" if self.advice else "ok"


def doctor(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Look at Python, Java, models, store and settings, and say what to do where something lacks."""
    for finding in _findings(store):
        if as_json:
            print_json(asdict(finding))
        else:
            advice = f" → {finding.advice}" if finding.advice else ""
            print_text(f"{finding.mark:7} {finding.what}: {finding.found}{advice}")


def _findings(store: Path) -> Iterator[Finding]:
    yield Finding("Python", sys.version_info >= (3, 11), platform.python_version())
    yield Finding("tudastar", True, importlib.metadata.version("tudastar"))
    yield _java()
    for recogniser in DEFAULT_RECOGNISERS:
        model = str(recogniser.parameters["model"])
        languages = ", ".join(recogniser.languages)
        try:
            recogniser_class(recogniser.factory).fingerprint(recogniser.parameters)
            yield Finding(f"model {model} ({languages})", True, "installed")
        except NerError as error:
            yield Finding(f"model {model} ({languages})", False, str(error), "pip install the model by name")
    yield _store(store)
    yield _language_model()
    yield from _tools(store)


def _java() -> Finding:
    version = java_version()
    if version is None:
        return Finding("Java", False, "not found: runs use the local engine", JAVA_HELP)
    if version < OLDEST_JAVA:
        return Finding("Java", False, f"version {version}; Spark needs {OLDEST_JAVA} or newer", JAVA_HELP)
    return Finding("Java", True, f"version {version}: runs use Spark")


def _store(path: Path) -> Finding:
    if not path.exists():
        return Finding("store", True, f"{path} is not there yet", "tudastar ingest PATH --domain NAME")
    if not os.access(path, os.W_OK):
        return Finding("store", False, f"{path} cannot be written", "choose another with --store")
    try:
        domains = KnowledgeStore(path).domains()
    except StoreError as error:
        return Finding("store", False, str(error))
    return Finding("store", True, f"{path}: {', '.join(domains) or 'no domain yet'}")


def _language_model() -> Finding:
    from serving.settings import Settings

    try:
        model = Settings().llm
    except ValueError as error:
        return Finding("settings", False, str(error), "correct the TUDASTAR_ environment variables")
    if model.base_url:
        return Finding("language model", True, f"{model.model} at {model.base_url}")
    return Finding(
        "language model",
        True,
        "none: answers quote the documents",
        "optional: set TUDASTAR_LLM__BASE_URL and TUDASTAR_LLM__MODEL",
    )


def _tools(store: Path) -> Iterator[Finding]:
    """The tools that the server would load, and those that it would leave out."""
    from serving.app import create_app
    from serving.settings import Settings

    try:
        app = create_app(Settings(store=store, host="127.0.0.1", state="sqlite://"))
    except ValueError:
        return
    report = app.state.platform.chat.registry.report
    for tool in report.loaded:
        yield Finding(f"tool {tool.name}", True, f"{tool.kind.value.lower()}, from {tool.origin}")
    for left_out in report.left_out:
        yield Finding(f"tool {left_out.what}", False, f"left out, from {left_out.origin}", left_out.reason)
    for warning in report.warnings:
        yield Finding("tools", True, "loaded with a warning", warning)
