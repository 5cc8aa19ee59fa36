"""A model's answer that ends before its end: what the user is told, and what the trace says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

import pytest

from serving.answering import AnswerTask, FallbackAnswerer, ModelAnswerer
from serving.judging import Settled
from serving.offline.quotes import QuoteAnswerer
from serving.prompt import number_sources
from serving.trace import Trace
from toolkit.documents import TextAnswer, UniqueTextDocument
from toolkit.errors import LlmError, LlmOutputError, LlmTruncatedError
from toolkit.testing.llm import ScriptedLlm

QUESTIONS = {"hu": "Hol parkolhatnak a betegek?", "en": "Where may patients park?"}
DOCUMENTS: Mapping[str, list[UniqueTextDocument]] = {
    "hu": [TextAnswer.of("A betegek északon parkolhatnak.", "Parkolás"), TextAnswer.of("Tilos a dohányzás.")],
    "en": [TextAnswer.of("Patients may park in the north.", "Parking"), TextAnswer.of("No smoking.")],
}


async def answered(llm: Any, language: str = "hu") -> tuple[str, list[int], Trace]:
    """The text said, the numbers of the sources, the trace."""
    answerer = FallbackAnswerer(ModelAnswerer(llm), QuoteAnswerer())
    trace, said = Trace(), list[str]()
    sources = number_sources(DOCUMENTS[language])
    task = AnswerTask(QUESTIONS[language], Settled(language, ()), sources, vouched=frozenset({1}))

    async def say(piece: str) -> None:
        said.append(piece)

    cited = await answerer.answer(task, say, trace)
    return "".join(said), [source.number for source in cited], trace


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("hu", "(A nyelvi modell válasza elérte a hosszkorlátot, ezért itt véget ér.)"),
        ("en", "(The language model's answer reached its limit of length, so it ends here.)"),
    ],
)
async def test_r8_2_a_cut_off_answer_is_kept_and_says_so_in_the_users_language(
    language: str, told: str
) -> None:
    llm = ScriptedLlm(texts=[LlmTruncatedError("cut off at the limit", "Északon [1], és")])
    text, sources, trace = await answered(llm, language)
    assert text == f"Északon [1], és\n\n{told}"
    assert sources == [1]
    assert trace.answered_by == "model"
    assert trace.to_wire()["notes"] == ["cut off at the limit"]


async def test_r8_2_a_cut_off_answer_that_cites_nothing_has_all_sources() -> None:
    text, sources, _ = await answered(ScriptedLlm(texts=[LlmTruncatedError("cut off", "Északon")]))
    assert text.startswith("Északon\n\n(")
    assert sources == [1, 2]


async def test_r8_2_one_that_is_cut_off_before_its_first_word_gives_way_to_quotes() -> None:
    text, sources, trace = await answered(ScriptedLlm(texts=[LlmTruncatedError("thought too long")]))
    assert "hosszkorlát" not in text
    assert "A betegek északon parkolhatnak. [1]" in text
    assert (sources, trace.answered_by) == ([1], "quotes")
    assert "LlmTruncatedError: thought too long" in trace.to_wire()["notes"][0]


class Faulty:
    """Streams pieces and then fails; tells whether its stream was closed."""

    def __init__(self, pieces: Iterable[str], error: LlmError) -> None:
        self.pieces, self.error = pieces, error
        self.closed = False

    async def stream_text(self, user_prompt: str, system_prompt: str) -> AsyncIterator[str]:
        try:
            for piece in self.pieces:
                yield piece
            raise self.error
        finally:
            self.closed = True


async def test_r8_4_one_that_breaks_off_is_no_cut_off_one() -> None:
    model = Faulty(["Északon [2]"], LlmOutputError("the filter took it"))
    text, sources, trace = await answered(model)
    assert text.startswith("Északon [2]\n\n(A nyelvi modell válasza itt megszakadt.)")
    assert "hosszkorlát" not in text
    assert (sources, trace.answered_by) == ([1, 2], "quotes")
    assert model.closed


async def test_a_stream_is_closed_when_saying_fails() -> None:
    model = Faulty(["Északon"], LlmError("never reached"))

    async def say(piece: str) -> None:
        raise ConnectionError("the client has left")

    task = AnswerTask(QUESTIONS["hu"], Settled("hu", ()), number_sources(DOCUMENTS["hu"]))
    with pytest.raises(ConnectionError):
        await ModelAnswerer(model).answer(task, say, Trace())  # type: ignore[arg-type]
    assert model.closed
