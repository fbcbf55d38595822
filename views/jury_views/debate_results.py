"""Makes the result of a debate of stored facts alone, so that every later reading gives the same."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jury_events.codec import DebateEvent
from jury_events.debate_events import (
    DebateCompleted,
    DebateOpened,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    StatementMade,
)
from jury_events.debate_history import DebateHistory
from jury_events.evaluation import Evaluation, ScenarioVerdict
from jury_events.ids import Step
from jury_events.judgment import ConsensusCheck
from jury_events.local_facts import NOTHING_LOCAL, LocalFacts
from jury_events.panel import Seat
from jury_events.review_facts import NO_REVIEWS, ReviewFacts
from jury_views.case_view import label_decisive_object
from jury_views.debate_fold import (
    Change,
    DebateFold,
    RoundEvents,
    Texts,
    folded,
    quotations,
    text_in,
)
from jury_views.evaluation_models import (
    NO_REASONS,
    BranchOrigin,
    EvaluationPhase,
    JurorEvaluation,
    QuotationSpan,
    QuotedEvidence,
    ReadPart,
    Reasons,
    ScenarioResult,
    UnreadItems,
    reasons_in,
    review_objects,
)
from jury_views.judgment_lines import later_events_object
from jury_views.number_formats import probabilities_object
from jury_views.reasons import FINAL_JUDGE, reason_of
from jury_views.result_lines import outcome_fields
from jury_views.result_models import (
    Abstention,
    ConsensusResult,
    DebateResult,
    DiscussionRound,
    FinalJudgment,
    JurorStatement,
    JurorVote,
    ShortfallResult,
    VerdictAcceptance,
)


def result_of(history: DebateHistory, until: int | None = None) -> DebateResult:
    """The result of a recorded debate, with the reviews of people; `until`: as it was after so many events."""
    return debate_result(history.events[:until], history.texts, history.reviews, reasons_in(history), history.local)


def collaborative_result(events: Iterable[DebateEvent], texts: Texts) -> dict[str, Any]:
    """The data of `debate_result`."""
    return debate_result(events, texts).data()


def debate_result(
    events: Iterable[DebateEvent],
    texts: Texts,
    reviews: ReviewFacts = NO_REVIEWS,
    reasons: Reasons = NO_REASONS,
    local: LocalFacts = NOTHING_LOCAL,
) -> DebateResult:
    """Everything that a debate came to, also of one that has not completed."""
    record = folded(events, reviews)
    opened, forked, ending = record.opened, record.forked, record.ending
    completed = ending if isinstance(ending, DebateCompleted) else None
    decided = reviews.verdict or (completed.final_verdict if completed else None)
    return DebateResult(
        **outcome_fields(opened, record.answers, completed, reason_of(record, texts), record.status),
        phase1_evaluations=_first_evaluations([*record.phase_1, *(record.with_reasoning or ())], opened, texts),
        before_reasoning=[] if record.with_reasoning is None else _first_evaluations(record.phase_1, opened, texts),
        phase1_consensus=_consensus(record.phase_1_check),
        discussion_rounds=[_round(opened, each, record.changes, texts) for each in record.rounds],
        total_rounds=_completed_rounds(record) if completed is None else completed.total_rounds,
        phase3_judgment=_judgment(record.judgment, texts),
        submission_id=opened.submission_id,
        abstentions=_abstentions(record),
        forked_from=BranchOrigin(debate_id=forked.origin, version=forked.version) if forked else None,
        label_decisive=label_decisive_object(opened, texts),
        disposition=None if decided is None else decided.value,
        later_events=later_events_object(local.later_events),
        reviews=review_objects(reviews, reasons),
        scenario_results=_scenario_results(opened, record.judgment),
    )


def _first_evaluations(
    said: Sequence[JurorEvaluated | JurorAbstained], opened: DebateOpened, texts: Texts
) -> list[JurorEvaluation]:
    """The latest evaluation of each seat."""
    latest = {one.juror_id: one.evaluation for one in said if isinstance(one, JurorEvaluated)}
    return [_juror_evaluation(opened.panel.seat(juror), one, 0, texts) for juror, one in latest.items()]


def _evaluation(evaluation: Evaluation, texts: Texts, **who: Any) -> JurorEvaluation:
    points = {score.dimension: score.points for score in evaluation.points}
    return JurorEvaluation(
        **who,
        verdict=evaluation.verdict.value,
        overall_score=evaluation.overall,
        confidence=evaluation.confidence,
        rationale=text_in(texts, evaluation.rationale),
        task_completion=points.get("task_completion"),
        tool_usage=points.get("tool_usage"),
        autonomy=points.get("autonomy"),
        safety=points.get("safety"),
        scores=points,
        synthetic=evaluation.synthetic,
        model=evaluation.model,
        model_version=evaluation.model_version,
        simulated=evaluation.simulated,
        scenarios=_scenarios(evaluation.scenarios, given=True),
        evidence=None if evaluation.evidence is None else evidence_of(evaluation, texts),
        decisive_item=evaluation.decisive_item,
        unsupported=evaluation.unsupported,
        label=evaluation.label,
        reading=_reading_object(evaluation),
        probabilities=probabilities_object(evaluation.probabilities),
    )


def evidence_of(evaluation: Evaluation, texts: Texts) -> list[QuotedEvidence]:
    """The quotations of an evaluation with the results of their checks."""
    return [
        QuotedEvidence(
            item=one.entry.item,
            quote=one.text,
            says=one.entry.says,
            criterion=one.entry.criterion,
            seat=one.entry.seat,
            result=one.entry.result,
            span=None if one.entry.span is None else QuotationSpan(**one.entry.span.model_dump()),
        )
        for one in quotations(evaluation, texts)
    ]


def _juror_evaluation(seat: Seat, evaluation: Evaluation, round_number: int, texts: Texts) -> JurorEvaluation:
    return _evaluation(
        evaluation,
        texts,
        juror_id=seat.juror_id,
        role_name=seat.role_name,
        role_focus=seat.role_focus,
        phase=EvaluationPhase.DISCUSSION if round_number else EvaluationPhase.INITIAL,
        round_number=round_number,
    )


def _scenarios(scenarios: tuple[ScenarioVerdict, ...], *, given: bool = False) -> list[ScenarioResult]:
    """Where `given`, with the probabilities that a decision model gave."""
    return [
        ScenarioResult(
            s.scenario_id, s.verdict.value, s.score, s.label, probabilities_object(s.probabilities) if given else None
        )
        for s in scenarios
    ]


def _scenario_results(opened: DebateOpened, rendered: JudgmentRendered | None) -> list[ScenarioResult]:
    """One row a scenario; where the judgment has none (one scenario alone, no vote), the row is that of the case."""
    if rendered is None:
        return []
    judgment = rendered.judgment
    judged = {row.scenario_id: row for row in _scenarios(judgment.scenarios)}
    score = judgment.score if judgment.score is None else float(judgment.score)
    return [
        judged.get(name) or ScenarioResult(name, judgment.verdict.value, score, judgment.label)
        for name in opened.scenarios
    ]


def _consensus(check: ConsensusCheck | None) -> ConsensusResult | None:
    if check is None:
        return None
    position = check.majority_position.value if check.majority_position else None
    return ConsensusResult(check.status, check.agreement_level, check.reached, position, check.majority_label)


def _round(opened: DebateOpened, record: RoundEvents, changes: Mapping[Step, Change], texts: Texts) -> DiscussionRound:
    return DiscussionRound(
        round_number=record.started.round,
        statements=[_statement(opened, said, changes.get(said.step), texts) for said in record.statements],
        consensus_check=_consensus(record.check),
        speaker_order=list(record.started.speaker_order),
    )


def _statement(opened: DebateOpened, said: StatementMade, change: Change | None, texts: Texts) -> JurorStatement:
    statement = said.statement
    return JurorStatement(
        juror_id=said.juror_id,
        round_number=said.round,
        statement_order=statement.order,
        statement=text_in(texts, statement.statement),
        position=statement.position.value,
        reasoning=text_in(texts, statement.evaluation.rationale),
        position_changed=statement.position_changed,
        change=change,
        updated_evaluation=_juror_evaluation(opened.panel.seat(said.juror_id), statement.evaluation, said.round, texts),
    )


def _abstentions(record: DebateFold) -> list[Abstention]:
    return [
        Abstention(
            juror_id=absent.juror_id,
            round_number=Step.parse(absent.step).round or 0,
            reason=absent.reason.value,
            refusal=absent.refusal.value if absent.refusal else None,
            stale=absent.stale,
            partly_read=list(absent.partly_read or ()),
        )
        for absent in record.abstentions
    ]


def _completed_rounds(record: DebateFold) -> int:
    return sum(each.check is not None for each in record.rounds)


def _judgment(rendered: JudgmentRendered | None, texts: Texts) -> FinalJudgment | None:
    if rendered is None:
        return None
    made = rendered.judgment
    judge = {"juror_id": FINAL_JUDGE, "phase": EvaluationPhase.FINAL_JUDGMENT, "round_number": 0}
    return FinalJudgment(
        method=made.method,
        decided_by=made.decided_by.value,
        verdict=made.verdict.value,
        label=made.label,
        agreed_on=made.agreed_on,
        shortfalls=[ShortfallResult(**one.model_dump(mode="json")) for one in made.shortfalls or ()],
        score=made.score,
        mean=made.mean,
        rationale=text_in(texts, made.judge.rationale) if made.judge else None,
        quorum=made.quorum,
        quorum_votes=made.quorum_votes,
        quorum_met=made.quorum_met,
        capped=made.capped,
        capped_by=made.capped_by,
        capped_scenarios=list(made.capped_scenarios or ()),
        acceptance=None if made.acceptance is None else VerdictAcceptance(**made.acceptance.model_dump(mode="json")),
        votes=[
            JurorVote(**vote.model_dump(mode="json") | {"partly_read": list(vote.partly_read or ())})
            for vote in made.votes
        ],
        judge=_evaluation(made.judge, texts, **judge) if made.judge else None,
        judge_failure=made.judge_failure.value if made.judge_failure else None,
        scenarios=_scenarios(made.scenarios),
    )


def _reading_object(evaluation: Evaluation) -> ReadPart | None:
    """What an evaluation rests on; None: all of the record, in one call."""
    read = evaluation.reading
    if read is None:
        return None
    return ReadPart(
        mode=read.mode,
        parts=read.parts,
        items_read=read.items_read,
        items_total=read.items_total,
        characters_read=read.characters_read,
        characters_total=read.characters_total,
        share=read.share,
        partly_read=list(read.partly_read or ()),
        unread=[UnreadItems(first=span.first, last=span.last) for span in read.unread],
        findings_left_out=read.findings_left_out,
        answered=None if evaluation.answered is None else evaluation.answered.value,
    )
