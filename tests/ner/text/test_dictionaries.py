from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from simplemma import lemmatize

from ner.text import dictionaries as module
from ner.text.dictionaries import compile_tries, dictionaries
from ner.text.lemmas import lemma

WORDS = ("Gergőnek", "kutyákat", "szakrendelésre", "Egerben", "ház", "xyzzy", "törökök")


@pytest.fixture
def fresh() -> Iterator[None]:
    dictionaries.cache_clear()
    yield
    dictionaries.cache_clear()


def test_the_tries_say_what_the_dictionaries_say() -> None:
    assert [lemma(word, "hu") for word in WORDS] == [lemmatize(word, lang="hu") for word in WORDS]


def test_tries_appear_whole_and_are_made_once(tmp_path: Path) -> None:
    compile_tries(tmp_path / "cache")
    files = sorted((tmp_path / "cache").iterdir())
    assert [path.name for path in files] == ["en.dic", "hu.dic"]
    before = [path.stat().st_mtime_ns for path in files]
    compile_tries(tmp_path / "cache")
    assert [path.stat().st_mtime_ns for path in files] == before


def test_without_a_place_for_them_each_process_decodes_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(module, "_folder", lambda: tmp_path / "file" / "cache")
    assert dictionaries().get_dictionary("en").get("houses") == "house"
    assert "decodes its own" in caplog.text
