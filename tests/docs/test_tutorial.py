"""The tutorial docs/tools.md, followed to the letter in a folder of its own."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TUTORIAL = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent
FOLDER = "../opening-hours"

pytestmark = pytest.mark.slow


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the tutorial, and the lines that it says are in the output."""

    words: Sequence[str]
    expected: Sequence[str] = ()


def shown_files() -> dict[str, str]:
    found = re.findall(r"^File `([^`]+)`:\n\n```\w+\n(.*?)^```", TUTORIAL, re.M | re.S)
    return dict(found)


def shown_commands() -> list[Command]:
    """Each `sh` block is one command; the `text` block that follows it before the next one is its output."""
    blocks = re.findall(r"^```(sh|text)\n(.*?)^```", TUTORIAL, re.M | re.S)
    commands: list[Command] = []
    for language, text in blocks:
        if language == "sh":
            commands.append(Command(shlex.split(text.replace("\\\n", " "))))
        elif commands and not commands[-1].expected:
            commands[-1] = Command(commands[-1].words, text.splitlines())
    return commands


COMMANDS = shown_commands()


@dataclass(frozen=True, slots=True)
class Workplace:
    """The author's folder, and an environment in which the tool is installed."""

    folder: Path
    environment: dict[str, str]

    def run(self, words: Sequence[str], **more: str) -> str:
        """Run a command of the tutorial at the repository; its output."""
        program, *arguments = (word.replace(FOLDER, str(self.folder)) for word in words)
        ended = subprocess.run(
            [BIN / program.removeprefix(".venv/bin/"), *arguments],
            cwd=ROOT,
            env=self.environment | more,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert ended.returncode == 0, f"{shlex.join(words)}\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """The tutorial's files, built and installed as a package, and the sample documents ingested."""
    base = tmp_path_factory.mktemp("tutorial")
    folder, site = base / "opening-hours", base / "site"
    files = shown_files()
    assert list(files) == [
        "pyproject.toml",
        "opening_hours/__init__.py",
        "opening_hours/request.py",
        "opening_hours/tool.py",
        "tests/test_opening_hours.py",
    ]
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TUDASTAR_")}
    environment = kept | {
        "PYTHONPATH": str(site),
        "PYTHONUTF8": "1",
        "TUDASTAR_STORE": str(base / "store"),
        "COLUMNS": "500",
    }
    made = Workplace(folder, environment)
    assert [".venv/bin/pip", "install", "--no-deps", "--no-build-isolation", "-e", FOLDER] in [
        command.words for command in COMMANDS
    ]
    made.run(
        [
            *"python -m pip install -q --no-index --no-deps --no-build-isolation --target".split(),
            str(site),
            FOLDER,
        ]
    )
    (ingest,) = commands_with("ingest")
    made.run(ingest.words)
    return made


@pytest.fixture(scope="module")
def address(workplace: Workplace) -> Iterator[str]:
    """A running server; the tutorial's address but for the port."""
    (command,) = commands_with("serve")
    arguments = [word if word != "8765" else "0" for word in command.words[1:]]
    with subprocess.Popen(
        [BIN / "tudastar", *arguments], cwd=ROOT, env=workplace.environment, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stderr is not None
            yield next(
                found[0] for line in server.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+", line))
            )
        finally:
            server.terminate()


def commands_with(word: str) -> list[Command]:
    return [command for command in COMMANDS if word in command.words]


def test_its_own_tests_pass(workplace: Workplace) -> None:
    (command,) = commands_with("pytest")
    output = workplace.run([*command.words, "-q", "-W", "error", "-p", "no:cacheprovider"])
    assert re.search(r"\b1[0-9] passed", output), output


def test_the_tool_is_seen_to_be_loaded(workplace: Workplace) -> None:
    (command,) = commands_with("-c")
    assert workplace.run(command.words).splitlines() == command.expected


@pytest.mark.parametrize("command", commands_with("ask"), ids=lambda command: command.words[-3])
def test_ask(workplace: Workplace, command: Command) -> None:
    variables = dict(word.split("=", 1) for word in command.words if word.startswith("TUDASTAR_"))
    values = {name: value.replace(FOLDER, str(workplace.folder)) for name, value in variables.items()}
    if values:
        values["PYTHONPATH"] = ""
    words = command.words[len(variables) :]
    output = workplace.run(words, **values)
    assert all(line in output for line in command.expected), output
    assert ("8.00–14.00" in output) == bool(command.expected), output


@pytest.mark.parametrize("command", commands_with("curl"), ids=["routed", "by name"])
def test_rest(address: str, command: Command) -> None:
    body = json.loads(command.words[command.words.index("-d") + 1])
    (url,) = (word for word in command.words if word.startswith("http"))
    response = httpx.post(url.replace("http://127.0.0.1:8765", address), json=body, timeout=60)
    assert response.status_code == 200, response.text
    assert all(line in response.text for line in command.expected), response.text


def test_an_unknown_tool_is_refused_with_the_names_of_those_that_are_loaded(address: str) -> None:
    body = {"message": "?", "domain": "hospital", "toolName": "unknown"}
    response = httpx.post(f"{address}/api/chatbot/chat", json=body)
    assert response.json()["detail"].endswith("valid are: entity_analysis, opening_hours, rag_retrieval")


def test_what_the_tutorial_says_that_the_offline_assistant_does_not_know(workplace: Workplace) -> None:
    (question,) = re.findall(r'does not know "(.*?)"', TUTORIAL)
    output = workplace.run([".venv/bin/tudastar", "ask", question, "--domain", "hospital"])
    assert "szemészet M épület" not in output, output


def test_a_tool_that_fails_is_told_on_a_line_of_its_own(workplace: Workplace) -> None:
    bad = workplace.folder.parent / "bad_tool.py"
    bad.write_text("raise ImportError('no such driver')\n", encoding="utf-8")
    ended = subprocess.run(
        [BIN / "tudastar", "ask", "Hol lehet parkolni?", "--domain", "hospital"],
        cwd=ROOT,
        env=workplace.environment | {"TUDASTAR_PLUGINS": str(bad)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert f"left out {bad}" in ended.stderr
    assert "no such driver" in ended.stderr
