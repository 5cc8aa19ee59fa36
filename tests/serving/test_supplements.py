"""Which tools' supplements reach the system prompt of the final answer, and in what order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from pydantic import BaseModel

from toolkit.documents import InternalContextDocument, TextAnswer
from toolkit.kinds import OrchestratorActivatedTool
from toolkit.results import ToolExecutionResult
from toolkit.testing.llm import ScriptedLlm
from toolkit.tool import ALL, ChatbotTool, ToolCall

QUESTION = "Hol parkolhatnak a betegek, és mikor?"
PARTS = ["Hol parkolhatnak a betegek?", "Mikor parkolhatnak a betegek?"]


class Nothing(BaseModel):
    pass


class Late(OrchestratorActivatedTool[Nothing]):
    name: ClassVar[str] = "late"
    eligible_system = ALL
    priority: ClassVar[int] = 2
    request_class = Nothing
    system_prompt_supplement: ClassVar[str | None] = "Kiegészítés: late."

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        return ToolExecutionResult.as_context(self.name, [TextAnswer.of("A betegek parkolhatnak.")])


class Early(Late):
    name = "early"
    priority = 1
    system_prompt_supplement = "Kiegészítés: early."


class Silent(Late):
    name = "silent"
    system_prompt_supplement = "Kiegészítés: silent."

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        return None


class Hidden(Late):
    name = "hidden"
    system_prompt_supplement = "Kiegészítés: hidden."

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        return ToolExecutionResult.as_context(self.name, [InternalContextDocument.of("csak eszköznek")])


class Routed(ChatbotTool[Nothing]):
    name = "routed"
    request_class = Nothing
    executable_instruction = "routed: true"
    system_prompt_supplement = "Kiegészítés: routed."

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        return ToolExecutionResult.as_context(self.name, [TextAnswer.of("A betegek északon parkolhatnak.")])


async def test_r3_10_supplements_stand_once_in_a_fixed_order_for_tools_that_gave_a_context(
    make_app: Callable[..., Any], chat: Callable[..., Any]
) -> None:
    settled = {"language": "hu", "important_words": ["betegek"]}
    picked, insufficient = [{"rag_retrieval": True}] * 2, [{"suffices": False}] * 4
    objects = [settled, {"routed": True}, {"sub_queries": PARTS}, *picked, *insufficient]
    llm = ScriptedLlm(objects=objects, texts=["Északon [1]."])
    await chat(make_app(Late, Silent, Hidden, Early, Routed, llm=llm), QUESTION)
    (prompt,) = (each.system_prompt for each in llm.calls if each.method == "stream_text")
    found = [line for line in prompt.splitlines() if "Kiegészítés" in line]
    assert found == [f"{name}: Kiegészítés: {name}." for name in ("routed", "early", "late")]
