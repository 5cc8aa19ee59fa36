from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pipelines.errors import SourceError
from pipelines.formats.listing import list_source


def fill(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def ids(root: str) -> list[str]:
    return [file.source_id for file in list_source(root).files]


def test_a_single_file_is_known_by_its_name(tmp_path: Path) -> None:
    fill(tmp_path, "a/readme.md")
    [file] = list_source(str(tmp_path / "a" / "readme.md")).files
    assert (file.source_id, file.path, file.size) == ("readme.md", str(tmp_path / "a" / "readme.md"), 11)


def test_a_folder_is_listed_with_all_below_it_but_hidden_files(tmp_path: Path) -> None:
    fill(tmp_path, "b/readme.md", "a/readme.md", "z.txt", ".git/x", "a/.hidden", "a/c/d.txt")
    listing = list_source(str(tmp_path))
    assert [file.source_id for file in listing.files] == ["a/c/d.txt", "a/readme.md", "b/readme.md", "z.txt"]
    assert listing.complete


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.txt", ["x.txt"]),
        ("**/*.txt", ["a/b/x.txt", "a/x.txt", "x.txt"]),
        ("a/**/x.txt", ["b/x.txt", "x.txt"]),
        ("a", ["b/x.txt", "x.md", "x.txt"]),
        ("?", ["a/b/x.txt", "a/x.md", "a/x.txt"]),
        ("a/*.[m]d", ["x.md"]),
        ("**", ["a/b/x.txt", "a/x.md", "a/x.txt", "x.txt"]),
    ],
)
def test_a_glob(tmp_path: Path, pattern: str, expected: list[str]) -> None:
    fill(tmp_path, "x.txt", "a/x.txt", "a/x.md", "a/b/x.txt", ".h/x.txt")
    assert ids(f"{tmp_path}/{pattern}") == expected


@pytest.mark.parametrize("name", ["missing", "*.txt", "missing/*.txt", ""])
def test_nothing_found_is_an_error_that_names_the_root(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    root = f"{tmp_path}/empty/{name}"
    with pytest.raises(SourceError, match=r"no file at .*empty"):
        list_source(root)


def test_links_that_lead_back_are_passed_over(tmp_path: Path) -> None:
    fill(tmp_path, "a/x.txt", "other/y.txt")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "a" / "link").symlink_to(tmp_path / "other")
    assert ids(str(tmp_path)) == ["a/link/y.txt", "a/x.txt", "other/y.txt"]
    assert ids(f"{tmp_path}/**/*.txt") == ["a/link/y.txt", "a/x.txt", "other/y.txt"]


def test_r10_5_what_cannot_be_looked_at_makes_the_listing_incomplete(tmp_path: Path) -> None:
    fill(tmp_path, "a.txt")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    listing = list_source(str(tmp_path))
    assert [file.source_id for file in listing.files] == ["a.txt"]
    assert [(reject.source_id, reject.code) for reject in listing.rejects] == [("gone.txt", "unreadable")]
    assert not listing.complete


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
def test_r10_5_a_locked_folder_makes_the_listing_incomplete(tmp_path: Path) -> None:
    fill(tmp_path, "a.txt", "locked/b.txt")
    (tmp_path / "locked").chmod(0)
    try:
        listing = list_source(str(tmp_path))
    finally:
        (tmp_path / "locked").chmod(0o700)
    assert [reject.source_id for reject in listing.rejects] == ["locked"]


def test_r10_5_a_folder_that_vanishes_makes_the_listing_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, "a.txt", "b/c.txt")
    scandir = os.scandir

    def failing(path: str | Path) -> object:
        if str(path).endswith("b"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", failing)
    listing = list_source(str(tmp_path))
    assert [reject.message for reject in listing.rejects] == ["b: folder cannot be listed: Permission denied"]


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux alone")
def test_any_name_is_listed_under_a_valid_id_of_its_own(tmp_path: Path) -> None:
    names = ["ékezet.txt".encode(), "e\u0301kezet.txt".encode(), b"\xff.txt", b"a b #%.txt"]
    for name in names:
        with open(os.path.join(os.fsencode(tmp_path), name), "wb"):  # noqa: PTH118, PTH123
            pass
    listing = list_source(str(tmp_path))
    assert [file.source_id for file in listing.files] == [
        "\\xff.txt",
        "a b #%.txt",
        "ékezet.txt",
        "ékezet.txt~",
    ]
    assert all(os.path.exists(file.path) for file in listing.files)  # noqa: PTH110
