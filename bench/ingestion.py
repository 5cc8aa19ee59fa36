"""A whole ingestion: time by stage, words a second, and the memory of all its processes together.

Run: python -m bench.ingestion FILE [--engine local|spark] [--language hu]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

PAUSE_SECONDS = 0.2


def measure(source: Path, engine: str, language: str) -> dict[str, object]:
    """Ingest into a store of its own and watch the processes; memory in MiB, shared pages counted once each."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "jobs", "ingest", str(source), "--domain", "bench", "--json"]
        command += ["--engine", engine, "--language", language, "--store", folder]
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        peak = 0
        while process.poll() is None:
            peak = max(peak, _memory(process.pid))
            time.sleep(PAUSE_SECONDS)
        seconds = time.monotonic() - began
        output = process.stdout.read() if process.stdout else ""
    report = json.loads(output)
    words = len(source.read_text(encoding="utf-8").split())
    return {
        "engine": engine,
        "words": words,
        "seconds": round(seconds, 1),
        "words_a_second": round(words / seconds),
        "peak_mib": peak // 2**20,
        "stages": report["seconds"],
    }


def _memory(pid: int) -> int:
    """Proportional set size of a process and all below it."""
    try:
        parent = psutil.Process(pid)
        family = [parent, *parent.children(recursive=True)]
    except psutil.Error:
        return 0
    total = 0
    for process in family:
        try:
            total += process.memory_full_info().pss
        except psutil.Error:
            continue
    return total


def main() -> None:
    """Print a JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("--engine", choices=("local", "spark"), default="local")
    parser.add_argument("--language", default="auto")
    arguments = parser.parse_args()
    print(json.dumps(measure(arguments.source, arguments.engine, arguments.language)))


if __name__ == "__main__":
    main()
