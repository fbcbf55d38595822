"""The juries of the two documents: `CollaborativeJuryJudge` (004) and `ADKCollaborativeJuryJudge` (002)."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import ClassVar, Unpack

from jury_debate.errors import PanelError
from jury_debate.panel_spec import PanelSpec, ResolvedPanel, SeatSpec, SpeakersSpec, full_model_name, resolve
from jury_debate.presets import ADK_SEQUENTIAL, PARALLEL_ROUNDS
from jury_debate.recorded_panel import spec_of
from jury_events.case import Case
from jury_events.panel import FinalMethod, Language, Panel
from jury_judge.documents.artifact_tools import ArtifactContext, Records
from jury_judge.documents.held import judged_case
from jury_judge.documents.retired import warn_of_retired
from jury_judge.documents.scenarios import Execution, Question, ScenarioLike, scenario, scenario_of
from jury_judge.documents.shared_jury import JuryOptions, SharedJury
from jury_judge.errors import PanelFileError, SettingError
from jury_judge.jury import Jury
from jury_judge.panels.files import load_panel
from jury_judge.panels.variables import Overrides
from jury_judge.results import CollaborativeEvaluationResult
from jury_judge.telling import OnEvent

_FINAL_JUDGE = "final_judge"


class _CollaborativeJudge:
    """What the two have in common: the documents' models, under a preset of rules."""

    preset: ClassVar[str]

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
        environ = options.get("environ")
        overrides = Overrides(
            language, max_discussion_rounds, consensus_threshold, final_judgment_method, preset=self.preset
        )
        named = "documents" if panel is None else os.fspath(panel)
        surroundings = os.environ if environ is None else environ
        loaded = load_panel(named, surroundings, overrides)
        if final_judge_model is not None and loaded.panel.final.method == _FINAL_JUDGE:
            # Document 002 always names one; other methods have no use for it.
            loaded = load_panel(named, surroundings, overrides._replace(judge_model=final_judge_model))
        written = load_panel(named, {}, Overrides(preset=self.preset)).panel.final.judge
        if written is not None and loaded.panel.final.judge not in {None, written}:
            loaded = loaded._replace(resolved=_with_own_fallbacks(loaded.resolved))
        if jurors is not None:
            loaded = loaded._replace(resolved=with_jurors(loaded.resolved, jurors))
        warn_of_retired(loaded.panel.models, stacklevel=2)
        self._loaded = loaded
        make = partial(Jury, loaded, **options)
        make()  # what no Jury takes is refused here, and not when something is to be judged
        self._jury = SharedJury(make)

    @property
    def panel(self) -> Panel:
        """Who sits, and under which rules, every default written out."""
        return self._loaded.panel

    @property
    def jurors(self) -> list[str]:
        """The jurors' ids, in their order."""
        return list(self.panel.juror_ids)

    @property
    def max_discussion_rounds(self) -> int:
        """Rounds at most."""
        return self.panel.discussion.max_rounds

    @property
    def consensus_threshold(self) -> float:
        """What share of the jurors ends the discussion early."""
        return self.panel.discussion.threshold

    @property
    def final_judgment_method(self) -> FinalMethod:
        """How phase 3 decides."""
        return self.panel.final.method

    @property
    def final_judge_model(self) -> str | None:
        """The final judge's model, as `provider/model`; None where there is none."""
        return None if self.panel.final.judge is None else self.panel.final.judge.model

    @asynccontextmanager
    async def jury(self) -> AsyncIterator[Jury]:
        """The Jury behind it, open: to read, replay and rescore what was judged, or to keep it open between calls."""
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
        """Judge one scenario, in a debate of its own.

        Calls that run at once share the providers' limits. On being cancelled the debate stops where it is.

        Args:
            question: what the agent was asked: its text, a `QuestionSpec`, or what has its fields.
            execution: what it did: its answer, an `ExecutionResult`, or what has its fields.
            security_gate_records: decoded JSONL records.
            agent_card_records: decoded JSONL records.
            sse_callback: told of each live event; may be async.
            artifact_context: where the records are, instead of the records.
            submission_id: what the caller calls the debate in live events; else they bear its id.
            case_id: names the case in lists; None is the submission's id.
            run_id: the run that it belongs to, whose case ids are unique; called again, it goes on where it stopped.

        Raises:
            SettingError: an argument cannot be used, or records are given twice.
            CaseFileError: a record cannot be read.
            KeyMissing, Halted, StoreLocked: as `Jury.evaluate`.
        """
        case = judged_case(
            [scenario(question, execution)],
            _artifacts(artifact_context, security_gate_records, agent_card_records),
            case_id=case_id or submission_id,
        )
        return await self._evaluate(case, sse_callback, submission_id, run_id)

    async def evaluate_collaborative_batch(
        self,
        scenarios: Sequence[ScenarioLike],
        security_gate_records: Records | None = None,
        agent_card_records: Records | None = None,
        sse_callback: OnEvent | None = None,
        *,
        artifact_context: ArtifactContext | None = None,
        submission_id: str | None = None,
        case_id: str | None = None,
        run_id: str | None = None,
    ) -> CollaborativeEvaluationResult:
        """Judge several scenarios together, in one debate: one verdict, and in `scenarios` a row for each of them.

        Every prompt lists them all. To judge cases one by one, a debate each, see `Jury.evaluate_many`.

        Args:
            scenarios: 1 to 200, each a question with what the agent did, or a `Scenario` with an id of its own.
            security_gate_records, agent_card_records, sse_callback, artifact_context, submission_id, case_id, run_id:
                as `evaluate_collaborative`.

        Raises:
            SettingError: there is no scenario, one cannot be used, or records are given twice.
            CaseFileError, KeyMissing, Halted, StoreLocked: as `evaluate_collaborative`.
        """
        if not scenarios:
            raise SettingError("scenarios: there is none; give at least one question with what the agent did")
        case = judged_case(
            [scenario_of(one, number) for number, one in enumerate(scenarios, start=1)],
            _artifacts(artifact_context, security_gate_records, agent_card_records),
            case_id=case_id or submission_id,
        )
        return await self._evaluate(case, sse_callback, submission_id, run_id)

    async def _evaluate(
        self, case: Case, sse_callback: OnEvent | None, submission_id: str | None, run_id: str | None
    ) -> CollaborativeEvaluationResult:
        async with self._jury.use() as jury:
            return await jury.evaluate(case, run_id=run_id, submission_id=submission_id, on_event=sse_callback)


class CollaborativeJuryJudge(_CollaborativeJudge):
    """Document 004's jury: all jurors speak at once in a round (preset `parallel-rounds`).

    Warns (`RetiredModelWarning`) of models that are retired, naming those that live.

    Args:
        jurors: model ids; None is the documents' three. Roles go by the documents, or in their order.
        max_discussion_rounds: None is `JURY_MAX_DISCUSSION_ROUNDS`, else 3.
        consensus_threshold: None is `JURY_CONSENSUS_THRESHOLD`, else 2.0, which no three jurors reach.
        final_judge_model: None is `JURY_FINAL_JUDGE_MODEL`, else gemini-2.5-pro; used by the method `final_judge`.
        final_judgment_method: None is `JURY_FINAL_JUDGMENT_METHOD`, else `final_judge`.
        panel: a panel file, or the name of a jury that comes along, whose seats sit instead.
        language: of the prompts, `ja` or `en`; None is the panel's.
        options: as `Jury`; among them `store`, where everything is recorded.

    Raises:
        PanelFileError, SettingError: an argument or variable cannot be used.
        UnknownProvider: a model has no provider.
    """

    preset = PARALLEL_ROUNDS


class ADKCollaborativeJuryJudge(_CollaborativeJudge):
    """Document 002's jury: jurors speak one after the other (preset `adk-sequential`), and discuss in any case.

    As `CollaborativeJuryJudge`, but `consensus_threshold` is 0.67 by itself, which two of three reach.
    """

    preset = ADK_SEQUENTIAL


def with_jurors(resolved: ResolvedPanel, jurors: Sequence[str]) -> ResolvedPanel:
    """The panel with other jurors: those of its own by their ids, any other by its model; the quorum follows.

    Raises:
        PanelFileError: there is none, or a model has no known provider.
    """
    jurors = jurors if isinstance(jurors, str) else list(jurors)
    if isinstance(jurors, str) or not jurors or not all(isinstance(juror, str) for juror in jurors):
        raise PanelFileError("jurors: give a list of model ids, one at least")
    spec = spec_of(resolved)
    own = {str(seat.juror_id): seat for seat in spec.seats}
    try:
        seats = tuple(own.get(juror) or SeatSpec(model=full_model_name(juror)) for juror in jurors)
        changed = {"seats": seats, "final": spec.final.model_copy(update={"quorum": None})}
        speakers = SpeakersSpec(kind=spec.discussion.speakers.kind, seed=spec.discussion.speakers.seed)
        changed["discussion"] = spec.discussion.model_copy(update={"speakers": speakers})
        return resolve(PanelSpec.model_validate(spec.model_copy(update=changed)))
    except PanelError as error:
        raise PanelFileError(f"jurors: {error}") from error


def _with_own_fallbacks(resolved: ResolvedPanel) -> ResolvedPanel:
    """Another judge than the panel's falls back on what follows from its own model: a Claude is there for a Gemini."""
    spec = spec_of(resolved)
    assert spec.final.judge is not None
    judge = spec.final.judge.model_copy(update={"fallbacks": None})
    return resolve(spec.model_copy(update={"final": spec.final.model_copy(update={"judge": judge})}))


def _artifacts(context: ArtifactContext | None, gate: Records | None, card: Records | None) -> ArtifactContext:
    if context is None:
        return ArtifactContext(security_gate_records=gate, agent_card_records=card)
    if gate is not None or card is not None:
        raise SettingError("artifact_context: records are given beside it; keep one of them")
    return context
