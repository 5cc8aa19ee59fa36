"""Which engine runs, and why."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pipelines.engines.contract import Engine
from pipelines.engines.local import LocalEngine
from pipelines.errors import EngineError

ENGINES = ("auto", "spark", "local")
OLDEST_JAVA = 17
JAVA_HELP = "install it with `apt-get install openjdk-17-jre-headless` (Debian, Ubuntu) or from adoptium.net"


@dataclass(frozen=True, slots=True)
class Choice:
    """An engine's name, and the reason in words."""

    engine: str
    reason: str


def java_version() -> int | None:
    """The major version of the Java that Spark would start, or None."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if not program:
        return None
    try:
        answer = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=30, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(found.group(1)) if found else None


def choose(wanted: str) -> Choice:
    """The engine for `auto`, `spark` or `local`. Raises EngineError when it cannot run here."""
    if wanted not in ENGINES:
        raise EngineError(f"engine {wanted!r} is not known: use one of {', '.join(ENGINES)}")
    if wanted == "local":
        return Choice("local", "local engine, as asked for")
    java = java_version()
    if java is not None and java >= OLDEST_JAVA:
        return Choice(
            "spark", f"Spark, as Java {java} was found" if wanted == "auto" else "Spark, as asked for"
        )
    lacking = "no Java was found" if java is None else f"Java {java} is too old"
    if wanted == "spark":
        raise EngineError(f"Spark needs Java {OLDEST_JAVA} or newer, and {lacking}: {JAVA_HELP}")
    return Choice("local", f"local engine, as {lacking} (Spark needs {OLDEST_JAVA} or newer: {JAVA_HELP})")


def make(choice: Choice, master: str | None = None) -> Engine:
    """The chosen engine. Nothing is started before it is used."""
    if choice.engine == "spark":
        from pipelines.engines.spark import SparkEngine

        return SparkEngine(master or _master_of_submit())
    return LocalEngine()


def _master_of_submit() -> str | None:
    """Under `spark-submit` Spark knows its master by itself; else all cores of this machine."""
    return None if "SPARK_ENV_LOADED" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ else "local[*]"
