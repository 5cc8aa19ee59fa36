from __future__ import annotations

from datetime import date
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from toolkit.errors import ToolParametersError
from toolkit.parameters import MissingValueError, plain_parameters, validated_parameters


class Age(Enum):
    ADULT = "felnőtt"
    CHILD = "gyermek"


class Place(BaseModel):
    model_config = ConfigDict(extra="forbid")

    town: str = "Debrecen"
    floor: int | None = 3


class Clinic(BaseModel):
    age: Age = Age.ADULT
    day: date | None = date(2026, 1, 2)
    place: Place = Field(default_factory=Place, alias="hely")
    places: list[Place] = []
    either: Place | list[str] = []


class Patient(BaseModel):
    patient: str
    visit: date | None = None


def test_r3_2_a_null_takes_the_default_where_the_field_is_not_nullable_and_stays_null_where_it_is() -> None:
    raw = {"age": None, "day": None, "place": None, "places": None, "either": None}

    assert plain_parameters(validated_parameters(Clinic, raw)) == {
        "age": "felnőtt",
        "day": None,
        "place": {"town": "Debrecen", "floor": 3},
        "places": [],
        "either": [],
    }
    assert raw == {"age": None, "day": None, "place": None, "places": None, "either": None}


def test_r3_2_nulls_within_nested_models_lists_and_unions() -> None:
    inner = {"town": None, "floor": None}
    raw = {"place": inner, "places": [inner, {"town": "Eger", "floor": 1}], "either": inner}

    assert plain_parameters(validated_parameters(Clinic, raw)) == {
        "age": "felnőtt",
        "day": "2026-01-02",
        "place": {"town": "Debrecen", "floor": None},
        "places": [{"town": "Debrecen", "floor": None}, {"town": "Eger", "floor": 1}],
        "either": {"town": "Debrecen", "floor": None},
    }


def test_r3_2_field_names_as_written_go_before_aliases_and_survive_a_round_trip() -> None:
    request = validated_parameters(Clinic, {"place": {"town": "Eger"}, "day": "2026-03-15", "age": "gyermek"})
    assert request.place.town == "Eger"
    assert validated_parameters(Clinic, plain_parameters(request)) == request


def test_r8_2_forbidden_extra_keys_are_left_out() -> None:
    request = validated_parameters(Clinic, {"place": {"town": "Eger", "country": "HU"}, "unknown": 1})
    assert request.place == Place(town="Eger")


@pytest.mark.parametrize("raw", [{"patient": None, "visit": None}, {}])
def test_r3_5_null_in_a_mandatory_field_is_told_apart(raw: dict[str, Any]) -> None:
    with pytest.raises(MissingValueError, match="patient: a value is needed"):
        validated_parameters(Patient, raw)


def test_r8_2_wrong_values_are_told_with_place_and_valid_fields() -> None:
    with pytest.raises(ToolParametersError) as caught:
        validated_parameters(Patient, {"patient": None, "visit": "holnap"})
    assert not isinstance(caught.value, MissingValueError)
    message = str(caught.value)
    assert "Patient" in message
    assert "visit: Input should be a valid date" in message
    assert "not holnap" in message
    assert message.endswith("its fields are patient, visit")


def test_long_values_are_cut_in_the_message() -> None:
    with pytest.raises(ToolParametersError) as caught:
        validated_parameters(Patient, {"patient": ["x" * 100_000]})
    assert len(str(caught.value)) < 600
