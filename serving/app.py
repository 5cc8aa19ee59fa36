"""The FastAPI application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from importlib.metadata import EntryPoint

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from retrieval.knowledge import StoreKnowledgeBase
from retrieval.tools.entity import EntityAnalysisTool
from retrieval.tools.rag import RAGRetrievalTool
from serving.answering import Answerer, FallbackAnswerer, ModelAnswerer
from serving.explicit import ParameterAwareAssistant
from serving.guard import DESCRIPTION, GuardMiddleware
from serving.judging import Judge
from serving.metrics import MeteringMiddleware, Metrics
from serving.model import model_of
from serving.model_judge import ModelJudge
from serving.offline.assistant import OfflineAssistant
from serving.offline.judge import OfflineJudge
from serving.offline.quotes import QuoteAnswerer
from serving.offline.words import word_keys
from serving.phrases import LANGUAGES, DomainPrompts
from serving.platform import Platform
from serving.problems import install_problem_handlers
from serving.routes import chat, chats, health, ingestion, metrics, store, tasks, web
from serving.routes.declared import TOKEN
from serving.scoping import ScopedKnowledgeBase
from serving.settings import Settings
from serving.state.database import database_url
from serving.state.state import State
from serving.turns import ChatServices
from serving.work.platform import Work
from toolkit.discovery import ToolClass
from toolkit.knowledge import KnowledgeBase
from toolkit.llm.assistant import LlmAssistant
from toolkit.registry import ToolRegistry
from toolkit.threads import DaemonThreadPool

logger = logging.getLogger(__name__)

BUILT_INS: tuple[ToolClass, ...] = (EntityAnalysisTool, RAGRetrievalTool)
THREADS_END_SECONDS = 2.0
"""So long the end of the server waits for tools that still run in threads."""
WORKER_THREADS = 32
"""For tools with plain methods and for reading the store."""


def create_app(
    settings: Settings,
    *,
    knowledge: KnowledgeBase | None = None,
    llm: LlmAssistant | None = None,
    built_ins: Iterable[ToolClass] = BUILT_INS,
    plugins: Iterable[EntryPoint] | None = None,
) -> FastAPI:
    """The app over `knowledge`, by default the store of the settings.

    `llm` judges and answers, by default the model of the settings, or else the offline assistant. `plugins`
    stand in for the installed ones. Raises StartupError where the settings would leave the server open.
    """
    settings.check()
    own_model = None if llm is not None else model_of(settings.llm)
    knowledge = knowledge or StoreKnowledgeBase(settings.store)
    state = State(database_url(settings.state, settings.store.parent))
    services = _chat_services(settings, knowledge, llm or own_model, built_ins, plugins)
    work = Work(settings, state, services.registry)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await asyncio.get_running_loop().run_in_executor(services.executor, _warm_up)
        await work.opened()
        try:
            yield
        finally:
            await work.close()
            await state.close()
            if own_model is not None:
                await own_model.aclose()
            services.executor.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(services.executor.join, THREADS_END_SECONDS)

    app = FastAPI(
        title="Tudástár",
        summary="Answers over knowledge stores, every sentence with its source.",
        openapi_url=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.platform = Platform(settings, services, state, work, services.metrics)
    install_problem_handlers(app)
    for routes in (chat, chats, store, tasks, ingestion, metrics):
        app.include_router(routes.router, dependencies=[TOKEN] if settings.tokens else [])
    for open_routes in (health, web):
        app.include_router(open_routes.router)
    app.mount("/static/swagger", web.swagger_files(), name="swagger")
    app.mount("/static", web.PageFiles(), name="static")
    _add_guards(app, settings)
    app.add_middleware(MeteringMiddleware, metrics=services.metrics)
    return app


def _chat_services(
    settings: Settings,
    knowledge: KnowledgeBase,
    llm: LlmAssistant | None,
    built_ins: Iterable[ToolClass],
    plugins: Iterable[EntryPoint] | None,
) -> ChatServices:
    judge: Judge = OfflineJudge()
    answerer: Answerer = QuoteAnswerer()
    if llm is not None:
        judge = ModelJudge(llm, judge)
        answerer = FallbackAnswerer(ModelAnswerer(llm), answerer)
    registry = ToolRegistry(
        built_ins,
        settings.plugins,
        llm=ParameterAwareAssistant(llm or OfflineAssistant()),
        knowledge=ScopedKnowledgeBase(knowledge),
        settings=settings.tools,
        plugins=plugins,
    )
    executor = DaemonThreadPool(WORKER_THREADS, name="serving")
    prompts = DomainPrompts(settings.domain_prompts)
    return ChatServices(registry, knowledge, judge, answerer, settings.limits, executor, prompts, Metrics())


def _add_guards(app: FastAPI, settings: Settings) -> None:
    app.add_middleware(
        GuardMiddleware,
        loopback_only=settings.is_loopback,
        allowed_hosts=settings.allowed_hosts,
        cors_origins=settings.cors_origins,
        tokens=settings.tokens,
        body_bytes=settings.limits.body_bytes,
    )
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors_origins),
            allow_credentials=settings.cors_credentials,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key"],
        )


def _warm_up() -> None:
    """Load the dictionaries once, before several threads would at the same time."""
    for language in LANGUAGES:
        word_keys("szótár", language)
