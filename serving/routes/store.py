"""Looking into the knowledge stores: domains, pages, entities."""

from __future__ import annotations

import logging
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from serving.errors import ApiError
from serving.platform import platform_of
from serving.routes.declared import followed, problems
from serving.turns import open_domain
from serving.wire import DomainInfo, Domains, Entities, EntityInfo, Name, Page, PageSentence
from toolkit.documents import SUMMARY_SENTENCE
from toolkit.execution import run_tool_method
from toolkit.knowledge import Entity, Knowledge

logger = logging.getLogger(__name__)

router = APIRouter(prefix="/api", tags=["knowledge"])

_THEN = followed(("document_page", "entities"), "domain", "/domains/0/name")
_UNREADABLE = {503: "STORE_UNREADABLE: the domain's store is damaged or of another version."}
_UNKNOWN = {**_UNREADABLE, 404: "UNKNOWN_DOMAIN."}
_UNKNOWN_PAGE = {
    **_UNREADABLE,
    404: "UNKNOWN_DOMAIN; UNKNOWN_PAGE: the document has no such page, or is gone.",
}

DocumentId = Annotated[str, Path(pattern=r"^[0-9]{1,19}$", description="As in a source; a string of digits.")]
Domain = Annotated[Name, Query(description="Name of the domain.")]


@router.get("/domains", responses=problems(_UNREADABLE) | {200: _THEN})
async def domains(request: Request) -> Domains:
    """The domains there are."""
    chat = platform_of(request).chat
    found: list[DomainInfo] = []
    for name in await run_tool_method(chat.knowledge.domains, executor=chat.executor):
        try:
            knowledge = await run_tool_method(chat.knowledge.open, name, executor=chat.executor)
        except Exception:
            logger.exception("domain %s cannot be opened", name)
            continue
        languages = await run_tool_method(lambda k=knowledge: k.languages, executor=chat.executor)
        found.append(DomainInfo(name=name, generation=knowledge.generation, languages=languages))
    return Domains(domains=tuple(found))


@router.get("/documents/{document_id}/pages/{page}", responses=problems(_UNKNOWN_PAGE))
async def document_page(
    request: Request, document_id: DocumentId, page: Annotated[int, Path(ge=0, le=2**31 - 1)], domain: Domain
) -> Page:
    """A page with all its sentences, to see a source in its place. Pages count from 0."""
    chat = platform_of(request).chat
    knowledge = await open_domain(chat.knowledge, domain, chat.executor)
    sentences = await run_tool_method(knowledge.page, int(document_id), page, executor=chat.executor)
    if not sentences:
        raise ApiError(
            404,
            "UNKNOWN_PAGE",
            f"Domain {domain!r} has no page {page} (counted from 0) of document {document_id}. The document "
            "may have changed or gone since the answer was given.",
        )
    summaries = [each.text for each in sentences if each.sentence_number == SUMMARY_SENTENCE]
    return Page(
        domain=domain,
        generation=knowledge.generation,
        document_id=document_id,
        document_name=sentences[0].document_name,
        document_url=sentences[0].document_url,
        page=page,
        summary=summaries[0] if summaries else None,
        sentences=tuple(
            PageSentence(sentence_number=each.sentence_number, text=each.text or "")
            for each in sentences
            if each.sentence_number != SUMMARY_SENTENCE
        ),
    )


@router.get("/entities", responses=problems(_UNKNOWN))
async def entities(
    request: Request,
    domain: Domain,
    q: Annotated[str, Query(min_length=1, max_length=500, description="A text that names them.")],
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> Entities:
    """The entities that a text names, the longest name first."""
    chat = platform_of(request).chat
    knowledge = await open_domain(chat.knowledge, domain, chat.executor)

    def find(knowledge: Knowledge = knowledge) -> list[Entity]:
        return knowledge.find_entities(q, limit=limit)

    found = await run_tool_method(find, executor=chat.executor)
    return Entities(
        entities=tuple(
            EntityInfo(
                entity_id=str(each.entity_id),
                name=each.name,
                label=each.label,
                aliases=each.aliases,
                mention_count=each.mention_count,
                document_count=each.document_count,
            )
            for each in found
        )
    )
