"""Phase 3: the judgment, from the latest evaluations of the seats.

The votes are counted as `votes` says. Critical criteria, silent seats, the quorum and the acceptance change the verdict
after it; a verdict that one of them changes has no label. The exact mean decides; the score that is shown is a whole
number in the band of the verdict, where bands decide.

Acceptance: whether a calibrated panel's verdict may stand without a person. It compares decisive items, not the
messages that they come from: the judgment is computed without the texts of the case, which may be erased, and a
calibration is certified on the same items."""

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import NamedTuple

from jury_debate.rules_1.votes import (
    CountedVote,
    LabelledVote,
    VoteTally,
    banded,
    capped,
    deciding_method,
    shares,
    shortfalls,
    stands,
    state_to_judge,
    tally,
)
from jury_debate.state import DebateState
from jury_events.calibration import Acceptance, Calibration, SignalVote
from jury_events.debate_events import DebateCompleted
from jury_events.evaluation import Evaluation, ScenarioVerdict, SeatPosition
from jury_events.exact import exact, half_up
from jury_events.judgment import Agreement, Decider, Judgment, Vote
from jury_events.outcome import FailureReason
from jury_events.panel import Bands, Panel, Seat
from jury_events.value import trusted
from jury_events.verdict import PASS, REVIEW, Verdict

_WHOLE = Fraction(1)


_NONE = VoteTally(REVIEW, None, "nothing", (), Fraction())


_BY_BANDS = frozenset({Decider.WEIGHTED_AVERAGE, Decider.MEDIAN})


def render(
    state: DebateState, *, judge: Evaluation | None = None, judge_failure: FailureReason | None = None
) -> Judgment:
    """The judgment of a debate whose discussion is over.

    Args:
        state: phase `DELIBERATED`.
        judge: the final judge's evaluation, if there is one.
    """
    counted = state if judge is not None else state_to_judge(state)
    rendered, mean = _rendered(counted, judge, judge_failure, shares(state))
    if judge_failure is not None and state.evaluations:
        # The judge was asked and failed, also where every seat abstains then.
        rendered = rendered.changed(judge_failure=judge_failure)
    if any(state.not_read(seat.juror_id) for seat in state.panel.seats):
        rendered = rendered.changed(
            votes=tuple(vote.changed(partly_read=state.not_read(vote.juror_id) or None) for vote in rendered.votes)
        )
    return _in_bands(_accepted(rendered, state.panel.final.calibration, counted), mean, state.panel)


def _in_bands(judgment: Judgment, mean: Fraction, panel: Panel) -> Judgment:
    """The judgment with scores that lie in the bands of its verdicts, where bands decide."""
    if judgment.decided_by not in _BY_BANDS or panel.scale is not None:
        return judgment
    bands = panel.final.bands
    rows = tuple(
        row
        if banded(exact(row.score), bands) is row.verdict
        else row.changed(score=float(whole_score(exact(row.score), row.verdict, bands)))
        for row in judgment.scenarios
    )
    return judgment.changed(score=whole_score(mean, judgment.verdict, bands), scenarios=rows)


def whole_score(mean: Fraction, verdict: Verdict, bands: Bands) -> int:
    """The whole score that is nearest to the mean (0-100) in the band of a verdict, of two the higher.

    The verdict may be one that was changed after the count; its band has a whole score.
    """
    scores = bands.whole_scores(verdict)
    return min(max(half_up(mean), scores[0]), scores[-1])


def _decisive_items(state: DebateState) -> dict[str, int]:
    latest = {entry.juror_id: entry.evaluation.decisive_item for entry in state.evaluations}
    return {juror_id: item for juror_id, item in latest.items() if item is not None}


def _rendered(
    state: DebateState,
    judge: Evaluation | None,
    judge_failure: FailureReason | None,
    parts: Mapping[str, Fraction],
) -> tuple[Judgment, Fraction]:
    """The judgment before its acceptance, and the exact mean."""
    panel, rules = state.panel, state.panel.final
    votes = tuple(cast_vote(state, seat) for seat in panel.seats)
    latest = {seat.juror_id: entry for seat in panel.seats if (entry := state.latest(seat.juror_id)) is not None}
    made = {juror_id: entry.evaluation for juror_id, entry in latest.items()}
    cast = {
        juror_id: _vote(one.position, one.overall, panel.seat(juror_id), one, parts) for juror_id, one in made.items()
    }
    if not made:
        decided_by, counted, judge, judge_failure = Decider.NO_EVALUATION, _NONE, None, None
    elif judge is not None:
        decided_by, counted = Decider.FINAL_JUDGE, _judged(judge)
    else:
        decided_by, counted = Decider(deciding_method(rules.method)), _tally(panel, cast)
    scored = [judge] if judge is not None else made.values()
    found = shortfalls(panel.rubric, [one.scores for one in scored], counted.weights) if counted.weights else ()
    position = capped(SeatPosition(counted.verdict, counted.label), found)
    own = frozenset(juror_id for juror_id, one in made.items() if not one.synthetic)
    quorum_votes = len(own)
    lost = quorum_votes < rules.quorum
    caps = position.verdict is PASS and (
        lost
        or (
            judge is None
            and not stands(panel, _of(cast, own), {juror_id: one.scores for juror_id, one in made.items()})
        )
    )
    rows = _judges_rows(judge, lost=lost) or _counted_rows(state, made, own, parts, lost=lost)
    return trusted(Judgment)(
        method=rules.method,
        decided_by=decided_by,
        verdict=REVIEW if caps else position.verdict,
        score=half_up(counted.mean) if made else None,
        mean=float(counted.mean) if made else None,
        votes=votes,
        quorum=rules.quorum,
        quorum_votes=quorum_votes,
        capped=caps,
        judge=judge,
        judge_failure=judge_failure,
        scenarios=tuple(row for row, _ in rows),
        label=None if caps else position.label,
        agreed_on=None if panel.scale is None else counted.agreed_on,
        shortfalls=found or None,
        capped_scenarios=tuple(row.scenario_id for row, is_capped in rows if is_capped) or None,
    ), counted.mean


def _tally(panel: Panel, cast: Mapping[str, LabelledVote]) -> VoteTally:
    return tally(deciding_method(panel.final.method), list(cast.values()), panel.final.bands, panel.scale)


def _of(cast: Mapping[str, LabelledVote], juror_ids: Collection[str]) -> dict[str, LabelledVote]:
    return {juror_id: vote for juror_id, vote in cast.items() if juror_id in juror_ids}


def _judged(judge: Evaluation) -> VoteTally:
    agreed_on: Agreement = "outcome" if judge.label is None else "label"
    return VoteTally(judge.verdict, judge.label, agreed_on, (_WHOLE,), exact(judge.overall))


def _vote(
    position: SeatPosition, score: float, seat: Seat, evaluation: Evaluation, parts: Mapping[str, Fraction]
) -> LabelledVote:
    share = parts.get(seat.juror_id, _WHOLE)
    vote = CountedVote(position.verdict, score, seat.weight, evaluation.confidence, share)
    return LabelledVote(vote, position.label)


class _Row(NamedTuple):
    """The verdict on a scenario; `capped`: the votes passed."""

    row: ScenarioVerdict
    capped: bool


def _judges_rows(judge: Evaluation | None, *, lost: bool) -> list[_Row]:
    """The rows of the final judge; none where it gave none."""
    return [] if judge is None else [_row(row, caps=lost and row.verdict is PASS) for row in judge.scenarios]


def _counted_rows(
    state: DebateState,
    made: Mapping[str, Evaluation],
    own: Collection[str],
    parts: Mapping[str, Fraction],
    *,
    lost: bool,
) -> list[_Row]:
    """One row a scenario where the case has several, counted as the whole case is."""
    panel = state.panel
    rows = []
    for scenario_id in state.debate.scenarios if len(state.debate.scenarios) > 1 else ():
        cast = {
            juror_id: _vote(row.position, row.score, panel.seat(juror_id), one, parts)
            for juror_id, one in made.items()
            for row in one.scenarios
            if row.scenario_id == scenario_id
        }
        if cast:
            counted = _tally(panel, cast)
            row = trusted(ScenarioVerdict)(
                scenario_id=scenario_id, verdict=counted.verdict, score=float(counted.mean), label=counted.label
            )
            caps = row.verdict is PASS and (lost or not stands(panel, _of(cast, own)))
            rows.append(_row(row, caps=caps))
    return rows


def _row(row: ScenarioVerdict, *, caps: bool) -> _Row:
    return _Row(row.changed(verdict=REVIEW, label=None) if caps else row, caps)


def _accepted(judgment: Judgment, calibration: Calibration | None, counted: DebateState) -> Judgment:
    """The judgment with its acceptance; without one the verdict, and those of scenarios, become `REVIEW`.

    A verdict that is not accepted has no label, but its acceptance does.
    """
    if calibration is None:
        return judgment
    acceptance = _acceptance(judgment, calibration, _decisive_items(counted)).changed(label=judgment.label)
    if acceptance.accepted:
        return judgment.changed(acceptance=acceptance)
    return judgment.changed(
        acceptance=acceptance,
        verdict=REVIEW,
        label=None,
        scenarios=tuple(
            ScenarioVerdict(scenario_id=row.scenario_id, verdict=REVIEW, score=row.score) for row in judgment.scenarios
        ),
    )


def _acceptance(judgment: Judgment, calibration: Calibration, items: Mapping[str, int]) -> Acceptance:
    """Whether the verdict may stand; `items`: the decisive items that the votes name, by juror id."""
    verdict, signal, threshold = judgment.verdict, calibration.signal, calibration.threshold_for(judgment.verdict)
    if verdict is REVIEW or threshold is None:
        probability, stands_alone, threshold = None, False, calibration.threshold
    else:
        probability = signal.probability(verdict, [_signal_vote(vote, items) for vote in judgment.votes])
        # A calibration on false passes says nothing about verdicts that do not pass.
        unasked = calibration.on == "false_pass" and verdict is not PASS
        stands_alone = unasked or probability >= threshold
    return Acceptance(
        signal=signal.kind, verdict=verdict, probability=probability, threshold=threshold, accepted=stands_alone
    )


def _signal_vote(vote: Vote, items: Mapping[str, int]) -> SignalVote:
    """What stands in for a blocked answer is no vote."""
    if vote.position is None or vote.kind == "synthetic":
        return SignalVote(vote.juror_id, None)
    return SignalVote(vote.juror_id, vote.position, vote.confidence, vote.score, items.get(vote.juror_id))


def cast_vote(state: DebateState, seat: Seat) -> Vote:
    """The vote of one seat: its latest evaluation, or an abstention.

    It is stale where the seat gave no answer when it was asked last; a decision model is asked in phase 1 alone.
    """
    entry = state.latest(seat.juror_id)
    if entry is None:
        return trusted(Vote)(
            juror_id=seat.juror_id,
            kind="not_asked" if seat.juror_id in state.not_asked else "abstained",
            position=None,
            score=None,
            confidence=None,
            weight=seat.weight,
            round=None,
            stale=False,
        )
    stale = not (state if seat.questions is None else state._replace(round=0)).is_current(entry)
    evaluation = entry.evaluation
    return trusted(Vote)(
        juror_id=seat.juror_id,
        kind="synthetic" if evaluation.synthetic else "stale" if stale else "own",
        position=evaluation.verdict,
        score=evaluation.overall,
        confidence=evaluation.confidence,
        weight=seat.weight,
        round=entry.round,
        stale=stale,
        label=evaluation.label,
    )


def completion(state: DebateState) -> DebateCompleted:
    """The event that closes a judged debate."""
    reason = state.end_reason
    assert reason is not None
    assert state.judgment is not None
    return trusted(DebateCompleted)(
        final_verdict=state.judgment.verdict,
        final_label=state.judgment.label,
        final_score=state.judgment.score,
        total_rounds=state.round,
        end_reason=reason,
        early_termination=reason == "consensus" and state.round < state.panel.discussion.max_rounds,
    )
