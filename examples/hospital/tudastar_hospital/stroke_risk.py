"""CHA2DS2-VASc, the risk of stroke in atrial fibrillation: Lip et al. 2010, Chest 137(2):263-272."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tudastar_hospital.patients import Patient

ATRIAL_FIBRILLATION = "I48"


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the score."""

    points: int
    magyar: str
    angol: str
    counts: Callable[[Patient], bool]


ITEMS = (
    Item(1, "szívelégtelenség", "heart failure", lambda case: case.has("I50")),
    Item(1, "magas vérnyomás", "hypertension", lambda case: case.has("I10", "I11", "I12", "I13", "I15")),
    Item(2, "legalább 75 éves", "aged 75 or more", lambda case: case.age >= 75),
    Item(1, "cukorbetegség", "diabetes", lambda case: case.has("E10", "E11", "E12", "E13", "E14")),
    Item(
        2, "stroke, TIA vagy embólia", "stroke, TIA or embolism", lambda case: case.has("I63", "G45", "I74")
    ),
    Item(1, "érbetegség", "vascular disease", lambda case: case.has("I21", "I22", "I25.2", "I70")),
    Item(1, "65–74 éves", "aged 65 to 74", lambda case: 65 <= case.age <= 74),
    Item(1, "nő", "female", lambda case: case.sex == "female"),
)


def counted_items(patient: Patient) -> list[Item]:
    """The items that count for a patient; the sum of their points, from 0 to 9, is the score."""
    return [item for item in ITEMS if item.counts(patient)]
