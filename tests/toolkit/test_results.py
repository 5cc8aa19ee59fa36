from __future__ import annotations

from toolkit.clarification import ClarifyingQuestion
from toolkit.documents import InternalContextDocument, TextAnswer, UniqueTextDocument
from toolkit.results import ResultMode, ToolExecutionResult


def sentence(number: int, text: str = "x") -> UniqueTextDocument:
    return UniqueTextDocument(1, "doc", None, 0, number, text, 1.0)


def test_r9_1_the_four_modes_and_their_factories() -> None:
    documents = [sentence(0)]
    question = ClarifyingQuestion("age", "Felnőtt vagy gyermek?", ("Felnőtt", "Gyermek"))

    assert ToolExecutionResult.as_context("t", documents) == ToolExecutionResult(
        ResultMode.CONTEXT, "t", (sentence(0),)
    )
    assert ToolExecutionResult.as_guaranteed_context("t", documents) == ToolExecutionResult(
        ResultMode.CONTEXT, "t", (sentence(0),), guaranteed=True
    )
    assert ToolExecutionResult.as_answer("t", documents) == ToolExecutionResult(
        ResultMode.ANSWER, "t", (sentence(0),), content_type=None
    )
    assert ToolExecutionResult.as_answer("t", documents, "BASE64_PDF") == ToolExecutionResult(
        ResultMode.ANSWER, "t", (sentence(0),), content_type="BASE64_PDF"
    )
    assert ToolExecutionResult.as_answered("t") == ToolExecutionResult(ResultMode.ANSWERED, "t")
    assert ToolExecutionResult.needs_clarification(question, '{"age": null}', "t") == ToolExecutionResult(
        ResultMode.NEEDS_CLARIFICATION, "t", question=question, partial_json='{"age": null}'
    )


def test_r9_2_a_set_is_put_in_order_and_a_list_keeps_its_own() -> None:
    first, second, again = sentence(0, "first"), sentence(1), sentence(0, "again")
    from_set = ToolExecutionResult.as_context("t", {second, first})
    from_list = ToolExecutionResult.as_context("t", (each for each in [second, first, again]))
    assert [each.text for each in from_set.documents] == ["first", "x"]
    assert [(each.sentence_number, each.text) for each in from_list.documents] == [(1, "x"), (0, "first")]


def test_r5_5_a_guarantee_counts_only_with_a_document_that_the_answer_may_see() -> None:
    internal = InternalContextDocument.as_set("{}")
    guaranteed = ToolExecutionResult.as_guaranteed_context
    assert not guaranteed("t", set()).counts_as_guaranteed
    assert not guaranteed("t", internal).counts_as_guaranteed
    assert guaranteed("t", internal | TextAnswer.as_set("x")).counts_as_guaranteed
    assert not ToolExecutionResult.as_context("t", TextAnswer.as_set("x")).counts_as_guaranteed


def test_r9_5_several_documents_are_joined_in_their_order() -> None:
    texts = [sentence(1, "b"), sentence(0, "a"), InternalContextDocument.of("secret"), TextAnswer.of(None)]
    assert ToolExecutionResult.as_answer("t", texts).answer_text == "b\na"
    assert ToolExecutionResult.as_answer("t", texts, "BASE64_PDF").answer_text == "ba"
