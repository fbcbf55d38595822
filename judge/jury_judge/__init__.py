"""A jury of LLM jurors judges what an AI agent did; every debate is recorded, replayable and verifiable.

`Jury` is the main class; the other names are those of the two documents. Each is loaded at its first use, so that
`import jury_judge` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jury_actors.errors import ClusterLost, Halted
    from jury_actors.messages import Chunk, Finished
    from jury_actors.notices import Notice
    from jury_actors.observation.metric_totals import MetricTotals
    from jury_actors.ray_processes import end_own_processes
    from jury_analysis.errors import AnalysisError, OnlySimulated
    from jury_cases.containers.scout_transcripts import scout_sample
    from jury_cases.errors import CaseFileError
    from jury_cases.files import CaseFiles
    from jury_cases.options import CaseOptions
    from jury_cases.unreadable import UnreadableRows
    from jury_debate.recorded_panel import PanelDifference
    from jury_events.case import Case, Scenario
    from jury_events.consensus import ConsensusStatus
    from jury_events.errors import InputError, JuryError, SettingError
    from jury_events.verdict import Verdict
    from jury_judge.database import Database
    from jury_judge.diagnosis.diagnosis import Diagnosis
    from jury_judge.diagnosis.finding import DiagnosisFinding
    from jury_judge.documents.artifact_tools import (
        ArtifactContext,
        ArtifactToolsWithContext,
        generate_evaluation_summary,
        get_anthropic_tools,
        get_google_tools,
        get_openai_tools,
    )
    from jury_judge.documents.collaborative import ADKCollaborativeJuryJudge, CollaborativeJuryJudge
    from jury_judge.documents.compatibility import CompatibilityWarning
    from jury_judge.documents.discussion_workflow import (
        ConsensusChecker,
        DiscussionLoopWorkflow,
        DiscussionRoundResult,
        DiscussionState,
        DiscussionWorkflowResult,
        SequentialDiscussionRound,
    )
    from jury_judge.documents.juror_agents import (
        JUROR_CONFIGS,
        BaseJurorAgent,
        JurorConfig,
        JurorEvaluationOutput,
        JurorRole,
        create_juror_agents,
    )
    from jury_judge.documents.questions import ExecutionResult, QuestionSpec
    from jury_judge.documents.retired import RetiredModelWarning
    from jury_judge.errors import JudgeError, SettingsRefused
    from jury_judge.jury import Jury
    from jury_judge.panels.variables import Overrides
    from jury_judge.records.records import Records
    from jury_judge.records.vote_reports import VoteReports
    from jury_judge.replays.corpus import Corpus
    from jury_judge.replays.exporting import ExportedFiles
    from jury_judge.replays.importing import Imported
    from jury_judge.runs.case_preview import CasePreview
    from jury_judge.runs.case_summary import CaseSummary
    from jury_judge.runs.observation import Observation
    from jury_judge.runs.writing import Writing
    from jury_judge.sessions.estimated_run import estimate_run
    from jury_judge.sessions.judged_run import judge_run
    from jury_judge.sessions.planned_probe import PlannedProbe, judge_probe
    from jury_judge.sessions.planned_run import PlannedRun
    from jury_judge.sessions.prepared_fork import prepared_fork
    from jury_judge.sessions.prepared_run import prepared_run
    from jury_judge.settings.budget import Budget
    from jury_judge.settings.calibration import CalibrationSettings
    from jury_judge.settings.fork import ForkSettings
    from jury_judge.settings.gate import GateSettings
    from jury_judge.settings.probe import ProbeSettings
    from jury_judge.settings.run import RunSettings
    from jury_judge.settings.runtime import RuntimeSettings
    from jury_judge.settings.settings_file import settings_of
    from jury_judge.settings.sources import Sources
    from jury_judge.settings.statistics import StatisticsSettings
    from jury_judge.settings.votes import VoteReading
    from jury_judge.settings.worth import WorthSettings
    from jury_judge.stores.erasing import ErasedTexts, PlannedErasure
    from jury_judge.stores.integrity_state import IntegrityState
    from jury_providers.simulated.http.server import Simulation
    from jury_replay.difference import ReplayDifference
    from jury_replay.integrity import IntegrityFailure
    from jury_replay.regression import Regressed
    from jury_replay.replay import Replayed
    from jury_replay.rescoring.results import RescoreStatus
    from jury_replay.rescoring.rows import RescoreProblem, RescoreRow
    from jury_replay.rescoring.table import RescoreTable
    from jury_replay.verify import VerifyReport
    from jury_store.debate_rows import DebateFilter, DebateRow, RunRow, Totals
    from jury_store.errors import StoreError, StoreLocked
    from jury_store.list_order import SORT_COLUMNS, BadCursor, PageCursor, SortOrder
    from jury_store.run_registry import RunHolder
    from jury_views.live.encodings import LiveEvent
    from jury_views.result_models import (
        Abstention,
        CollaborativeEvaluationResult,
        CollaborativeJuryResult,
        ConsensusResult,
        DiscussionRound,
        EvaluationPhase,
        FinalJudgment,
        JurorEvaluation,
        JurorStatement,
        JurorVote,
        QuotationSpan,
        QuotedEvidence,
        ScenarioResult,
    )

_NAMES_BY_MODULE = {
    "jury_actors.errors": ("ClusterLost", "Halted"),
    "jury_actors.messages": ("Chunk", "Finished"),
    "jury_actors.notices": ("Notice",),
    "jury_actors.observation.metric_totals": ("MetricTotals",),
    "jury_actors.ray_processes": ("end_own_processes",),
    "jury_analysis.errors": ("AnalysisError", "OnlySimulated"),
    "jury_cases.containers.scout_transcripts": ("scout_sample",),
    "jury_cases.errors": ("CaseFileError",),
    "jury_cases.files": ("CaseFiles",),
    "jury_cases.options": ("CaseOptions",),
    "jury_cases.unreadable": ("UnreadableRows",),
    "jury_debate.recorded_panel": ("PanelDifference",),
    "jury_events.case": ("Case", "Scenario"),
    "jury_events.consensus": ("ConsensusStatus",),
    "jury_events.errors": ("InputError", "JuryError", "SettingError"),
    "jury_events.verdict": ("Verdict",),
    "jury_judge.database": ("Database",),
    "jury_judge.diagnosis.diagnosis": ("Diagnosis",),
    "jury_judge.diagnosis.finding": ("DiagnosisFinding",),
    "jury_judge.documents.artifact_tools": (
        "ArtifactContext",
        "ArtifactToolsWithContext",
        "generate_evaluation_summary",
        "get_anthropic_tools",
        "get_google_tools",
        "get_openai_tools",
    ),
    "jury_judge.documents.collaborative": ("ADKCollaborativeJuryJudge", "CollaborativeJuryJudge"),
    "jury_judge.documents.compatibility": ("CompatibilityWarning",),
    "jury_judge.documents.discussion_workflow": (
        "ConsensusChecker",
        "DiscussionLoopWorkflow",
        "DiscussionRoundResult",
        "DiscussionState",
        "DiscussionWorkflowResult",
        "SequentialDiscussionRound",
    ),
    "jury_judge.documents.juror_agents": (
        "BaseJurorAgent",
        "JUROR_CONFIGS",
        "JurorConfig",
        "JurorEvaluationOutput",
        "JurorRole",
        "create_juror_agents",
    ),
    "jury_judge.documents.questions": ("ExecutionResult", "QuestionSpec"),
    "jury_judge.documents.retired": ("RetiredModelWarning",),
    "jury_judge.errors": ("JudgeError", "SettingsRefused"),
    "jury_judge.jury": ("Jury",),
    "jury_judge.panels.variables": ("Overrides",),
    "jury_judge.records.records": ("Records",),
    "jury_judge.replays.corpus": ("Corpus",),
    "jury_judge.replays.exporting": ("ExportedFiles",),
    "jury_judge.replays.importing": ("Imported",),
    "jury_judge.records.vote_reports": ("VoteReports",),
    "jury_judge.runs.case_preview": ("CasePreview",),
    "jury_judge.runs.case_summary": ("CaseSummary",),
    "jury_judge.stores.erasing": (
        "ErasedTexts",
        "PlannedErasure",
    ),
    "jury_judge.runs.observation": ("Observation",),
    "jury_judge.runs.writing": ("Writing",),
    "jury_judge.sessions.estimated_run": ("estimate_run",),
    "jury_judge.sessions.judged_run": ("judge_run",),
    "jury_judge.sessions.planned_probe": ("PlannedProbe", "judge_probe"),
    "jury_judge.sessions.planned_run": ("PlannedRun",),
    "jury_judge.sessions.prepared_fork": ("prepared_fork",),
    "jury_judge.sessions.prepared_run": ("prepared_run",),
    "jury_judge.settings.budget": ("Budget",),
    "jury_judge.settings.calibration": ("CalibrationSettings",),
    "jury_judge.settings.fork": ("ForkSettings",),
    "jury_judge.settings.gate": ("GateSettings",),
    "jury_judge.settings.probe": ("ProbeSettings",),
    "jury_judge.settings.run": ("RunSettings",),
    "jury_judge.settings.runtime": ("RuntimeSettings",),
    "jury_judge.settings.settings_file": ("settings_of",),
    "jury_judge.settings.sources": ("Sources",),
    "jury_judge.settings.statistics": ("StatisticsSettings",),
    "jury_judge.settings.votes": ("VoteReading",),
    "jury_judge.settings.worth": ("WorthSettings",),
    "jury_judge.stores.integrity_state": ("IntegrityState",),
    "jury_providers.simulated.http.server": ("Simulation",),
    "jury_replay.difference": ("ReplayDifference",),
    "jury_replay.integrity": ("IntegrityFailure",),
    "jury_replay.regression": ("Regressed",),
    "jury_replay.replay": ("Replayed",),
    "jury_replay.rescoring.results": ("RescoreStatus",),
    "jury_replay.rescoring.rows": (
        "RescoreProblem",
        "RescoreRow",
    ),
    "jury_replay.rescoring.table": ("RescoreTable",),
    "jury_replay.verify": ("VerifyReport",),
    "jury_store.debate_rows": ("DebateFilter", "DebateRow", "RunRow", "Totals"),
    "jury_store.errors": ("StoreError", "StoreLocked"),
    "jury_store.list_order": ("BadCursor", "PageCursor", "SORT_COLUMNS", "SortOrder"),
    "jury_store.run_registry": ("RunHolder",),
    "jury_views.live.encodings": ("LiveEvent",),
    "jury_views.result_models": (
        "Abstention",
        "CollaborativeEvaluationResult",
        "CollaborativeJuryResult",
        "ConsensusResult",
        "DiscussionRound",
        "EvaluationPhase",
        "FinalJudgment",
        "JurorEvaluation",
        "JurorStatement",
        "JurorVote",
        "QuotationSpan",
        "QuotedEvidence",
        "ScenarioResult",
    ),
}
_MODULES = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}

__all__ = [
    "JUROR_CONFIGS",
    "SORT_COLUMNS",
    "ADKCollaborativeJuryJudge",
    "Abstention",
    "AnalysisError",
    "ArtifactContext",
    "ArtifactToolsWithContext",
    "BadCursor",
    "BaseJurorAgent",
    "Budget",
    "CalibrationSettings",
    "Case",
    "CaseFileError",
    "CaseFiles",
    "CaseOptions",
    "CasePreview",
    "CaseSummary",
    "Chunk",
    "ClusterLost",
    "CollaborativeEvaluationResult",
    "CollaborativeJuryJudge",
    "CollaborativeJuryResult",
    "CompatibilityWarning",
    "ConsensusChecker",
    "ConsensusResult",
    "ConsensusStatus",
    "Corpus",
    "Database",
    "DebateFilter",
    "DebateRow",
    "Diagnosis",
    "DiagnosisFinding",
    "DiscussionLoopWorkflow",
    "DiscussionRound",
    "DiscussionRoundResult",
    "DiscussionState",
    "DiscussionWorkflowResult",
    "ErasedTexts",
    "EvaluationPhase",
    "ExecutionResult",
    "ExportedFiles",
    "FinalJudgment",
    "Finished",
    "ForkSettings",
    "GateSettings",
    "Halted",
    "Imported",
    "InputError",
    "IntegrityFailure",
    "IntegrityState",
    "JudgeError",
    "JurorConfig",
    "JurorEvaluation",
    "JurorEvaluationOutput",
    "JurorRole",
    "JurorStatement",
    "JurorVote",
    "Jury",
    "JuryError",
    "LiveEvent",
    "MetricTotals",
    "Notice",
    "Observation",
    "OnlySimulated",
    "Overrides",
    "PageCursor",
    "PanelDifference",
    "PlannedErasure",
    "PlannedProbe",
    "PlannedRun",
    "ProbeSettings",
    "QuestionSpec",
    "QuotationSpan",
    "QuotedEvidence",
    "Records",
    "Regressed",
    "ReplayDifference",
    "Replayed",
    "RescoreProblem",
    "RescoreRow",
    "RescoreStatus",
    "RescoreTable",
    "RetiredModelWarning",
    "RunHolder",
    "RunRow",
    "RunSettings",
    "RuntimeSettings",
    "Scenario",
    "ScenarioResult",
    "SequentialDiscussionRound",
    "SettingError",
    "SettingsRefused",
    "Simulation",
    "SortOrder",
    "Sources",
    "StatisticsSettings",
    "StoreError",
    "StoreLocked",
    "Totals",
    "UnreadableRows",
    "Verdict",
    "VerifyReport",
    "VoteReading",
    "VoteReports",
    "WorthSettings",
    "Writing",
    "create_juror_agents",
    "end_own_processes",
    "estimate_run",
    "generate_evaluation_summary",
    "get_anthropic_tools",
    "get_google_tools",
    "get_openai_tools",
    "judge_probe",
    "judge_run",
    "prepared_fork",
    "prepared_run",
    "scout_sample",
    "settings_of",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
