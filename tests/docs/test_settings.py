"""The page of settings is whole and up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("settings_table.py")


def test_the_page_has_every_setting() -> None:
    ended = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
