from __future__ import annotations

import asyncio

from sample_tools import Request, Routed

from toolkit.llm.drawing import draw_request
from toolkit.testing.llm import ScriptedLlm
from toolkit.tool import ToolCall


class Drawing(Routed):
    instruction = "patient: a beteg neve"


def drawn(llm: ScriptedLlm, call: ToolCall, **options: str) -> Request | None:
    return asyncio.run(draw_request(llm, Drawing(), call, **options))


def test_r3_5_the_request_comes_validated_or_not_at_all() -> None:
    call = ToolCall("Ki Őri Gergő?")
    assert drawn(ScriptedLlm({"routed": {"patient": "Őri Gergő"}}), call) == Request(patient="Őri Gergő")
    assert drawn(ScriptedLlm({"routed": None}), call) is None
    assert drawn(ScriptedLlm(), call) is None


def test_r3_6_r3_8_the_general_prompt_is_in_the_users_language_and_has_the_instruction() -> None:
    for user_lang, beginning in (("magyar", "Töltsd ki"), ("angol", "Fill in")):
        llm = ScriptedLlm()
        drawn(llm, ToolCall("?", user_lang=user_lang))
        assert llm.calls[0].system_prompt.startswith(beginning)
        assert llm.calls[0].system_prompt.endswith("patient: a beteg neve")


def test_r3_6_a_prompt_of_ones_own() -> None:
    llm = ScriptedLlm()
    drawn(llm, ToolCall("?"), system_prompt="Csak a név. %s|%s", tasks="sürgős")
    assert llm.calls[0].system_prompt == "Csak a név. sürgős|patient: a beteg neve"
