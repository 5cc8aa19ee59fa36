"""Names by a spaCy pipeline: one that ships with us, or any that is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ner.fingerprint import digest_of_files
from ner.recognisers.contract import Mention, Recogniser
from ner.recognisers.model_files import model_files, model_folder

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

WINDOW = 8
"""Sentences that are read together, as in the training of the shipped model."""
NEEDED_PIPES = frozenset({"tok2vec", "transformer", "ner", "entity_ruler"})
LABELS = {
    "PERSON": "PER",
    "PER": "PER",
    "GPE": "LOC",
    "LOC": "LOC",
    "FAC": "LOC",
    "ORG": "ORG",
    "NORP": "MISC",
    "PRODUCT": "MISC",
    "EVENT": "MISC",
    "WORK_OF_ART": "MISC",
    "LAW": "MISC",
    "LANGUAGE": "MISC",
    "MISC": "MISC",
}
"""OntoNotes and CoNLL labels to ours; numbers, dates and amounts are no names and are left out."""


class SpacyRecogniser(Recogniser):
    """Parameters: `model`, a shipped or installed pipeline's name; `labels`, a mapping of its labels to ours.

    A label that the mapping lacks is left out.
    """

    @classmethod
    def fingerprint(cls, parameters: Mapping[str, Any]) -> str:
        return digest_of_files(model_files(str(parameters.get("model"))))

    @cached_property
    def _pipeline(self) -> Language:
        import spacy

        folder = model_folder(str(self.parameters.get("model")))
        data = next((meta.parent for meta in sorted(folder.glob("*/meta.json"))), folder)
        available = spacy.util.load_config(data / "config.cfg")["nlp"]["pipeline"]
        return spacy.load(data, exclude=[name for name in available if name not in NEEDED_PIPES])

    def recognise(self, sentences: Sequence[str]) -> list[list[Mention]]:
        found: list[list[Mention]] = [[] for _ in sentences]
        starts = range(0, len(sentences), WINDOW)
        texts = (" ".join(sentences[start : start + WINDOW]) for start in starts)
        with self._pipeline.memory_zone():
            for start, doc in zip(starts, self._pipeline.pipe(texts, batch_size=32), strict=True):
                self._assign(doc, sentences[start : start + WINDOW], found[start : start + WINDOW])
        return found

    def _assign(self, doc: Doc, sentences: Sequence[str], found: Sequence[list[Mention]]) -> None:
        """Give each entity to the sentence that holds it whole; one that spans two is no name."""
        labels = self.parameters.get("labels", LABELS)
        index, offset = 0, 0
        for entity in doc.ents:
            while entity.start_char >= offset + len(sentences[index]) + 1:
                offset += len(sentences[index]) + 1
                index += 1
            label = labels.get(entity.label_)
            if label and entity.end_char <= offset + len(sentences[index]):
                found[index].append(Mention(entity.start_char - offset, entity.end_char - offset, label))
