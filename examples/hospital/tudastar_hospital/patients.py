"""The register of patients. All of them are invented: see `patients.json`."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel

from tudastar_hospital.spelling import fold


class Diagnosis(BaseModel):
    """An illness."""

    code: str
    """ICD-10."""
    name: str


class LabValue(BaseModel):
    """A measured value."""

    name: str
    value: float
    unit: str


class Patient(BaseModel):
    """One case."""

    name: str
    sex: Literal["female", "male"]
    age: int
    diagnoses: list[Diagnosis]
    medicines: list[str]
    labs: list[LabValue]

    def is_named_in(self, text: str) -> bool:
        """Whether a text has the name, also with a case ending and without accents."""
        family, given = fold(self.name).rsplit(" ", 1)
        return re.search(rf"\b{re.escape(family)}\s+{re.escape(given)}\w{{0,4}}\b", fold(text)) is not None

    def has(self, *codes: str) -> bool:
        """Whether a diagnosis has one of these ICD-10 codes, or one that begins with it."""
        return any(diagnosis.code.startswith(codes) for diagnosis in self.diagnoses)

    def described(self) -> dict[str, str]:
        """Texts for `{name}`, `{age}`, `{diagnoses}`, `{medicines}` and `{labs}`."""
        return {
            "name": self.name,
            "age": str(self.age),
            "diagnoses": ", ".join(f"{each.name} ({each.code})" for each in self.diagnoses),
            "medicines": ", ".join(self.medicines),
            "labs": ", ".join(f"{each.name} {each.value:g} {each.unit}" for each in self.labs),
        }


def load_patients() -> list[Patient]:
    """All patients of the register."""
    text = files(__package__).joinpath("patients.json").read_text(encoding="utf-8")
    return [Patient.model_validate(each) for each in json.loads(text)["patients"]]
