"""What holds for the packages as a whole."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("toolkit", "store", "ner", "retrieval", "pipelines", "serving", "jobs")


@pytest.mark.parametrize(
    "package", ["serving.app", "serving.server", "retrieval.knowledge", "toolkit.registry"]
)
def test_serving_loads_neither_spark_nor_spacy(package: str) -> None:
    program = f"import sys, {package}; print(sorted({{'pyspark', 'spacy', 'pandas'}} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_run_with_nothing_new_loads_no_engine() -> None:
    program = (
        "import sys, jobs.cli; print(sorted({'pyspark', 'spacy', 'fastapi', 'openai'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_every_init_file_is_empty() -> None:
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("__init__.py")]
    assert len(files) >= len(PACKAGES)
    assert [path for path in files if path.read_bytes()] == []


def test_no_other_distribution_owns_our_folder_names() -> None:
    owners = importlib.metadata.packages_distributions()
    strangers = {name: set(owners.get(name, ())) - {"tudastar"} for name in PACKAGES}
    assert {name: found for name, found in strangers.items() if found} == {}


def test_the_lock_file_names_no_address_and_hashes_everything() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "://" in line or line.startswith("-")] == []
    pins = [line for line in lines if "==" in line and not line.startswith(" ")]
    assert len(pins) > 50
    assert all(line.endswith("\\") for line in pins)
