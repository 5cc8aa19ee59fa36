from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest
from pydantic import BaseModel

from toolkit.schema import strict_json_schema
from toolkit.tool import ALL, ChatbotTool, ToolCall


class DepartmentRequest(BaseModel):
    department: str | None = None


class DepartmentInfo(ChatbotTool[DepartmentRequest]):
    name = "department_info"
    request_class = DepartmentRequest

    def execute_with_result(self, call: ToolCall) -> None:
        return None


def test_r3_1_the_defaults_of_a_tool() -> None:
    tool = DepartmentInfo()
    assert (tool.domain, tool.eligible_system, tool.system_prompt_supplement) == (None, None, None)
    assert tool.is_eligible(None) is True
    assert tool.request_json_schema() == strict_json_schema(DepartmentRequest)
    assert ALL == "ALL"


def test_r3_7_systems_and_words_are_never_none() -> None:
    call = ToolCall("Mikor rendel?", systems=None, important_words=["rendel"])  # type: ignore[arg-type]
    assert (call.systems, call.important_words) == ((), ("rendel",))


def test_a_call_is_read_only_and_keeps_no_hold_on_its_callers_data() -> None:
    user = {"role": "nurse"}
    call = ToolCall("x", user_data=user)
    user["role"] = "admin"
    assert call.user_data == {"role": "nurse"}
    with pytest.raises(TypeError):
        call.user_data["role"] = "admin"  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        call.user_prompt = "y"  # type: ignore[misc]
    assert replace(call, user_prompt="y") == ToolCall("y", user_data={"role": "nurse"})
