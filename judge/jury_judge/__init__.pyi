from jury_actors.errors import ClusterLost as ClusterLost
from jury_actors.errors import Halted as Halted
from jury_actors.errors import Unsettled as Unsettled
from jury_actors.messages import Chunk as Chunk
from jury_actors.messages import Finished as Finished
from jury_actors.notices import Notice as Notice
from jury_actors.observation.tallies import MetricTotals as MetricTotals
from jury_actors.ray_cluster import end_own_processes as end_own_processes
from jury_analysis.errors import AnalysisError as AnalysisError
from jury_analysis.errors import OnlySimulated as OnlySimulated
from jury_cases.case_files import CaseFiles as CaseFiles
from jury_cases.containers.inspect_files import scout_sample as scout_sample
from jury_cases.errors import CaseFileError as CaseFileError
from jury_cases.omissions import UnreadableRows as UnreadableRows
from jury_cases.options import CaseOptions as CaseOptions
from jury_debate.recorded_panel import PanelDifference as PanelDifference
from jury_events.case import Case as Case
from jury_events.case import ExecutionResult as ExecutionResult
from jury_events.case import QuestionSpec as QuestionSpec
from jury_events.case import Scenario as Scenario
from jury_events.errors import InputError as InputError
from jury_events.errors import JuryError as JuryError
from jury_events.errors import SettingError as SettingError
from jury_events.judgment import ConsensusStatus as ConsensusStatus
from jury_events.verdict import Verdict as Verdict
from jury_judge.comparisons.comparing import ComparedDebates as ComparedDebates
from jury_judge.comparisons.comparing import ComparedRuns as ComparedRuns
from jury_judge.comparisons.comparing import ListedFlip as ListedFlip
from jury_judge.comparisons.comparison import Position as Position
from jury_judge.comparisons.comparison import compare_debates as compare_debates
from jury_judge.comparisons.comparison import positions as positions
from jury_judge.comparisons.run_comparison import Flip as Flip
from jury_judge.comparisons.run_comparison import compare_runs as compare_runs
from jury_judge.database import Database as Database
from jury_judge.diagnosis import Diagnosis as Diagnosis
from jury_judge.diagnosis import DiagnosisFinding as DiagnosisFinding
from jury_judge.documents.artifact_tools import ArtifactContext as ArtifactContext
from jury_judge.documents.artifact_tools import ArtifactToolsWithContext as ArtifactToolsWithContext
from jury_judge.documents.artifact_tools import generate_evaluation_summary as generate_evaluation_summary
from jury_judge.documents.artifact_tools import get_anthropic_tools as get_anthropic_tools
from jury_judge.documents.artifact_tools import get_openai_tools as get_openai_tools
from jury_judge.documents.collaborative import ADKCollaborativeJuryJudge as ADKCollaborativeJuryJudge
from jury_judge.documents.collaborative import CollaborativeJuryJudge as CollaborativeJuryJudge
from jury_judge.documents.discussion_workflow import ConsensusChecker as ConsensusChecker
from jury_judge.documents.discussion_workflow import DiscussionLoopWorkflow as DiscussionLoopWorkflow
from jury_judge.documents.discussion_workflow import DiscussionRoundResult as DiscussionRoundResult
from jury_judge.documents.discussion_workflow import DiscussionState as DiscussionState
from jury_judge.documents.discussion_workflow import DiscussionWorkflowResult as DiscussionWorkflowResult
from jury_judge.documents.discussion_workflow import SequentialDiscussionRound as SequentialDiscussionRound
from jury_judge.documents.juror_agents import JUROR_CONFIGS as JUROR_CONFIGS
from jury_judge.documents.juror_agents import BaseJurorAgent as BaseJurorAgent
from jury_judge.documents.juror_agents import JurorConfig as JurorConfig
from jury_judge.documents.juror_agents import JurorEvaluationOutput as JurorEvaluationOutput
from jury_judge.documents.juror_agents import JurorRole as JurorRole
from jury_judge.documents.juror_agents import create_juror_agents as create_juror_agents
from jury_judge.documents.seating import RetiredModelWarning as RetiredModelWarning
from jury_judge.documents.seating import documents_fallbacks as documents_fallbacks
from jury_judge.documents.supplied_answers import SuppliedAnswer as SuppliedAnswer
from jury_judge.documents.supplied_answers import SuppliedAnswers as SuppliedAnswers
from jury_judge.drift.baseline import DriftBaseline as DriftBaseline
from jury_judge.drift.baseline import plan_drift as plan_drift
from jury_judge.drift.check import DriftCheckRun as DriftCheckRun
from jury_judge.errors import BranchTaken as BranchTaken
from jury_judge.errors import ExtraMissing as ExtraMissing
from jury_judge.errors import JudgeError as JudgeError
from jury_judge.errors import JuryClosed as JuryClosed
from jury_judge.errors import NoEvaluation as NoEvaluation
from jury_judge.errors import NotComparable as NotComparable
from jury_judge.errors import OtherCase as OtherCase
from jury_judge.errors import PanelFileError as PanelFileError
from jury_judge.errors import PanelNotServed as PanelNotServed
from jury_judge.errors import ReviewRefused as ReviewRefused
from jury_judge.errors import RunRefused as RunRefused
from jury_judge.errors import RunTooLarge as RunTooLarge
from jury_judge.errors import RunUnfinished as RunUnfinished
from jury_judge.errors import SettingsRefused as SettingsRefused
from jury_judge.errors import TooManyReaders as TooManyReaders
from jury_judge.errors import TooManyReports as TooManyReports
from jury_judge.feed import Beginning as Beginning
from jury_judge.feed import Cursor as Cursor
from jury_judge.feed import Feed as Feed
from jury_judge.jury import Jury as Jury
from jury_judge.metrics_text import MetricsExposition as MetricsExposition
from jury_judge.panels.calibration_files import calibration_bytes as calibration_bytes
from jury_judge.panels.calibration_files import read_calibration as read_calibration
from jury_judge.panels.document import BUNDLED_PANELS as BUNDLED_PANELS
from jury_judge.panels.document import read_yaml as read_yaml
from jury_judge.panels.files import Ladder as Ladder
from jury_judge.panels.files import LoadedPanel as LoadedPanel
from jury_judge.panels.files import load_panel as load_panel
from jury_judge.panels.ladders import ReadLadder as ReadLadder
from jury_judge.panels.ladders import any_panel as any_panel
from jury_judge.panels.ladders import applied as applied
from jury_judge.panels.ladders import changed_panel as changed_panel
from jury_judge.panels.ladders import first_of as first_of
from jury_judge.panels.ladders import is_ladder as is_ladder
from jury_judge.panels.ladders import ladder_bytes as ladder_bytes
from jury_judge.panels.ladders import load_panel_or_ladder as load_panel_or_ladder
from jury_judge.panels.ladders import read_ladder as read_ladder
from jury_judge.panels.ladders import uncertified as uncertified
from jury_judge.panels.redaction import PatternRedactor as PatternRedactor
from jury_judge.panels.redaction import Redaction as Redaction
from jury_judge.panels.redaction import RedactionRule as RedactionRule
from jury_judge.panels.variables import Overrides as Overrides
from jury_judge.probes.twins import PROBES as PROBES
from jury_judge.probes.twins import check_comparable as check_comparable
from jury_judge.probes.twins import other_marking as other_marking
from jury_judge.probes.twins import parse_twin_id as parse_twin_id
from jury_judge.probing import PlannedProbe as PlannedProbe
from jury_judge.probing import judge_probe as judge_probe
from jury_judge.recorded_debates.corpus import Corpus as Corpus
from jury_judge.recorded_debates.exporting import ExportedFiles as ExportedFiles
from jury_judge.recorded_debates.grids import grid_of as grid_of
from jury_judge.recorded_debates.grids import load_grid as load_grid
from jury_judge.recorded_debates.importing import Imported as Imported
from jury_judge.records.records import Records as Records
from jury_judge.records.votes import VoteReports as VoteReports
from jury_judge.records.votes import report_schema as report_schema
from jury_judge.report_files import check_report_path as check_report_path
from jury_judge.report_files import write_report as write_report
from jury_judge.reports.calibrating import CalibratedPanel as CalibratedPanel
from jury_judge.reports.calibrating import FoundCalibration as FoundCalibration
from jury_judge.reports.panel_recounts import PanelRecount as PanelRecount
from jury_judge.reports.run_reports import RunReports as RunReports
from jury_judge.reports.run_reports import computed_gate as computed_gate
from jury_judge.reports.run_reports import computed_page as computed_page
from jury_judge.reports.run_reports import computed_statistics as computed_statistics
from jury_judge.reports.statistics_groups import ShownStatistics as ShownStatistics
from jury_judge.reports.statistics_groups import grouped_statistics as grouped_statistics
from jury_judge.reviews.named_tokens import named_tokens as named_tokens
from jury_judge.reviews.random_draws import draw_by_verdict as draw_by_verdict
from jury_judge.reviews.random_draws import draw_sample as draw_sample
from jury_judge.reviews.random_draws import recorded_draw as recorded_draw
from jury_judge.reviews.review_agreement import review_agreement as review_agreement
from jury_judge.reviews.review_agreement import review_labels as review_labels
from jury_judge.reviews.review_changes import NewLabel as NewLabel
from jury_judge.reviews.review_changes import NewReview as NewReview
from jury_judge.reviews.review_changes import assignment_change as assignment_change
from jury_judge.reviews.review_changes import label_change as label_change
from jury_judge.reviews.review_changes import record_changes as record_changes
from jury_judge.reviews.review_changes import recorded_assignment as recorded_assignment
from jury_judge.reviews.review_changes import recorded_review as recorded_review
from jury_judge.reviews.review_changes import verdict_change as verdict_change
from jury_judge.reviews.review_changes import withdrawal_change as withdrawal_change
from jury_judge.reviews.review_queue import disputed as disputed
from jury_judge.reviews.review_queue import review_queue as review_queue
from jury_judge.reviews.review_recorder import ReviewRecorder as ReviewRecorder
from jury_judge.runs.batch_plan import BatchPlan as BatchPlan
from jury_judge.runs.batch_plan import asked_live as asked_live
from jury_judge.runs.batch_plan import tier_lines as tier_lines
from jury_judge.runs.batch_plan import waves_of as waves_of
from jury_judge.runs.cancelling import Cancelled as Cancelled
from jury_judge.runs.cancelling import CancelWaits as CancelWaits
from jury_judge.runs.cancelling import cancel_run as cancel_run
from jury_judge.runs.cancelling import cancellations_at as cancellations_at
from jury_judge.runs.case_fit import CaseFit as CaseFit
from jury_judge.runs.case_fit import Rehearsal as Rehearsal
from jury_judge.runs.case_preview import CasePreview as CasePreview
from jury_judge.runs.case_preview import CaseSummary as CaseSummary
from jury_judge.runs.case_stages import next_stages as next_stages
from jury_judge.runs.case_stages import open_stages as open_stages
from jury_judge.runs.cost_estimate import estimate as estimate
from jury_judge.runs.estimated_run import estimate_run as estimate_run
from jury_judge.runs.execution import RunExecution as RunExecution
from jury_judge.runs.following import followed as followed
from jury_judge.runs.forking import prepared_fork as prepared_fork
from jury_judge.runs.hosted_run import HostedRun as HostedRun
from jury_judge.runs.listed_run import list_run as list_run
from jury_judge.runs.live_run import LiveRun as LiveRun
from jury_judge.runs.live_run import LiveRunReader as LiveRunReader
from jury_judge.runs.live_run import LiveRuns as LiveRuns
from jury_judge.runs.live_run import OpenWave as OpenWave
from jury_judge.runs.live_run import listed_runs as listed_runs
from jury_judge.runs.live_run import live_object as live_object
from jury_judge.runs.panel_actors import RAY_FROM as RAY_FROM
from jury_judge.runs.panel_actors import RAY_FROM_READ as RAY_FROM_READ
from jury_judge.runs.panel_actors import Observation as Observation
from jury_judge.runs.panel_actors import RuntimePool as RuntimePool
from jury_judge.runs.panel_actors import Writing as Writing
from jury_judge.runs.panel_actors import in_process_for as in_process_for
from jury_judge.runs.plan import RunPlan as RunPlan
from jury_judge.runs.plan import cases_of as cases_of
from jury_judge.runs.preflight import PreflightReport as PreflightReport
from jury_judge.runs.preflight import preflight as preflight
from jury_judge.runs.resumed_run import Handed as Handed
from jury_judge.runs.resumed_run import handed as handed
from jury_judge.runs.resumed_run import resumed_run as resumed_run
from jury_judge.runs.run import NoListener as NoListener
from jury_judge.runs.run import RunInput as RunInput
from jury_judge.runs.run import RunOutcome as RunOutcome
from jury_judge.runs.run import RunProgress as RunProgress
from jury_judge.runs.run_budget import DebateReservations as DebateReservations
from jury_judge.runs.session import judge_run as judge_run
from jury_judge.runs.session import judging_session as judging_session
from jury_judge.runs.supervision import ProcessFigures as ProcessFigures
from jury_judge.runs.supervision import RunSupervision as RunSupervision
from jury_judge.runs.supervision import StatusFile as StatusFile
from jury_judge.runs.usage import RunUsage as RunUsage
from jury_judge.runs.usage import RunUsageWatch as RunUsageWatch
from jury_judge.runs.usage import uncached_cost as uncached_cost
from jury_judge.runs.usage import uncached_sums as uncached_sums
from jury_judge.scores.debate_scores import judged_trace as judged_trace
from jury_judge.scores.score_export import ExportedScores as ExportedScores
from jury_judge.scripts import judge as judge
from jury_judge.seals.key_files import make_key as make_key
from jury_judge.seals.key_files import sign_calibration as sign_calibration
from jury_judge.seals.stored_seals import Sealing as Sealing
from jury_judge.serving.service import Reviewing as Reviewing
from jury_judge.serving.service import Service as Service
from jury_judge.serving.submissions import Submissions as Submissions
from jury_judge.settings.auditing import Erasure as Erasure
from jury_judge.settings.auditing import ErasureScope as ErasureScope
from jury_judge.settings.auditing import Rescoring as Rescoring
from jury_judge.settings.auditing import Verification as Verification
from jury_judge.settings.calibration import CalibrationSettings as CalibrationSettings
from jury_judge.settings.cases import CaseSettings as CaseSettings
from jury_judge.settings.debates import ListSettings as ListSettings
from jury_judge.settings.debates import Selection as Selection
from jury_judge.settings.debates import ShowSettings as ShowSettings
from jury_judge.settings.drift import DriftBaselineSettings as DriftBaselineSettings
from jury_judge.settings.drift import DriftCheckSettings as DriftCheckSettings
from jury_judge.settings.drift import DriftPlanSettings as DriftPlanSettings
from jury_judge.settings.gate import GateSettings as GateSettings
from jury_judge.settings.jury import Budget as Budget
from jury_judge.settings.jury import RuntimeSettings as RuntimeSettings
from jury_judge.settings.reviewing import ReviewSettings as ReviewSettings
from jury_judge.settings.run import ForkSettings as ForkSettings
from jury_judge.settings.run import ProbeSettings as ProbeSettings
from jury_judge.settings.run import ReportSettings as ReportSettings
from jury_judge.settings.run import RunSettings as RunSettings
from jury_judge.settings.run import SubmissionSettings as SubmissionSettings
from jury_judge.settings.serving import McpSettings as McpSettings
from jury_judge.settings.serving import ServeSettings as ServeSettings
from jury_judge.settings.settings_file import read_settings as read_settings
from jury_judge.settings.settings_file import settings_of as settings_of
from jury_judge.settings.statistics import Count as Count
from jury_judge.settings.statistics import StatisticsSettings as StatisticsSettings
from jury_judge.settings.statistics import WorthSettings as WorthSettings
from jury_judge.settings.store import Sources as Sources
from jury_judge.settings.store import load_settings as load_settings
from jury_judge.settings.votes import VoteReading as VoteReading
from jury_judge.settings_model import SettingsModel as SettingsModel
from jury_judge.settings_model import table_text as table_text
from jury_judge.simulation import SimulationSettings as SimulationSettings
from jury_judge.store_access.case_messages import CaseMessages as CaseMessages
from jury_judge.store_access.case_messages import OpenedCase as OpenedCase
from jury_judge.store_access.debates import opening_of as opening_of
from jury_judge.store_access.erasing import ErasedTexts as ErasedTexts
from jury_judge.store_access.erasing import PlannedErasure as PlannedErasure
from jury_judge.store_access.integrity_state import IntegrityState as IntegrityState
from jury_judge.store_access.open_batches import RecordedBatches as RecordedBatches
from jury_judge.store_access.open_batches import StoreBatchMetrics as StoreBatchMetrics
from jury_judge.store_access.stores import open_or_create as open_or_create
from jury_judge.tables.ballot_sources import COUNTED_COLUMNS as COUNTED_COLUMNS
from jury_judge.tables.ballot_sources import counted_ballots as counted_ballots
from jury_judge.tables.ballot_sources import stored_ballots as stored_ballots
from jury_judge.tables.table_export import export_tables as export_tables
from jury_judge.tables.table_files import CsvFile as CsvFile
from jury_judge.tables.votes_of_files import later_labels as later_labels
from jury_judge.telemetry.otlp_spans import SpanTree as SpanTree
from jury_judge.telemetry.otlp_spans import span_tree as span_tree
from jury_judge.webhooks.deliveries import DELAYS as DELAYS
from jury_judge.webhooks.deliveries import DeliveryJournal as DeliveryJournal
from jury_judge.webhooks.deliveries import ReviewDeliveries as ReviewDeliveries
from jury_judge.webhooks.deliveries import deliver as deliver
from jury_judge.webhooks.sender import SendOutcome as SendOutcome
from jury_judge.webhooks.sender import WebhookSender as WebhookSender
from jury_judge.webhooks.sender import signed_headers as signed_headers
from jury_judge.webhooks.sender import webhook_secret as webhook_secret
from jury_providers.simulated.http.server import Simulation as Simulation
from jury_replay.difference import ReplayDifference as ReplayDifference
from jury_replay.integrity import IntegrityFailure as IntegrityFailure
from jury_replay.regression import Regressed as Regressed
from jury_replay.replay import Replayed as Replayed
from jury_replay.rescoring.row_file import RescoreTable as RescoreTable
from jury_replay.rescoring.rows import RescoreProblem as RescoreProblem
from jury_replay.rescoring.rows import RescoreRow as RescoreRow
from jury_replay.rescoring.rows import RescoreStatus as RescoreStatus
from jury_replay.verify import VerifyReport as VerifyReport
from jury_store.debate_rows import DebateFilter as DebateFilter
from jury_store.debate_rows import DebateRow as DebateRow
from jury_store.debate_rows import RunRow as RunRow
from jury_store.debate_rows import Totals as Totals
from jury_store.errors import StoreError as StoreError
from jury_store.errors import StoreLocked as StoreLocked
from jury_store.list_order import SORT_COLUMNS as SORT_COLUMNS
from jury_store.list_order import BadCursor as BadCursor
from jury_store.list_order import PageCursor as PageCursor
from jury_store.list_order import SortOrder as SortOrder
from jury_store.run_registry import RunHolder as RunHolder
from jury_views.evaluation_models import EvaluationPhase as EvaluationPhase
from jury_views.evaluation_models import JurorEvaluation as JurorEvaluation
from jury_views.evaluation_models import QuotationSpan as QuotationSpan
from jury_views.evaluation_models import QuotedEvidence as QuotedEvidence
from jury_views.evaluation_models import ScenarioResult as ScenarioResult
from jury_views.live_events import LiveEvent as LiveEvent
from jury_views.result_models import Abstention as Abstention
from jury_views.result_models import CollaborativeEvaluationResult as CollaborativeEvaluationResult
from jury_views.result_models import CollaborativeJuryResult as CollaborativeJuryResult
from jury_views.result_models import ConsensusResult as ConsensusResult
from jury_views.result_models import DebateResult as DebateResult
from jury_views.result_models import DiscussionRound as DiscussionRound
from jury_views.result_models import FinalJudgment as FinalJudgment
from jury_views.result_models import JurorStatement as JurorStatement
from jury_views.result_models import JurorVote as JurorVote

__all__ = [
    "Budget",
    "CalibrationSettings",
    "Case",
    "CaseFileError",
    "CaseFiles",
    "CaseOptions",
    "Corpus",
    "DebateFilter",
    "DebateResult",
    "ForkSettings",
    "GateSettings",
    "Jury",
    "JuryError",
    "LiveEvent",
    "Observation",
    "Overrides",
    "PlannedProbe",
    "ProbeSettings",
    "Records",
    "Rescoring",
    "RunPlan",
    "RunSettings",
    "RuntimeSettings",
    "SettingError",
    "Simulation",
    "SortOrder",
    "Sources",
    "StatisticsSettings",
    "Verdict",
    "VoteReports",
    "WorthSettings",
    "Writing",
    "estimate_run",
    "judge",
    "judge_probe",
    "judge_run",
    "load_panel",
    "prepared_fork",
    "resumed_run",
    "settings_of",
]
