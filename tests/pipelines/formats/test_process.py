from __future__ import annotations

import hashlib
import sys
import textwrap
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from pipelines.errors import EngineError
from pipelines.formats.contract import CODES, FormatError, RawDocument, RawReject, SourceFile
from pipelines.formats.process import Limits, ParserProcess, close_parsers
from pipelines.formats.reader import read_file

PARSER = """
import ctypes, os, sys, time
from pipelines.formats.child import serve
from pipelines.formats.contract import FormatError, RawPage
from pipelines.formats.take import Content

def take(content, kind, name):
    print("a library that prints")
    if name == "hangs":
        time.sleep(600)
    if name == "spins":
        ctypes.PyDLL(None).sleep(600)  # C code that never lets go of the interpreter
    if name == "crashes":
        ctypes.string_at(0)
    if name == "leaves":
        os._exit(7)
    if name == "eats":
        eaten = []
        while True:
            eaten.append(b"x" * 1_000_000)
    if name == "talks":
        return Content(None, "text/plain", [RawPage(None, "x" * 3_000_000)])
    if name == "locked":
        raise FormatError("encrypted", "a password is needed")
    return Content(str(os.getpid()), "text/plain", [RawPage("h", content.decode())], {"a": [1]})

serve(take, int(sys.argv[1]))
"""
LIMITS = Limits(seconds=1.0, memory=200 << 20, output=2 << 20)


@pytest.fixture
def parser(tmp_path: Path) -> Iterator[ParserProcess]:
    """A parser whose documents misbehave by their names."""
    script = tmp_path / "parser.py"
    script.write_text(textwrap.dedent(PARSER), encoding="utf-8")
    made = ParserProcess(LIMITS, (sys.executable, str(script), str(LIMITS.memory)))
    yield made
    made.close()


@pytest.fixture
def take(parser: ParserProcess, tmp_path: Path) -> Callable[[str], str]:
    """Take a document apart; the process that did it."""
    (tmp_path / "a").write_text("Dobó", encoding="utf-8")

    def by(name: str) -> str:
        found, sha256 = parser.take(str(tmp_path / "a"), "rich", name)
        assert [(page.heading, page.text) for page in found.pages] == [("h", "Dobó")]
        assert (found.metadata, sha256) == ({"a": [1]}, hashlib.sha256("Dobó".encode()).hexdigest())
        return str(found.title)

    return by


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [
        ("hangs", "timed_out", "1 seconds"),
        ("spins", "timed_out", "1 seconds"),
        ("crashes", "crashed", "SIGSEGV"),
        ("leaves", "crashed", "status 7"),
        ("eats", "too_large", "200 MB of memory"),
        ("talks", "too_large", "2 MB of text"),
    ],
)
def test_r10_5_a_parser_that_misbehaves_is_replaced_and_the_next_file_is_read(
    take: Callable[[str], str], name: str, code: str, word: str
) -> None:
    before = take("good")
    start = time.monotonic()
    with pytest.raises(FormatError, match=word) as caught:
        take(name)
    assert caught.value.code == code
    assert time.monotonic() - start < 10
    after = take("good")
    assert after != before
    assert not psutil.pid_exists(int(before))


def test_r10_5_a_process_reads_many_files_and_keeps_on_after_a_bad_one(take: Callable[[str], str]) -> None:
    first = take("good")
    with pytest.raises(FormatError) as caught:
        take("locked")
    assert caught.value.code == "encrypted"
    assert {take("good") for _ in range(20)} == {first}


def test_a_process_that_ended_between_two_files_costs_none(take: Callable[[str], str]) -> None:
    psutil.Process(int(take("good"))).kill()
    time.sleep(0.2)
    assert take("good")


def test_threads_take_turns(take: Callable[[str], str]) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(take("good"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_parser_that_cannot_start_ends_the_run_and_rejects_nothing(tmp_path: Path) -> None:
    for command in ((str(tmp_path / "nothing"),), (sys.executable, "-c", "pass")):
        with pytest.raises(EngineError, match="cannot be started"):
            ParserProcess(LIMITS, command).take("a", "rich", "a")


def outcome_of(path: Path, limits: Limits = LIMITS) -> RawDocument | RawReject:
    [outcome] = read_file(SourceFile(str(path), path.name, path.stat().st_size), limits)
    close_parsers()
    return outcome


def test_closing_leaves_no_process(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_text("<p>Dobó", encoding="utf-8")
    assert isinstance(outcome_of(page), RawDocument)
    assert not [each for each in psutil.Process().children() if "formats.child" in " ".join(each.cmdline())]


def test_r10_5_real_files_beyond_a_limit_are_rejects(tmp_path: Path) -> None:
    large, bomb = tmp_path / "large.html", tmp_path / "bomb.docx"
    large.write_text("<p>Dobó <b>István</b></p>" * 100_000, encoding="utf-8")
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("[Content_Types].xml", "<Types/>")
        made.writestr("word/document.xml", "<d>" + "x" * 50_000_000)
    for path, limits, code in [
        (large, Limits(memory=48 << 20), "too_large"),
        (large, Limits(output=1 << 20), "too_large"),
        (large, Limits(seconds=0.2), "timed_out"),
        (bomb, Limits(), "too_large"),
    ]:
        outcome = outcome_of(path, limits)
        assert isinstance(outcome, RawReject)
        assert (outcome.code, outcome.code in CODES) == (code, True), outcome.message
