"""Texts for people and models, kept in files by language: `serving/prompts/<language>/<name>.md`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from string import Template

LANGUAGES = {"hu": "magyar", "en": "angol"}
"""Code of a language on the wire → its name as tools get it."""


def phrase(language: str, name: str, /, **values: object) -> str:
    """The text with its `$placeholders` filled in; what is put in is not looked at again.

    Raises KeyError when a placeholder has no value, FileNotFoundError when there is no such text.
    """
    return _template(language, name).substitute(values)


@dataclass(frozen=True, slots=True)
class DomainPrompts:
    """What a model is told about a domain, in files `<folder>/<language>/<domain>.md`; read at each use."""

    folder: Path | None = None

    def of(self, domain: str, language: str) -> str:
        """The domain's text, empty where there is none. Blocks."""
        if self.folder is None or Path(domain).name != domain:
            return ""
        path = self.folder / language / f"{domain}.md"
        return path.read_text("utf-8").strip() if path.is_file() else ""


@lru_cache(maxsize=128)
def _template(language: str, name: str) -> Template:
    path = files("serving").joinpath("prompts", language, f"{name}.md")
    return Template(path.read_text("utf-8").rstrip("\n"))
