from __future__ import annotations

from typing import Any


async def test_r13_3_the_description_names_every_endpoint(make_app: Any, client_for: Any) -> None:
    async with client_for(make_app()) as client:
        description = (await client.get("/api/openapi.json")).json()
    endpoints = {
        f"{method.upper()} {path}" for path, methods in description["paths"].items() for method in methods
    }
    assert {
        "POST /api/chatbot/chat",
        "POST /api/chatbot/clarify",
        "GET /api/chatbot/chats",
        "DELETE /api/chatbot/chats",
        "GET /api/chatbot/chats/{chat_id}",
        "PATCH /api/chatbot/chats/{chat_id}",
        "DELETE /api/chatbot/chats/{chat_id}",
        "GET /api/domains",
        "GET /api/documents/{document_id}/pages/{page}",
        "GET /api/entities",
        "POST /api/tasks/{type_or_id}",
        "GET /api/tasks/{type_or_id}",
        "POST /api/ingestion/{tool_or_run}",
        "GET /metrics",
    } <= endpoints
