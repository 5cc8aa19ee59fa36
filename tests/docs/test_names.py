"""Every name of ours that docs/names.md gives for one of the Java guide exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "names.md").read_text(encoding="utf-8")
NAMES = re.findall(r"^\| .* \| `([\w.]+)` \| `([\w.]+)` \|$", PAGE, re.M)
IN_THE_GUIDE = """
    IChatbotTool IOrchestratorActivatedTool IClarifiableTool IContextConsumerTool IClarifiableContextConsumerTool
    IToolDependent IOrchestratorTool IIngestionTool IAsyncTaskTool IAgentCoordinator ILlmAssistant IResponseEmitter
    AbstractOrchestratorTool AbstractNERIngestionTool AbstractRAGRetrievalTool AbstractEntityAnalysisTool
    AbstractPageAnalysisTool getName getDomain getEligibleSystem getInstruction getExecutableInstruction getRequestClass
    getRequestAsJsonNode isEligible getSystemPromptSupplement getPriority getRequiredTools executeWithResult
    executeWithPriorContext executeWithRequiredContext executeWithClarification executeWithClarificationAndPriorContext
    executeIngestion executeWithRequest detectNextQuestion applyAnswer toolProgressEmitter generateToolRequest asContext
    asGuaranteedContext asAnswer asAnswered needsClarification asSet UniqueTextDocument TextAnswer
    InternalContextDocument PromptAndContext ToolExecutionResult ClarifyingQuestion ClarificationSession questionId
    options allowFreeText getPartialRequestJson getPendingQuestionId getPendingAnswer TextGenerationResponse FluxSink
    CallbackWithErrorHandler OpenAIResponseVO onSuccess onError setContent LLM_GENERATION SEGMENT_BREAK emitContent
    JsonSchemaGenerator ObjectMapper convertValue readValue writeValueAsString IdGenerator PromptGenerator ToolRegistry
    PluginLoader ServiceLoader autowireBean setAbstractNERIngestionTool setToolAssistant equals hashCode compareTo
    UnsupportedOperationException CompletableFuture systems userPrompt userLang importantWords progressEmitter
    finalCallback userData _SUCCESS @Component @Autowired @PostConstruct @Scope @Data DepartmentInfoTool SuggestionTool
    RiskAssessmentTool PatientLookupTool MyServiceTool MyCharacterTool EgriCsillagokCharacterTool
    EgriCsillagokSummaryTool EgriCsillagokContextSearchTool
"""


@pytest.mark.parametrize(("name", "module"), NAMES, ids=lambda each: each)
def test_a_name_exists(name: str, module: str) -> None:
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        assert hasattr(found, part) or part in annotated(found), f"{module} has no {name}"
        found = getattr(found, part, None)


def annotated(found: Any) -> set[str]:
    """The fields that a class declares without a value."""
    bases = found.__mro__ if isinstance(found, type) else ()
    return {field for base in bases for field in vars(base).get("__annotations__", {})}


def test_every_row_is_checked() -> None:
    rows = [line for line in PAGE.splitlines() if re.match(r"^\|.*\|.*\|.*\|$", line) and "---" not in line]
    assert len([line for line in rows if not line.startswith("| guide")]) == len(NAMES)


def test_the_guides_names_are_all_there() -> None:
    missing = [name for name in IN_THE_GUIDE.split() if name.lower() not in PAGE.lower()]
    assert missing == []
