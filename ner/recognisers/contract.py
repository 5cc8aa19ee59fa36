"""What finds names in sentences."""

from __future__ import annotations

import importlib
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from ner.errors import RecogniserError

ENTRY_POINT_GROUP = "tudastar.recognisers"
_SIGNS = " \t\"'`´„”“‘’‚«»‹›()[]{}<>,;:!?…–—-*_/|"
_SENTENCE_END = re.compile(r"(?<!\.)\b\w{4,}\.$")
"""A full stop behind a long word ends a sentence; behind a short one (Kft., Jr.) it belongs to the name."""
BUILT_IN = {
    "spacy": "ner.recognisers.spacy_pipeline:SpacyRecogniser",
    "gazetteer": "ner.recognisers.gazetteer:GazetteerRecogniser",
}


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """A name in a sentence: code points from `start` up to but without `end`."""

    start: int
    end: int
    label: str

    def trimmed(self, sentence: str) -> Mention:
        """The same without signs around the name: quotes, dashes, a sentence's full stop."""
        surface = sentence[self.start : self.end]
        name = surface.lstrip(_SIGNS).rstrip(_SIGNS)
        start = self.start + len(surface) - len(surface.lstrip(_SIGNS))
        if _SENTENCE_END.search(name):
            name = name[:-1]
        return Mention(start, start + len(name), self.label)


class Recogniser(ABC):
    """Finds names. One instance serves one worker process, one call at a time.

    Raising NerError ends the run: the recogniser cannot work at all. Any other exception is a reject of the page
    at hand, whose names are then missing; the run goes on.
    """

    def __init__(self, parameters: Mapping[str, Any], language: str) -> None:
        """Load what is needed. Raises RecogniserError when it is not there or a parameter is wrong."""
        self.parameters = parameters
        self.language = language

    @classmethod
    @abstractmethod
    def fingerprint(cls, parameters: Mapping[str, Any]) -> str:
        """Changes whenever the recogniser could find something else; cheap, without loading a model."""

    @abstractmethod
    def recognise(self, sentences: Sequence[str]) -> list[list[Mention]]:
        """The names of each sentence, which are consecutive sentences of one page."""


def recogniser_class(name: str) -> type[Recogniser]:
    """The class behind a built-in name, an entry point, or `module:attribute`. Raises RecogniserError."""
    target = BUILT_IN.get(name, name)
    if ":" not in target:
        targets = {point.name: point.value for point in entry_points(group=ENTRY_POINT_GROUP)}
        if target not in targets:
            known = ", ".join(sorted(BUILT_IN.keys() | targets.keys()))
            raise RecogniserError(
                f"recogniser {name!r} is not known: use one of {known}, or `module:attribute`"
            )
        target = targets[target]
    module, _, attribute = target.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise RecogniserError(f"recogniser {name!r} cannot be loaded from {target}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Recogniser)):
        raise RecogniserError(f"recogniser {name!r}: {target} is no subclass of Recogniser")
    return found


def combine(found: Sequence[Sequence[Mention]]) -> list[Mention]:
    """One sentence's mentions of several recognisers, none overlapping, in text order.

    An earlier recogniser's mention goes before a later one's; within one, the longer before the shorter,
    then the one further left.
    """
    ranked = [
        (rank, mention.start - mention.end, mention) for rank, row in enumerate(found) for mention in row
    ]
    kept: list[Mention] = []
    for _, _, mention in sorted(ranked):
        if mention.start < mention.end and all(
            mention.end <= other.start or other.end <= mention.start for other in kept
        ):
            kept.append(mention)
    return sorted(kept)
