"""What one running app counts, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
"""Upper bounds of the histograms; a model's answer takes up to minutes."""
METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
OTHER = "other"
"""Label of other methods and of requests to nowhere, which could make labels without end."""


class Metrics:
    """The counters of one app, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)
        self._requests = Counter(
            "tudastar_http_requests", "HTTP requests.", ("method", "route", "status"), registry=self._registry
        )
        self._turns = Counter(
            "tudastar_chat_turns",
            "Questions, and answers to questions of tools, by what came of them.",
            ("outcome",),
            registry=self._registry,
        )
        self._turn_seconds = Histogram(
            "tudastar_chat_turn_seconds",
            "From a message to its answer.",
            buckets=SECONDS,
            registry=self._registry,
        )
        self._running = Gauge("tudastar_chat_turns_running", "Answers being made.", registry=self._registry)
        self._tools = Histogram(
            "tudastar_tool_seconds",
            "Runs of tools, without the wait for a free place.",
            ("tool", "outcome"),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._jobs = Gauge(
            "tudastar_jobs", "Tasks and ingestion runs kept.", ("kind", "status"), registry=self._registry
        )
        self._generations = Gauge(
            "tudastar_domain_generation",
            "Newest published generation of a domain.",
            ("domain",),
            registry=self._registry,
        )

    def request_ended(self, method: str, route: str, status: int) -> None:
        """An HTTP request was answered, to its last byte or not."""
        known = method if method in METHODS else OTHER
        self._requests.labels(known, route, str(status)).inc()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A turn is worked on within it."""
        with self._running.track_inprogress(), self._turn_seconds.time():
            yield

    def turn_ended(self, outcome: str) -> None:
        """A turn ended as DONE, FAILED or INTERRUPTED, or has its question pending (ASKING)."""
        self._turns.labels(outcome).inc()

    def tool_ended(self, tool: str, outcome: str, seconds: float) -> None:
        """A tool ended; outcomes are those of the trace."""
        self._tools.labels(tool, outcome).observe(seconds)

    def exposition(self, jobs: Mapping[tuple[str, str], int], generations: Mapping[str, int]) -> bytes:
        """All in Prometheus' text format; `jobs` by kind and status, and generations by domain, are as of now."""
        self._jobs.clear()
        for labels, count in jobs.items():
            self._jobs.labels(*labels).set(count)
        self._generations.clear()
        for domain, number in generations.items():
            self._generations.labels(domain).set(number)
        return generate_latest(self._registry)


class MeteringMiddleware:
    """Counts requests by the route that took them."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            route = getattr(scope.get("route"), "path", OTHER)
            self._metrics.request_ended(scope["method"], route, status)
