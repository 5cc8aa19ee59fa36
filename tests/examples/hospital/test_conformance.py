"""The hospital's tools keep the toolkit's contracts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest

from toolkit.discovery import ToolClass
from toolkit.testing.conformance import (
    ChatbotToolConformance,
    ClarifiableToolConformance,
    ContextConsumerToolConformance,
    OrchestratorActivatedToolConformance,
    ToolDependentConformance,
)
from toolkit.testing.knowledge import MemoryKnowledgeBase
from toolkit.testing.llm import ScriptedLlm
from tudastar_hospital.clinic_finder import ClinicFinderTool
from tudastar_hospital.department_info import DepartmentInfoTool
from tudastar_hospital.doctor_info import DoctorInfoTool
from tudastar_hospital.patient_lookup import PatientLookupTool
from tudastar_hospital.referral_letter import ReferralLetterTool
from tudastar_hospital.risk_assessment import RiskAssessmentTool
from tudastar_hospital.suggestion import SuggestionTool
from tudastar_hospital.visit_simulation import VisitSimulationTool

QUESTIONS = ("Hol van a szemészet?", "Mi Kőszegi Tünde kockázata?", "Küldd Őri Gergőt a szemészetre!", "")


class _Drawn:
    """What the model draws for the tool under test, and the questions."""

    parameters: Mapping[str, Any] = MappingProxyType({})

    @pytest.fixture
    def llm(self, tool_class: ToolClass) -> ScriptedLlm:
        return ScriptedLlm({tool_class.name: self.parameters})

    @pytest.fixture
    def knowledge(self, pages: MemoryKnowledgeBase) -> MemoryKnowledgeBase:
        return pages

    @pytest.fixture
    def questions(self) -> Sequence[str]:
        return QUESTIONS


class TestDepartmentInfo(_Drawn, ChatbotToolConformance):
    parameters = MappingProxyType({"department": "szemészet", "asked": "place"})

    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return DepartmentInfoTool


class TestVisitSimulation(_Drawn, ChatbotToolConformance):
    parameters = MappingProxyType({"department": "szemészet"})

    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return VisitSimulationTool


class TestReferralLetter(_Drawn, ChatbotToolConformance):
    parameters = MappingProxyType({"patient": None, "department": "szemészet"})

    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return ReferralLetterTool

    @pytest.fixture
    def other_tools(self) -> Sequence[ToolClass]:
        return (PatientLookupTool, DepartmentInfoTool)


class TestPatientLookup(_Drawn, OrchestratorActivatedToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return PatientLookupTool


class TestRiskAssessment(_Drawn, ToolDependentConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return RiskAssessmentTool

    @pytest.fixture
    def other_tools(self) -> Sequence[ToolClass]:
        return (PatientLookupTool,)


class TestSuggestion(_Drawn, ContextConsumerToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return SuggestionTool


class TestClinicFinder(_Drawn, ClarifiableToolConformance):
    parameters = MappingProxyType({"wanted": "CONSULTATION"})

    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return ClinicFinderTool

    @pytest.fixture
    def knowledge(self, consultations: MemoryKnowledgeBase) -> MemoryKnowledgeBase:
        return consultations


class TestDoctorInfo(_Drawn, ClarifiableToolConformance):
    parameters = MappingProxyType({"doctor": "Kovács"})

    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return DoctorInfoTool

    @pytest.fixture
    def knowledge(self, doctors: MemoryKnowledgeBase) -> MemoryKnowledgeBase:
        return doctors
