from __future__ import annotations

import asyncio

import pytest

from toolkit.emitter import (
    LLM_GENERATION,
    SEGMENT_BREAK,
    ProgressEvent,
    emit_words,
    emit_words_async,
    tool_progress_emitter,
)


class Events:
    def __init__(self) -> None:
        self.events: list[ProgressEvent] = []

    def next(self, event: ProgressEvent) -> None:
        self.events.append(event)


def test_r3_11_events_are_put_in_the_tools_name_space() -> None:
    events = Events()
    emitter = tool_progress_emitter("osztály_info", events)
    emitter.next(ProgressEvent("Fetching:data", "3 rows"))
    emitter.next(ProgressEvent("DONE"))
    assert events.events == [
        ProgressEvent("TOOL_PROGRESS:OSZTÁLY_INFO:Fetching:data", "3 rows"),
        ProgressEvent("TOOL_PROGRESS:OSZTÁLY_INFO:DONE", None),
    ]


def test_r3_11_without_emitter_nothing_happens() -> None:
    assert tool_progress_emitter("t", None).next(ProgressEvent("X")) is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize("status", [LLM_GENERATION, SEGMENT_BREAK])
def test_r9_6_reserved_statuses_through_the_wrapper_are_no_answer_text(status: str) -> None:
    events = Events()
    tool_progress_emitter("t", events).next(ProgressEvent(status, "x"))
    assert events.events == [ProgressEvent(f"TOOL_PROGRESS:T:{status}", "x")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Dobó István vára", ["Dobó", " István", " vára"]),
        (" two  spaces ", [" two", " ", " spaces", " "]),
        ("line\nbreak\ttab stay", ["line\nbreak\ttab", " stay"]),
        ("one", ["one"]),
        (" ", [" "]),
        ("", []),
    ],
)
async def test_r9_6_a_text_is_cut_before_spaces_only(text: str, words: list[str]) -> None:
    plain, not_blocking = Events(), Events()
    emit_words(plain, text, delay=0)
    await emit_words_async(not_blocking, text, delay=0)
    assert plain.events == not_blocking.events == [ProgressEvent(LLM_GENERATION, word) for word in words]
    assert "".join(words) == text


async def test_r9_6_without_emitter_nothing_is_done_at_once() -> None:
    await asyncio.wait_for(emit_words_async(None, "a b c", delay=60), 1)
    emit_words(None, "a b c", delay=60)
