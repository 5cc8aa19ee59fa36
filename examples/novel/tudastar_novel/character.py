"""Who a character is: all names, company, and the sentences that say most."""

from __future__ import annotations

from retrieval.tools.entity import AbstractEntityAnalysisTool
from toolkit.tool import ALL


class CharacterTool(AbstractEntityAnalysisTool):
    """Entity analysis, narrowed to persons; the base does the work."""

    name = "character"
    domain = "novel"
    eligible_system = ALL
    labels = frozenset({"PER"})
    instruction = "Describes the characters that the question names."
    executable_instruction = (
        "character: is the question about a character of the novel?\n"
        "- true: who somebody is, by what names, among whom he moves (ki, kicsoda, kivel)\n"
        "- false: in all other cases"
    )
    system_prompt_supplement = (
        "A character goes by several names; those listed together are one person's. Tell what the story has "
        "told up to the sentences given, and nothing from elsewhere."
    )
