"""Whether the server lives and can answer."""

from __future__ import annotations

from fastapi import APIRouter, Request

from serving.errors import ApiError
from serving.platform import platform_of
from serving.routes.declared import open_problems
from toolkit.execution import run_tool_method

router = APIRouter(tags=["health"])


@router.get("/healthz", responses=open_problems({}))
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get(
    "/readyz", responses=open_problems({503: "STORE_NOT_READABLE: the folder of the stores cannot be read."})
)
async def readyz(request: Request) -> dict[str, object]:
    """The store can be read and the tools are loaded; how many domains there are."""
    chat = platform_of(request).chat
    try:
        names = await run_tool_method(chat.knowledge.domains, executor=chat.executor)
    except Exception as error:
        raise ApiError(503, "STORE_NOT_READABLE", f"The store cannot be read: {error}") from error
    return {"status": "ready", "domains": len(names)}
