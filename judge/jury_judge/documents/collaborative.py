"""The juries of the two documents: `CollaborativeJuryJudge` (004) and `ADKCollaborativeJuryJudge` (002)."""

import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import ClassVar, Unpack

from jury_debate.presets import ADK_SEQUENTIAL, PARALLEL_ROUNDS
from jury_events.case import Scenario
from jury_events.errors import SettingError
from jury_events.panel import FinalMethod, Language, Panel
from jury_judge.documents.artifact_tools import (
    ArtifactContext,
    Execution,
    Question,
    Records,
    ScenarioLike,
    judged_case,
    scenario_of,
    scenarios_of,
)
from jury_judge.documents.seating import JuryOptions, warn_of_retired, with_judge_fallbacks, with_jurors
from jury_judge.jury import Jury
from jury_judge.panels.files import LoadedPanel, load_panel
from jury_judge.panels.variables import Overrides, read_variables
from jury_judge.runs.callbacks import OnEvent
from jury_judge.runs.shared_context import SharedContext
from jury_views.result_models import CollaborativeEvaluationResult

_FINAL_JUDGE = "final_judge"


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
        **options: Unpack[JuryOptions],
    ) -> None:
        given = options.get("environ")
        environ = os.environ if given is None else given
        alone = self.honours_use_collaborative and read_variables(environ).collaborative is False
        overrides = Overrides(
            language=language,
            max_rounds=max_discussion_rounds,
            threshold=consensus_threshold,
            method=final_judgment_method,
            preset=None if alone else self.preset,
        )
        named = "documents" if panel is None else os.fspath(panel)
        self._loaded = _loaded(named, environ, overrides, final_judge_model, self.preset)
        if jurors is not None:
            self._loaded = self._loaded._replace(resolved=with_jurors(self._loaded.resolved, jurors))
        warn_of_retired(self.panel.models, stacklevel=2)
        make = partial(Jury, self._loaded, **options)
        make()  # refuses invalid options here, not at the first evaluation
        self._jury = SharedContext(make)

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
        security_gate_records: Records | None = None,
        agent_card_records: Records | None = None,
        sse_callback: OnEvent | None = None,
        *,
        artifact_context: ArtifactContext | None = None,
        submission_id: str | None = None,
        case_id: str | None = None,
        run_id: str | None = None,
    ) -> CollaborativeEvaluationResult:
        """Judge one scenario in one debate.

        Concurrent calls share the providers' limits. Cancellation stops the debate where it is.

        Args:
            question: the agent's question: a `QuestionSpec`, or its text.
            execution: the agent's execution: an `ExecutionResult`, or its answer.
            security_gate_records: decoded JSONL records.
            agent_card_records: decoded JSONL records.
            sse_callback: called with each live event; may be async.
            artifact_context: records, or their URIs, instead of the two arguments above.
            submission_id: the caller's id of the debate in live events; None: the debate's id.
            case_id: of the case in lists; None: the submission's id.
            run_id: of its run, in which case ids are unique; a second call continues an unfinished debate.

        Raises:
            SettingError: an argument is not valid, question and answer are both empty, or records are given twice.
            CaseFileError: a record cannot be read, or has no verdict.
            KeyMissing, Halted, StoreLocked: as `Jury.evaluate`.
        """
        artifacts = _artifacts(artifact_context, security_gate_records, agent_card_records)
        return await self._evaluate(
            [scenario_of(question, execution)], artifacts, sse_callback, submission_id, case_id, run_id
        )

    async def evaluate_collaborative_batch(
        self,
        scenarios: Iterable[ScenarioLike],
        security_gate_records: Records | None = None,
        agent_card_records: Records | None = None,
        sse_callback: OnEvent | None = None,
        *,
        artifact_context: ArtifactContext | None = None,
        submission_id: str | None = None,
        case_id: str | None = None,
        run_id: str | None = None,
    ) -> CollaborativeEvaluationResult:
        """Judge several scenarios together, in one debate: one verdict, and in `scenario_results` a row for each.

        Every prompt lists them all. To judge each case in its own debate, see `Jury.evaluate_many`.

        Further arguments are as of `evaluate_collaborative`.

        Args:
            scenarios: 1 to 200, each a pair of question and execution, or a `Scenario`.
        """
        artifacts = _artifacts(artifact_context, security_gate_records, agent_card_records)
        listed = scenarios_of(list(scenarios))
        return await self._evaluate(listed, artifacts, sse_callback, submission_id, case_id, run_id)

    async def _evaluate(  # noqa: PLR0917  (the arguments of both calls, in their order)
        self,
        listed: list[Scenario],
        artifacts: ArtifactContext,
        sse_callback: OnEvent | None,
        submission_id: str | None,
        case_id: str | None,
        run_id: str | None,
    ) -> CollaborativeEvaluationResult:
        case = judged_case(listed, artifacts, case_id=case_id or submission_id)
        async with self._jury.use() as jury:
            return await jury.evaluate(case, run_id=run_id, submission_id=submission_id, on_event=sse_callback)


class CollaborativeJuryJudge(_CollaborativeJudge):
    """Document 004's jury: all jurors speak concurrently in a round (preset `parallel-rounds`).

    With `JURY_USE_COLLABORATIVE=false` there is no discussion and the majority decides (preset `independent`), as with
    `jury run`; explicit arguments take precedence. Warns (`RetiredModelWarning`) of retired models, with their
    replacements.

    Args:
        jurors: model ids; None: the documents' three. Roles are those of the documents, or assigned in order.
        max_discussion_rounds: None: `JURY_MAX_DISCUSSION_ROUNDS`, else 3.
        consensus_threshold: None: `JURY_CONSENSUS_THRESHOLD`, else 2.0, which no three jurors reach.
        final_judge_model: None: `JURY_FINAL_JUDGE_MODEL`, else gemini-2.5-pro; used by the method `final_judge`.
        final_judgment_method: None: `JURY_FINAL_JUDGMENT_METHOD`, else `final_judge`.
        panel: a panel file, or the name of a packaged panel, in place of the documents' seats.
        language: of the prompts, `ja` or `en`; None: the panel's.
        options: as `Jury`; among them `store`, for the record.

    Raises:
        PanelFileError, SettingError: an argument or variable is not valid.
        UnknownProvider: a model has no provider.
    """

    preset = PARALLEL_ROUNDS
    honours_use_collaborative = True


class ADKCollaborativeJuryJudge(_CollaborativeJudge):
    """Document 002's jury: jurors speak one after the other (preset `adk-sequential`), and always discuss.

    As `CollaborativeJuryJudge`, but the default `consensus_threshold` is 0.67, which two of three reach, and
    `JURY_USE_COLLABORATIVE`, a variable of document 004, is not read.
    """

    preset = ADK_SEQUENTIAL
    honours_use_collaborative = False


def _artifacts(context: ArtifactContext | None, gate: Records | None, card: Records | None) -> ArtifactContext:
    if context is None:
        return ArtifactContext(security_gate_records=gate, agent_card_records=card)
    if gate is not None or card is not None:
        raise SettingError("artifact_context: records are given too; keep one of them")
    return context


def _loaded(
    panel: str, environ: Mapping[str, str], overrides: Overrides, judge_model: str | None, preset: str
) -> LoadedPanel:
    loaded = load_panel(panel, environ, overrides)
    if judge_model is not None and loaded.panel.final.method == _FINAL_JUDGE:
        # Document 002 always passes one; other methods ignore it.
        loaded = load_panel(panel, environ, overrides.changed(judge_model=judge_model))
    preset_judge = load_panel(panel, {}, Overrides(preset=preset)).panel.final.judge
    if preset_judge is not None and loaded.panel.final.judge not in {None, preset_judge}:
        loaded = loaded._replace(resolved=with_judge_fallbacks(loaded.resolved))
    return loaded
