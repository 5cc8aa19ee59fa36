"""The commands and the code that the documentation shows are run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from pydantic import BaseModel
from typer.testing import CliRunner

from jobs.cli import make_app
from serving.settings import Settings

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "README.hu.md", ROOT / "docs" / "ingest.md", ROOT / "docs" / "operate.md"]
TUDASTAR = ".venv/bin/tudastar "


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_run_in_their_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("TUDASTAR_STORE", str(tmp_path))
    lines = [line for block in blocks(page, "sh") for line in block.splitlines() if line.startswith(TUDASTAR)]
    assert len(lines) >= 3
    for line in lines:
        arguments = shlex.split(line.removeprefix(TUDASTAR))
        if arguments[0] == "ingest" and "--engine" not in arguments:
            arguments += ["--engine", "local"]
        result = CliRunner().invoke(make_app(), arguments)
        assert result.exit_code == 0, f"{line}\n{result.output}"
        assert result.stdout.strip(), line


def test_make_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    documented = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.M))
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.M)
    assert phony is not None
    assert set(phony.group(1).split()) == documented


ALL_PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_settings_that_are_described_exist() -> None:
    page = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    names = re.findall(r"`TUDASTAR_([A-Z_]+[A-Z])", page)
    assert len(names) >= 10
    for name in names:
        model: type[BaseModel] = Settings
        for part in name.lower().split("__"):
            field = model.model_fields[part]
            model = field.annotation if isinstance(field.annotation, type) else Settings
