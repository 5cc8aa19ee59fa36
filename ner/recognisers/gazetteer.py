"""Names from a list: found in any inflected form, at any size of the list."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ner.errors import RecogniserError
from ner.fingerprint import digest_of
from ner.recognisers.contract import Mention, Recogniser
from ner.text.lemmas import name_lemma

_TOKEN = re.compile(r"\w+(?:[-'’.]\w+)*")


class GazetteerRecogniser(Recogniser):
    """Parameters: `names`, a list of [name, label]; or `file`, a CSV (columns name, label) or JSONL of those.

    A name matches in any inflected form; one with a capital letter in the list must have one in the text.
    """

    def __init__(self, parameters: Mapping[str, Any], language: str) -> None:
        super().__init__(parameters, language)
        self._labels: dict[tuple[str, ...], tuple[str, bool]] = {}
        self._longest: dict[str, int] = {}
        for name, label in _entries(parameters):
            self._add(name, label)

    @classmethod
    def fingerprint(cls, parameters: Mapping[str, Any]) -> str:
        return digest_of(sorted(_entries(parameters)))

    def _add(self, name: str, label: str) -> None:
        words = _TOKEN.findall(name)
        if not words:
            return
        capital = any(word[0].isupper() for word in words)
        for last in {words[-1], name_lemma(words[-1], self.language)}:
            key = (*(word.casefold() for word in words[:-1]), last.casefold())
            self._labels.setdefault(key, (label, capital))
            self._longest[key[0]] = max(self._longest.get(key[0], 0), len(key))

    def recognise(self, sentences: Sequence[str]) -> list[list[Mention]]:
        return [list(self._find(sentence)) for sentence in sentences]

    def _find(self, sentence: str) -> Iterator[Mention]:
        tokens = list(_TOKEN.finditer(sentence))
        forms = [self._forms(token.group()) for token in tokens]
        position = 0
        while position < len(tokens):
            length, label = self._longest_match(tokens, forms, position)
            if length:
                yield Mention(tokens[position].start(), tokens[position + length - 1].end(), label)
            position += max(length, 1)

    def _forms(self, word: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((word.casefold(), name_lemma(word, self.language).casefold())))

    def _longest_match(
        self, tokens: Sequence[re.Match[str]], forms: Sequence[tuple[str, ...]], position: int
    ) -> tuple[int, str]:
        longest = max((self._longest.get(form, 0) for form in forms[position]), default=0)
        for length in range(min(longest, len(tokens) - position), 0, -1):
            end = position + length
            head = tuple(form[0] for form in forms[position : end - 1])
            for last in forms[end - 1]:
                entry = self._labels.get((*head, last))
                if entry and (not entry[1] or any(t.group()[0].isupper() for t in tokens[position:end])):
                    return length, entry[0]
        return 0, ""


def _entries(parameters: Mapping[str, Any]) -> list[tuple[str, str]]:
    if "file" in parameters:
        return [_entry(row, str(parameters["file"])) for row in _rows(Path(str(parameters["file"])))]
    return [(str(name), str(label)) for name, label in parameters.get("names", ())]


def _rows(path: Path) -> Iterable[Mapping[str, Any]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            if path.suffix == ".csv":
                return list(csv.DictReader(lines))
            return [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise RecogniserError(f"gazetteer {path} cannot be read: {error}") from error


def _entry(row: Mapping[str, Any], path: str) -> tuple[str, str]:
    if not row.get("name") or not row.get("label"):
        raise RecogniserError(
            f"gazetteer {path}: each entry needs a name and a label, this one has {dict(row)}"
        )
    return str(row["name"]), str(row["label"])
