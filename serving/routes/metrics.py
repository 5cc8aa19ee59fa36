"""Counters for Prometheus."""

from __future__ import annotations

import logging

from fastapi import APIRouter, Request, Response
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from serving.platform import platform_of
from serving.routes.declared import problems
from toolkit.execution import run_tool_method
from toolkit.knowledge import KnowledgeBase

logger = logging.getLogger(__name__)

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    response_class=Response,
    responses=problems({})
    | {
        200: {
            "description": "Prometheus' text format.",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        }
    },
)
async def metrics(request: Request) -> Response:
    """What this process has counted since it started, and what the store and the state hold now."""
    platform = platform_of(request)
    work = await platform.work.opened()
    knowledge, executor = platform.chat.knowledge, platform.chat.executor
    generations = await run_tool_method(lambda: _generations(knowledge), executor=executor)
    body = platform.metrics.exposition(await work.counts(), generations)
    return Response(body, media_type=CONTENT_TYPE_LATEST)


def _generations(knowledge: KnowledgeBase) -> dict[str, int]:
    """By domain; one that cannot be opened is left out."""
    found: dict[str, int] = {}
    for name in knowledge.domains():
        try:
            found[name] = knowledge.open(name).generation
        except Exception:
            logger.exception("domain %s cannot be opened", name)
    return found
