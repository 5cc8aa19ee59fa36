"""The pages of docs/kinds: all code of a page, with the tests that it shows, is run as one file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field, create_model

from toolkit.errors import SchemaError
from toolkit.schema import strict_json_schema

KINDS = Path(__file__).resolve().parent.parent.parent / "docs" / "kinds"
SUITES: dict[str, str] = {
    "routed": "ChatbotToolConformance",
    "answers": "ChatbotToolConformance",
    "orchestrated": "OrchestratorActivatedToolConformance",
    "context-consumer": "ContextConsumerToolConformance",
    "dependent": "ToolDependentConformance",
    "clarifiable": "ClarifiableToolConformance",
    "clarifiable-context-consumer": "ClarifiableToolConformance",
    "coordinator": "AgentCoordinatorConformance",
    "orchestrator": "OrchestratorToolConformance",
    "ingestion": "IngestionToolConformance",
    "async-task": "AsyncTaskToolConformance",
    "retrieval": "OrchestratorActivatedToolConformance",
    "entity-analysis": "OrchestratorActivatedToolConformance",
    "page-analysis": "OrchestratorActivatedToolConformance",
}
"""By page: the conformance suite that its tests use."""
CONFIGURATION = "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"


def code_of(page: str) -> str:
    text = (KINDS / f"{page}.md").read_text(encoding="utf-8")
    return "\n\n".join(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[ET.Element]]:
    """All pages run by one pytest of their own; the test cases by page."""
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "pytest.ini").write_text(CONFIGURATION, encoding="utf-8")
    for page in SUITES:
        (folder / f"test_{page.replace('-', '_')}.py").write_text(code_of(page), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-W",
        "error",
        "--junitxml=report.xml",
        "-p",
        "no:cacheprovider",
    ]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TUDASTAR_")}
    subprocess.run([*command, "."], cwd=folder, env=kept, capture_output=True, check=False, timeout=300)
    found: dict[str, list[ET.Element]] = {page: [] for page in SUITES}
    for case in ET.parse(folder / "report.xml").iter("testcase"):
        module = next(part for part in f"{case.get('classname')}.{case.get('name')}".split(".") if part)
        found.setdefault(module.removeprefix("test_").replace("_", "-"), []).append(case)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("page", SUITES)
def test_what_a_page_shows_works(page: str, outcomes: dict[str, list[ET.Element]]) -> None:
    cases = outcomes[page]
    bad = [
        f"{case.get('name')}: {detail.text}"
        for case in cases
        for detail in case
        if detail.tag != "system-out"
    ]
    assert not bad, "\n".join(bad)
    own = [case for case in cases if not (case.get("name") or "").startswith("test_r")]
    assert own, "the page states no result of its tool"
    suite = SUITES[page]
    if suite is not None:
        assert suite in code_of(page)
        assert len(cases) > len(own), "the conformance suite did not run"


@pytest.mark.slow
def test_the_ingestion_tool_is_started_from_the_command_line(tmp_path: Path) -> None:
    text = (KINDS / "ingestion.md").read_text(encoding="utf-8")
    code, *_ = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    ((command, output),) = re.findall(r"^```sh\n(.*?)```\n\n```text\n(.*?)\n```", text, re.M | re.S)
    (tmp_path / "ward_ingestion.py").write_text(code, encoding="utf-8")
    arguments = command.replace(" ward_ingestion.py", f" {tmp_path}/ward_ingestion.py").split()[1:]
    ended = subprocess.run(
        [Path(sys.executable).parent / "tudastar", *arguments, "--store", tmp_path / "store"],
        cwd=KINDS.parent.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    assert output in ended.stdout


def index() -> str:
    return (KINDS / "index.md").read_text(encoding="utf-8")


def test_every_page_is_run_and_listed() -> None:
    pages = {file.stem for file in KINDS.glob("*.md")} - {"index"}
    assert pages == set(SUITES)
    assert pages <= set(re.findall(r"\]\(([a-z-]+)\.md\)", index()))


class Ward(StrEnum):
    NORTH = "north"


class Place(BaseModel):
    floor: int | None = None


PLAIN = (str, int, float, bool, date, time, datetime, timedelta, Ward, Place, list, set, dict)
TYPES = {each.__name__: each for each in PLAIN} | {
    "Annotated": Annotated,
    "Any": Any,
    "Field": Field,
    "Literal": Literal,
}


def shown_types() -> list[tuple[str, str]]:
    section = index().split("## Types of request fields")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.*`.*) \| (.*) \|$", section, re.M)
    return [
        (each, schema) for types, schema in rows for each in re.findall(r"`([^`]+)`", types) if each != "Enum"
    ]


@pytest.mark.parametrize(("field_type", "schema"), shown_types())
def test_the_types_of_request_fields(field_type: str, schema: str) -> None:
    model = create_model("Shown", field=(Optional[eval(field_type, dict(TYPES))], None))  # noqa: UP045
    if schema.startswith("refused"):
        with pytest.raises(SchemaError):
            strict_json_schema(model)
        return
    found = strict_json_schema(model)["properties"]["field"]
    assert found == {"anyOf": [json.loads(schema.strip("`")), {"type": "null"}]}


def test_all_types_are_shown() -> None:
    assert len(shown_types()) >= 17


def test_a_tools_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    from serving.settings import Settings

    ((name, value),) = re.findall(r"`(TUDASTAR_TOOLS__\w+)=(\w+)`", index())
    monkeypatch.setenv(name, value)
    (shown,) = re.findall(r"gives `(\{.*?\})`", index())
    assert Settings().tools == {"opening_hours": json.loads(shown)}
