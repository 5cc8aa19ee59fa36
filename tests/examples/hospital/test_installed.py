"""The plugin as its user has it: built, installed, and found by its entry points."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def run(*command: str | Path, **environment: str) -> str:
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **environment}
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow
def test_r2_1_the_installed_plugin_is_found_and_answers(tmp_path: Path, sample_store: Path) -> None:
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--no-deps", "--no-build-isolation", "--target", tmp_path, "examples/hospital")
    ask = (sys.executable, "-m", "jobs", "ask", "--domain", "hospital", "--store", sample_store)
    question = "Mekkora Kőszegi Tünde stroke-kockázata?"
    assert "CHA2DS2-VASc" not in run(*ask, question)
    assert "Kőszegi Tünde, CHA2DS2-VASc: 4" in run(*ask, question, PYTHONPATH=str(tmp_path))
