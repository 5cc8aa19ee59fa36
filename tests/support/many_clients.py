"""Clients in a process of their own, so that they do not share the server's interpreter.

`many_clients.py chats PORT`: sends all requests of a JSON list on the standard input at once, and prints
{seconds, streams: [text]}. `many_clients.py health PORT`: asks /healthz over and over until its input ends,
and prints the seconds of each answer.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import sys
import threading
import time
from typing import Any

PAUSE_SECONDS = 0.01
KIND = "Content-Type: application/json"


async def chat(port: int, body: Any) -> str:
    """The whole stream of one chat; HTTP/1.0 has it plain and to the end of the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    data = json.dumps(body).encode()
    head = ("POST /api/chatbot/chat HTTP/1.0", "Host: localhost", f"Content-Length: {len(data)}", KIND)
    writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + data)
    answer = await reader.read(-1)
    writer.close()
    return answer.partition(b"\r\n\r\n")[2].decode()


async def chats(port: int) -> dict[str, Any]:
    bodies = json.load(sys.stdin)
    began = time.perf_counter()
    streams = await asyncio.gather(*(chat(port, body) for body in bodies))
    return {"seconds": time.perf_counter() - began, "streams": streams}


def health(port: int) -> list[float]:
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    seconds: list[float] = []
    while not ended.wait(PAUSE_SECONDS):
        began = time.perf_counter()
        connection.request("GET", "/healthz")
        response = connection.getresponse()
        response.read()
        assert response.status == 200
        seconds.append(time.perf_counter() - began)
    return seconds


if __name__ == "__main__":
    what, number = sys.argv[1], int(sys.argv[2])
    print(json.dumps(asyncio.run(chats(number)) if what == "chats" else health(number)))
