"""The digest of the code that decides what a store holds."""

from __future__ import annotations

from importlib.resources import files

from ner.fingerprint import digest_of, digest_of_files

CODE_OF_RESULTS = ("ner", "pipelines.stages", "pipelines.formats", "retrieval.index", "store")
"""Packages whose code decides what a store holds; any change in them has everything read again."""


def code_fingerprint() -> str:
    """Hex digest of that code; the same from a checkout, an installed package and a zip."""
    return digest_of([digest_of_files(files(package), ".py") for package in CODE_OF_RESULTS])
