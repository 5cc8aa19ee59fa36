"""What a tool asks about one field of its request, and how an answer becomes the field's value."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel

from toolkit.clarification import ClarifyingQuestion
from toolkit.documents import UniqueTextDocument
from toolkit.errors import ToolContractError, ToolParametersError
from toolkit.execution import unblocked
from toolkit.parameters import plain_parameters, validated_parameters

Model = TypeVar("Model", bound=BaseModel)

Text: TypeAlias = str | Mapping[str, str]
"""One text for all, or one for each language by its name: `{"magyar": "…", "angol": "…"}`."""
Options: TypeAlias = Sequence[str] | Mapping[Any, Text]
"""The texts, which are the values as well; or the text by the field's value."""
OTHER_LANGUAGE = "angol"
"""The language in which a text is given to those in whose own it is not."""

_LONGEST_EVIDENCE = 160
"""Characters of a sentence within an option."""


@dataclass(frozen=True, slots=True)
class Question:
    """Asked when the field is missing.

    Ask only for what the work makes no sense without, and whose options are known.
    """

    field: str
    """Name of the request's field; it is the question's id as well. The field needs a default."""
    text: Text
    options: Options | Callable[..., Options | Awaitable[Options]] = ()
    """Fixed ones, or what gives them, `async` or plain, called as `execute_with_request` is.

    None at all, fixed: free text only. Of computed ones a single one is taken without a question, and when there
    are none nothing is asked: the field stays missing. Of two with one text the first counts.
    """
    allow_free_text: bool = False
    """With options: whether another answer is taken too, if the field's type accepts it."""
    when: Callable[[Any], bool] | None = None
    """Of the request so far: whether the question makes sense; None: always."""
    unknown: Collection[Any] = ()
    """Values by which the field is missing, besides None and a blank text."""

    def is_open(self, request: BaseModel) -> bool:
        """Whether the field is missing and the question makes sense."""
        value = getattr(request, self.field)
        blank = isinstance(value, str) and not value.strip()
        missing = value is None or blank or value in self.unknown
        return missing and (self.when is None or self.when(request))

    async def put(
        self, request: Model, user_lang: str, *given: Any
    ) -> tuple[Model, ClarifyingQuestion | None]:
        """The question to the user; or None, and the request with the value that alone fits.

        `given` is what computed options get beside the request. Raises ToolContractError when that value does not
        fit the field.
        """
        options = await self._values(request, user_lang, given)
        if callable(self.options) and len(options) < 2:
            values = list(options.values())
            return (self._chosen(request, values[0]) if values else request), None
        text = in_language(self.text, user_lang)
        return request, ClarifyingQuestion(self.field, text, tuple(options), self.allow_free_text)

    async def answered(self, request: Model, answer: str, user_lang: str, *given: Any) -> Model:
        """The request with the answer in the field; unchanged when the answer fits neither options nor field.

        Raises ToolContractError when the value of the chosen option does not fit the field.
        """
        options = await self._values(request, user_lang, given)
        said = answer.strip()
        alike = [text for text in options if text.casefold() == said.casefold()]
        if said in options or alike:
            return self._chosen(request, options[said if said in options else alike[0]])
        if self.allow_free_text or (not self.options and said):
            try:
                return with_value(request, self.field, said)
            except ToolParametersError:
                return request
        return request

    async def _values(self, request: BaseModel, user_lang: str, given: Sequence[Any]) -> dict[str, Any]:
        """The values by the text of their options."""
        options = await unblocked(self.options, request, *given) if callable(self.options) else self.options
        by_value = options if isinstance(options, Mapping) else {text: text for text in options}
        values: dict[str, Any] = {}
        for value, text in by_value.items():
            values.setdefault(in_language(text, user_lang).strip(), value)
        return values

    def _chosen(self, request: Model, value: Any) -> Model:
        try:
            return with_value(request, self.field, value)
        except ToolParametersError as error:
            raise ToolContractError(
                f"question {self.field!r} has an option for {value!r}, which the field does not take: {error}"
            ) from error


def in_language(text: Text, user_lang: str) -> str:
    """The text in a language; else in English, else the first there is. Raises ValueError when there is none."""
    if isinstance(text, str):
        return text
    for language in (user_lang, OTHER_LANGUAGE, *text):
        if language in text:
            return text[language]
    raise ValueError("a text by language needs at least one language, for instance 'magyar'")


def with_value(request: Model, field: str, value: Any) -> Model:
    """The request with another value in a field, validated as a whole. Raises ToolParametersError."""
    return validated_parameters(type(request), {**plain_parameters(request), field: value})


def with_evidence(name: str, sentences: Sequence[UniqueTextDocument]) -> str:
    """The text of an option: a name, and the first of the sentences that tell whose it is, shortened."""
    evidence = " ".join((sentences[0].text or "").split()) if sentences else ""
    if len(evidence) > _LONGEST_EVIDENCE:
        evidence = f"{evidence[:_LONGEST_EVIDENCE].rsplit(' ', 1)[0]} …"
    return f"{name} – {evidence}" if evidence else name
