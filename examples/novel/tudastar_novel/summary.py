"""What a page or chapter is about."""

from __future__ import annotations

import re

from retrieval.tools.page import AbstractPageAnalysisTool
from toolkit.tool import ALL, ToolCall

ASKS_FOR_SUMMARY = re.compile(
    r"foglald? össze|összefoglal|miről szól|mi történ|tartalma|fejezet|oldal|summar|what happens|chapter|\bpage\b",
    re.IGNORECASE,
)


class SummaryTool(AbstractPageAnalysisTool):
    """Page analysis, when the question asks for what happens somewhere.

    To let a model write the summary, override `summarise`: it is a plain method, so call the model by
    `toolkit.execution.wait_for(self.llm.generate_text(…))`.
    """

    name = "summary"
    domain = "novel"
    eligible_system = ALL
    summary_sentences = 5
    vouches = True
    instruction = "Summarises the page or chapter that the question names."
    executable_instruction = (
        "summary: is a summary asked for?\n"
        "- true: what a page, a chapter or the story is about, what happens in it (miről szól, foglald össze)\n"
        "- false: in all other cases"
    )

    def is_about(self, call: ToolCall) -> bool:
        return ASKS_FOR_SUMMARY.search(call.user_prompt) is not None
