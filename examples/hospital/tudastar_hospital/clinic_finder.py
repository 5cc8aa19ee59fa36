"""A tool that asks: consultation hours for adults or children, at a site of the hospital."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import takewhile
from typing import Literal

from pydantic import BaseModel

from toolkit.documents import UniqueTextDocument, merge_documents
from toolkit.questionnaire import AbstractClarifiableTool
from toolkit.questions import Question
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ToolCall
from tudastar_hospital.spelling import fold

HEADING = re.compile(r"(?P<age>Felnőtt|Gyermek)\w*.*, (?P<site>.+ telep)\b")
"""Of a list of consultations in the pages: `Felnőtt szakrendelések, Fő utcai telep`."""


class Age(StrEnum):
    """Whom the consultation is for."""

    ADULT = "ADULT"
    CHILD = "CHILD"
    BOTH = "BOTH"


AGES = {"Felnőtt": Age.ADULT, "Gyermek": Age.CHILD}
"""By the first word of a heading."""


class Site(StrEnum):
    """The hospital's sites; `Site("a Malom utcában")` is one as well."""

    MAIN = "Fő utcai telep"
    MILL = "Malom utcai telep"

    @classmethod
    def _missing_(cls, value: object) -> Site | None:
        said = re.findall(r"\w+", fold(str(value)))
        return next((site for site in cls if fold(site).split()[0] in said), None)


class ClinicRequest(BaseModel):
    """What is drawn from the question, or asked."""

    wanted: Literal["CONSULTATION"] | None = None
    specialty: str | None = None
    age: Age | None = None
    place: Site | None = None


class ClinicFinderTool(AbstractClarifiableTool[ClinicRequest]):
    """Finds consultations in the ingested pages; asks for the age group, then for the site where it matters."""

    name = "clinic_finder"
    domain = "hospital"
    eligible_system = ALL
    priority = 0
    request_class = ClinicRequest
    instruction = (
        "wanted: CONSULTATION = szakrendelés clinic; null when none is looked for\n\n"
        'specialty: Hungarian name, as "belgyógyászat", "bőrgyógyászat", "kardiológia", "neurológia", '
        '"nőgyógyászat", "ortopédia", "radiológia", "sebészet", "szemészet", "szülészet"; null when none is named\n\n'
        "age: ADULT = felnőtt, CHILD = gyermek gyerek, BOTH = mindkettő; null when not told\n\n"
        "place: the site; null when not told"
    )
    executable_instruction = (
        "clinic_finder: true if a consultation (szakrendelés) is looked for; false in all other cases"
    )

    def init(self, services: Services) -> None:
        self.knowledge = services.knowledge
        self.questions = (
            Question(
                "age",
                {
                    "magyar": "Felnőttnek vagy gyermeknek keres rendelést?",
                    "angol": "Is it for an adult or for a child?",
                },
                {
                    Age.ADULT: {"magyar": "Felnőtt", "angol": "Adult"},
                    Age.CHILD: {"magyar": "Gyermek", "angol": "Child"},
                    Age.BOTH: {"magyar": "Mindkettő érdekel", "angol": "Both"},
                },
            ),
            Question(
                "place",
                {"magyar": "Melyik telephelyen?", "angol": "At which site?"},
                self.sites,
                allow_free_text=True,
            ),
        )
        super().init(services)

    async def draw(self, call: ToolCall) -> ClinicRequest | None:
        request = await super().draw(call)
        return request if request and request.wanted else None

    def sites(self, request: ClinicRequest, call: ToolCall) -> list[str]:
        """Those with a fitting consultation: with one alone, or none, the question is spared."""
        found = {site for site, _, _ in self.consultations(request, call)}
        return [site for site in Site if site in found]

    def execute_with_request(self, request: ClinicRequest, call: ToolCall) -> ToolExecutionResult | None:
        found = [
            (heading, row)
            for site, heading, row in self.consultations(request, call)
            if site is request.place
        ]
        documents = merge_documents(*found)
        return ToolExecutionResult.as_guaranteed_context(self.name, documents) if documents else None

    def consultations(
        self, request: ClinicRequest, call: ToolCall
    ) -> Iterator[tuple[Site, UniqueTextDocument, UniqueTextDocument]]:
        """Site, heading and row of those that fit the specialty and the age group."""
        knowledge = self.knowledge.open(call.domain)
        hits = knowledge.search("felnőtt szakrendelések gyermekrendelések telep", call.systems, limit=20)
        for place in dict.fromkeys((hit.document_id, hit.page) for hit in hits):
            for age, site, heading, rows in _lists(knowledge.page(*place)):
                if request.age in (Age.BOTH, age):
                    fitting = (row for row in rows if fold(request.specialty or "") in fold(row.text or ""))
                    yield from ((site, heading, row) for row in fitting)


def _lists(
    page: Sequence[UniqueTextDocument],
) -> Iterator[tuple[Age, Site, UniqueTextDocument, list[UniqueTextDocument]]]:
    """Age group, site, heading and rows of the lists on a page; a line with the columns' names is between them."""
    for at, heading in enumerate(page):
        found = HEADING.match(heading.text or "")
        if found:
            rows = takewhile(lambda row: re.search(r"\d", row.text or ""), page[at + 2 :])
            yield AGES[found["age"]], Site(found["site"]), heading, list(rows)
