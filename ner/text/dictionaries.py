"""simplemma's dictionaries, compiled once to tries that open at once and are shared by all processes.

Decoding the Hungarian dictionary takes some three seconds and 200 MB in every process; its trie is a file of 9 MB
in the user's cache folder.
"""

from __future__ import annotations

import logging
import tempfile
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from platformdirs import user_cache_path
from simplemma.strategies.dictionaries import (
    DefaultDictionaryFactory,
    DictionaryFactory,
    TrieDictionaryFactory,
)

LANGUAGES = ("hu", "en")

log = logging.getLogger(__name__)


@lru_cache(maxsize=1)
def dictionaries() -> DictionaryFactory:
    """The dictionaries by language: tries where they are or can be compiled, else decoded in memory."""
    folder = _folder()
    try:
        compile_tries(folder)
    except OSError as error:
        log.warning("dictionaries cannot be kept in %s (%s): this process decodes its own", folder, error)
        return DefaultDictionaryFactory()
    return TrieDictionaryFactory(disk_cache_dir=str(folder))


def compile_tries(folder: Path) -> None:
    """Make the tries that are missing; each appears whole. Raises OSError when the folder cannot be written."""
    missing = [language for language in LANGUAGES if not (folder / f"{language}.dic").exists()]
    if not missing:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".compiling-") as aside:
        factory = TrieDictionaryFactory(disk_cache_dir=aside)
        for language in missing:
            factory.get_dictionary(language)
            (Path(aside) / f"{language}.dic").replace(folder / f"{language}.dic")


def _folder() -> Path:
    return user_cache_path("tudastar", appauthor=False) / f"simplemma-{version('simplemma')}"
