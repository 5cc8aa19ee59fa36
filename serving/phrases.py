"""Texts for people and models, kept in files by language: `serving/prompts/<language>/<name>.md`."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from string import Template

LANGUAGES = {"hu": "magyar", "en": "angol"}
"""Code of a language on the wire → its name as tools get it."""


def phrase(language: str, name: str, /, **values: object) -> str:
    """The text with its `$placeholders` filled in; what is put in is not looked at again.

    Raises KeyError when a placeholder has no value, FileNotFoundError when there is no such text.
    """
    return _template(language, name).substitute(values)


@lru_cache(maxsize=128)
def _template(language: str, name: str) -> Template:
    path = files("serving").joinpath("prompts", language, f"{name}.md")
    return Template(path.read_text("utf-8").rstrip("\n"))
