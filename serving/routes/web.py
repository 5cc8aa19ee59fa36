"""The chat page: one HTML file with style sheets and JavaScript modules, served as they are."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

router = APIRouter(include_in_schema=False)

_FRESH = {"Cache-Control": "no-cache"}


@router.get("/")
async def index() -> FileResponse:
    """The page."""
    return FileResponse(web_folder() / "index.html", headers=_FRESH)


@router.get("/docs")
async def docs() -> FileResponse:
    """The page of the API, where calls can be tried."""
    return FileResponse(web_folder() / "docs.html", headers=_FRESH)


class PageFiles(StaticFiles):
    """The page's files; a browser asks each time whether they changed."""

    def __init__(self) -> None:
        super().__init__(directory=web_folder())

    def file_response(self, *args: object, **kwargs: object) -> Response:
        """With the header that makes the browser ask."""
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers.update(_FRESH)
        return response


def swagger_files() -> StaticFiles:
    """Swagger UI, as a package ships it; nothing comes from the network."""
    return StaticFiles(packages=[("fastapi_offline", "static")])


def web_folder() -> Path:
    """Where the page's files lie."""
    return Path(str(files("serving"))) / "web"
