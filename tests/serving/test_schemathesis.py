"""Schemathesis against the running app: what the description says and what the app does are one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import BaseModel
from task_tools import CountingTask

from serving.server import StreamEndingServer
from toolkit.clarification import ClarificationSession, ClarifyingQuestion
from toolkit.documents import TextAnswer
from toolkit.kinds import ClarifiableTool
from toolkit.results import ToolExecutionResult
from toolkit.tool import ALL, ToolCall

CONFIGURATION = Path(__file__).parent / "schemathesis.toml"
SUPPORT = Path(__file__).resolve().parents[1] / "support"
USERS = {"anna": "token-of-anna-0123456789", "bela": "token-of-bela-0123456789"}
PATIENCE = 400.0

pytestmark = pytest.mark.slow


class Nothing(BaseModel):
    pass


class Asking(ClarifiableTool[Nothing]):
    """Asks once, and takes any answer."""

    name = "asking"
    eligible_system = ALL
    priority = 0
    request_class = Nothing
    executable_instruction = "asking: never"

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        question = ClarifyingQuestion("day", "Melyik napon?", ("Hétfő",), allow_free_text=True)
        return ToolExecutionResult.needs_clarification(question, "{}", self.name)

    def execute_with_clarification(
        self, session: ClarificationSession, call: ToolCall
    ) -> ToolExecutionResult:
        return ToolExecutionResult.as_answer(self.name, TextAnswer.as_set(str(session.pending_answer)))


@pytest.fixture
def app_for(make_app: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Makes apps that ingest from one folder, though nothing comes of it: a run's program is a stand-in."""
    documents = tmp_path / "documents"
    documents.mkdir()

    def make(**settings: Any) -> Any:
        return make_app(
            CountingTask,
            Asking,
            ingestion_roots=(str(documents),),
            spark_submit=("sh", "-c", "exec sleep 0.5"),
            store=tmp_path / "store",
            **settings,
        )

    return make


def explore(server: StreamEndingServer, folder: Path, *, settings: str = "", token: str = "") -> None:
    """Let Schemathesis look for faults; what it tells of them is how the test fails."""
    configuration = folder / "schemathesis.toml"
    configuration.write_text(settings + CONFIGURATION.read_text())
    port = server.servers[0].sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    description = folder / "openapi.json"
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    description.write_text(httpx.get(f"{url}/api/openapi.json", headers=headers).raise_for_status().text)
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration)),
        *("run", str(description), "--url", url),
    ]
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT), "DOCUMENTS": str(folder / "documents")}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)


def test_r13_3_the_api_is_as_it_describes_itself(
    app_for: Callable[..., Any], running: Callable[..., Any], tmp_path: Path
) -> None:
    with running(app_for()) as server:
        explore(server, tmp_path)


def test_r13_0_every_call_needs_a_token_and_no_user_sees_what_is_anothers(
    app_for: Callable[..., Any], running: Callable[..., Any], tmp_path: Path
) -> None:
    peers = [
        {"name": name, "fixedHeaders": [{"name": "Authorization", "value": f"Bearer {token}"}]}
        for name, token in USERS.items()
    ]
    (tmp_path / "users.json").write_text(json.dumps({"auth": peers}))
    wanted = 'auth.wfc = { path = "users.json", user = "anna", peers = ["anna", "bela"] }\n'
    with running(app_for(users=USERS)) as server:
        explore(server, tmp_path, settings=wanted, token=USERS["anna"])
