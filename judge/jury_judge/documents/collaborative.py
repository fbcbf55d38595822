"""The juries of the two documents: `CollaborativeJuryJudge` (004) and `ADKCollaborativeJuryJudge` (002)."""

import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import ClassVar, Unpack

from jury_debate.presets import ADK_SEQUENTIAL, PARALLEL_ROUNDS
from jury_events.panel import FinalMethod, Language, Panel
from jury_events.verdict import REVIEW
from jury_judge.documents.artifact_tools import ArtifactContext
from jury_judge.documents.compatibility import warn_of
from jury_judge.documents.jury_options import JuryOptions
from jury_judge.documents.reports import Report, Reported, read_reports
from jury_judge.documents.retired import warn_of_retired
from jury_judge.documents.scenarios import (
    Execution,
    Question,
    ScenarioLike,
    ScenarioRequest,
    asked_of,
    fill_in,
    scenario_warnings,
    scenarios_of,
)
from jury_judge.documents.seating import (
    with_judge_fallbacks,
    with_jurors,
    with_simulated_jurors,
    with_stagnation,
    with_turns,
    without_providers,
)
from jury_judge.documents.supplied_jury import DEFAULT_CASE_ID, judged_case
from jury_judge.jury import Jury
from jury_judge.panels.files import LoadedPanel, load_panel
from jury_judge.panels.variables import USE_COLLABORATIVE, Overrides, read_variables
from jury_judge.runs.callbacks import OnEvent
from jury_judge.runs.shared_context import SharedContext
from jury_views.result_models import CollaborativeEvaluationResult

_FINAL_JUDGE = "final_judge"

NO_SCENARIOS = "no_scenarios"
"""The status of an empty batch."""


class _CollaborativeJudge:
    """The common base: the documents' models under a preset of rules."""

    preset: ClassVar[str]
    honours_use_collaborative: ClassVar[bool]
    """Whether `JURY_USE_COLLABORATIVE=false` turns the discussion off."""

    def __init__(
        self,
        jurors: Sequence[str] | None = None,
        max_discussion_rounds: int | None = None,
        consensus_threshold: float | None = None,
        final_judge_model: str | None = None,
        final_judgment_method: FinalMethod | None = None,
        *,
        panel: str | os.PathLike[str] | None = None,
        language: Language | None = None,
        max_discussion_turns: int | None = None,
        stagnation_threshold: int | None = None,
        enable_openai: bool = True,
        enable_anthropic: bool = True,
        enable_google: bool = True,
        dry_run: bool = False,
        **options: Unpack[JuryOptions],
    ) -> None:
        environ = options.get("environ")
        environment = os.environ if environ is None else environ
        preset, warnings = self._preset_of(environment)
        overrides = Overrides(
            language, max_discussion_rounds, consensus_threshold, final_judgment_method, preset=preset
        )
        named = "documents" if panel is None else os.fspath(panel)
        loaded = _loaded(named, environment, overrides, final_judge_model, self.preset)
        resolved = loaded.resolved if jurors is None else with_jurors(loaded.resolved, jurors)
        enabled = {"openai": enable_openai, "anthropic": enable_anthropic, "google": enable_google}
        off = frozenset(name for name, on in enabled.items() if not on)
        resolved, remarks = without_providers(resolved, off)
        if max_discussion_turns is not None:
            resolved, remark = with_turns(resolved, max_discussion_turns, max_discussion_rounds)
            warnings.append(remark)
        if stagnation_threshold is not None:
            resolved = with_stagnation(resolved, stagnation_threshold)
        if dry_run:
            resolved = with_simulated_jurors(resolved)
            warnings.append(
                "dry_run=True: all jurors are simulated and no model is called, so the verdicts are not evaluations; "
                "every result has simulated=True"
            )
        else:
            warnings += remarks
        self._loaded = loaded._replace(resolved=resolved)
        warn_of(warnings, stacklevel=2)
        warn_of_retired(self.panel.models, stacklevel=2)
        make = partial(Jury, self._loaded, **options)
        make()  # refuses invalid options here, not at the first evaluation
        self._jury = SharedContext(make)

    def _preset_of(self, environ: Mapping[str, str]) -> tuple[str | None, list[str]]:
        """The preset (None: that of the environment), and warnings."""
        if read_variables(environ).collaborative is not False:
            return self.preset, []
        if self.honours_use_collaborative:
            return None, []
        remark = (
            f"{USE_COLLABORATIVE}=false: {type(self).__name__} always discusses (document 002); "
            "CollaborativeJuryJudge and jury run use the variable"
        )
        return self.preset, [remark]

    @property
    def panel(self) -> Panel:
        """The resolved panel and rules, with every default."""
        return self._loaded.panel

    @property
    def jurors(self) -> list[str]:
        """The jurors' ids, in seat order."""
        return list(self.panel.juror_ids)

    @property
    def max_discussion_rounds(self) -> int:
        """The most rounds."""
        return self.panel.discussion.max_rounds

    @property
    def consensus_threshold(self) -> float:
        """The share of jurors that ends the discussion early."""
        return self.panel.discussion.threshold

    @property
    def final_judgment_method(self) -> FinalMethod:
        """The method of phase 3."""
        return self.panel.final.method

    @property
    def final_judge_model(self) -> str | None:
        """The final judge's model, as `provider/model`; None where there is none."""
        return None if self.panel.final.judge is None else self.panel.final.judge.model

    @asynccontextmanager
    async def jury(self) -> AsyncIterator[Jury]:
        """The open Jury: to read, replay and rescore debates, or to keep it open between calls."""
        async with self._jury.use() as jury:
            yield jury

    async def evaluate_collaborative(
        self,
        question: Question,
        execution: Execution,
        security_gate_records: Report | None = None,
        agent_card_records: Report | None = None,
        sse_callback: OnEvent | None = None,
        *,
        security_gate_results: Report | None = None,
        agent_card_accuracy: Report | None = None,
        artifact_context: ArtifactContext | None = None,
        submission_id: str | None = None,
        case_id: str | None = None,
        run_id: str | None = None,
    ) -> CollaborativeEvaluationResult:
        """Judge one scenario in one debate.

        Concurrent calls share the providers' limits. Cancellation stops the debate where it is. Warns
        (`CompatibilityWarning`) of arguments that jurors do not see.

        Args:
            question: the agent's question: a text, a `QuestionSpec`, or an object with its fields.
            execution: the agent's execution: its answer, an `ExecutionResult`, or an object with its fields. A
                response of None is judged as an empty response.
            security_gate_records: decoded JSONL records (document 002).
            agent_card_records: decoded JSONL records (document 002).
            sse_callback: called with each live event; may be async.
            security_gate_results: the same under document 004's name: records, an object with a list of them as
                `records`, `results`, `scenarios` or `items`, or a summary of them (`total`, `passed`, `summary` …),
                which jurors see unchanged.
            agent_card_accuracy: as `security_gate_results`.
            artifact_context: records, or their URIs, instead of the arguments above.
            submission_id: the caller's id of the debate in live events; None: the debate's id.
            case_id: of the case in lists; None: the submission's id.
            run_id: of its run, in which case ids are unique; a second call continues an unfinished debate.

        Raises:
            SettingError: an argument is not valid, question and answer are both empty, or records are given twice or
                in an unknown shape.
            CaseFileError: a record cannot be read, or has no verdict.
            KeyMissing, Halted, StoreLocked: as `Jury.evaluate`.
        """
        listed = [asked_of(question, execution)]
        reported = read_reports(
            artifact_context,
            gate=(security_gate_records, security_gate_results),
            card=(agent_card_records, agent_card_accuracy),
            language=self.panel.language,
        )
        warn_of([*scenario_warnings(listed), *reported.warnings], stacklevel=2)
        return await self._evaluate(
            listed, reported, sse_callback=sse_callback, submission_id=submission_id, case_id=case_id, run_id=run_id
        )

    async def evaluate_collaborative_batch(
        self,
        scenarios: Iterable[ScenarioLike],
        security_gate_records: Report | None = None,
        agent_card_records: Report | None = None,
        sse_callback: OnEvent | None = None,
        *,
        security_gate_results: Report | None = None,
        agent_card_accuracy: Report | None = None,
        artifact_context: ArtifactContext | None = None,
        submission_id: str | None = None,
        case_id: str | None = None,
        run_id: str | None = None,
    ) -> CollaborativeEvaluationResult:
        """Judge several scenarios together, in one debate: one verdict, and in `scenario_results` a row for each.

        Every prompt lists them all. To judge each case in its own debate, see `Jury.evaluate_many`.

        Without a scenario there is no debate: the verdict of the result is `REVIEW` without a score, its status
        "no_scenarios", so that it does not count as a pass, and a warning is issued.

        Args:
            scenarios: up to 200, each a pair of question and execution, or a `Scenario`.
            security_gate_records, agent_card_records, sse_callback, security_gate_results, agent_card_accuracy,
                artifact_context, submission_id, case_id, run_id: as `evaluate_collaborative`.

        Raises:
            SettingError: as `evaluate_collaborative`; the message names the scenario.
            CaseFileError, KeyMissing, Halted, StoreLocked: as `evaluate_collaborative`.
        """
        listed = scenarios_of(list(scenarios))
        reported = read_reports(
            artifact_context,
            gate=(security_gate_records, security_gate_results),
            card=(agent_card_records, agent_card_accuracy),
            language=self.panel.language,
        )
        if not listed:
            warn_of([_EMPTY_BATCH], stacklevel=2)
            return self._empty_result(submission_id, case_id, run_id)
        warn_of([*scenario_warnings(listed), *reported.warnings], stacklevel=2)
        return await self._evaluate(
            listed, reported, sse_callback=sse_callback, submission_id=submission_id, case_id=case_id, run_id=run_id
        )

    async def _evaluate(
        self,
        listed: list[ScenarioRequest],
        reported: Reported,
        *,
        sse_callback: OnEvent | None,
        submission_id: str | None,
        case_id: str | None,
        run_id: str | None,
    ) -> CollaborativeEvaluationResult:
        case = judged_case(
            [one.scenario for one in listed],
            reported.artifacts,
            summary=reported.summary,
            case_id=case_id or submission_id,
            images=[image for one in listed for image in one.images],
        )
        async with self._jury.use() as jury:
            result = await jury.evaluate(case, run_id=run_id, submission_id=submission_id, on_event=sse_callback)
        return fill_in(result, listed)

    def _empty_result(
        self, submission_id: str | None, case_id: str | None, run_id: str | None
    ) -> CollaborativeEvaluationResult:
        return CollaborativeEvaluationResult(
            phase1_evaluations=[],
            phase1_consensus=None,
            discussion_rounds=[],
            total_rounds=0,
            phase3_judgment=None,
            final_verdict=REVIEW.value,
            final_score=None,
            early_termination=False,
            case_id=case_id or submission_id or DEFAULT_CASE_ID,
            run_id=run_id,
            submission_id=submission_id,
            status=NO_SCENARIOS,
            panel=self.panel.name,
            method=self.panel.final.method,
            simulated=all(model.startswith("simulated/") for model in self.panel.models),
        )


_EMPTY_BATCH = (
    "scenarios: empty, so nothing was judged and no debate is recorded; "
    f'the result is {REVIEW} without a score, with the status "{NO_SCENARIOS}"'
)


class CollaborativeJuryJudge(_CollaborativeJudge):
    """Document 004's jury: all jurors speak concurrently in a round (preset `parallel-rounds`).

    With `JURY_USE_COLLABORATIVE=false` there is no discussion and the majority decides (preset `independent`), as with
    `jury run`; explicit arguments take precedence. Warns (`RetiredModelWarning`) of retired models, with their
    replacements, and (`CompatibilityWarning`) of arguments that are ignored or converted.

    Args:
        jurors: model ids; None: the documents' three. Roles are those of the documents, or assigned in order.
        max_discussion_rounds: None: `JURY_MAX_DISCUSSION_ROUNDS`, else 3.
        consensus_threshold: None: `JURY_CONSENSUS_THRESHOLD`, else 2.0, which no three jurors reach.
        final_judge_model: None: `JURY_FINAL_JUDGE_MODEL`, else gemini-2.5-pro; used by the method `final_judge`.
        final_judgment_method: None: `JURY_FINAL_JUDGMENT_METHOD`, else `final_judge`.
        panel: a panel file, or the name of a packaged panel, in place of the documents' seats.
        language: of the prompts, `ja` or `en`; None: the panel's.
        max_discussion_turns: the limit of rounds in statements of single jurors: nine turns of three jurors are three
            rounds.
        stagnation_threshold: end the discussion after so many rounds without a change of position, 1 to 100.
        enable_openai: False removes OpenAI's jurors, also as fallbacks; the final judge stays.
        enable_anthropic: the same for Anthropic's.
        enable_google: the same for Google's.
        dry_run: simulated jurors, and no model is called; every result is `simulated`.
        options: as `Jury`; among them `store`, for the record.

    Raises:
        PanelFileError, SettingError: an argument or variable is not valid, two arguments contradict each other, or no
            juror is left.
        UnknownProvider: a model has no provider.
    """

    preset = PARALLEL_ROUNDS
    honours_use_collaborative = True


class ADKCollaborativeJuryJudge(_CollaborativeJudge):
    """Document 002's jury: jurors speak one after the other (preset `adk-sequential`), and always discuss.

    As `CollaborativeJuryJudge`, but the default `consensus_threshold` is 0.67, which two of three reach, and
    `JURY_USE_COLLABORATIVE=false`, a variable of document 004, is ignored with a warning.
    """

    preset = ADK_SEQUENTIAL
    honours_use_collaborative = False


def _loaded(
    panel: str, environ: Mapping[str, str], overrides: Overrides, judge_model: str | None, preset: str
) -> LoadedPanel:
    loaded = load_panel(panel, environ, overrides)
    if judge_model is not None and loaded.panel.final.method == _FINAL_JUDGE:
        # Document 002 always passes one; other methods ignore it.
        loaded = load_panel(panel, environ, overrides._replace(judge_model=judge_model))
    preset_judge = load_panel(panel, {}, Overrides(preset=preset)).panel.final.judge
    if preset_judge is not None and loaded.panel.final.judge not in {None, preset_judge}:
        loaded = loaded._replace(resolved=with_judge_fallbacks(loaded.resolved))
    return loaded
