"""An ingestion tool with a quick recogniser that can be held up, for runs in processes of their own."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ner.ingestion import AbstractNERIngestionTool
from ner.recognisers.contract import Mention, Recogniser
from ner.spec import DomainSpec, RecogniserSpec

GATE = "TUDASTAR_TEST_GATE"
"""Environment variable: names are recognised once the file that it names is there."""
NAME = "Kelemen Anna"


class GatedRecogniser(Recogniser):
    """Finds one name, once the gate is open."""

    @classmethod
    def fingerprint(cls, parameters: Mapping[str, Any]) -> str:
        return "gated"

    def recognise(self, sentences: Sequence[str]) -> list[list[Mention]]:
        gate = os.environ.get(GATE)
        while gate and not Path(gate).exists():
            time.sleep(0.05)
        return [
            [Mention(at, at + len(NAME), "PER")] if (at := sentence.find(NAME)) >= 0 else []
            for sentence in sentences
        ]


class WardIngestionTool(AbstractNERIngestionTool):
    """Fills the domain `ward`."""

    name = "ward_ingestion"

    def domain_spec(self) -> DomainSpec:
        recogniser = RecogniserSpec("ingestion_tools:GatedRecogniser")
        return DomainSpec(domain="ward", languages=("hu",), recognisers=(recogniser,))
