"""Phase 3: the judgment of version 2, in which unsupported verdicts count what the panel says.

Its acceptance compares decisive items, not the messages that they come from: the judgment is computed without the texts
of the case, which may be erased, and a calibration is certified on the same items.

Under a scale of the panel's own, or with critical criteria, the count is that of `tally`, the caps are those of
`shortfalls`; then quorum and acceptance change the verdict as before. A verdict that one of them changes has no label.
"""

from collections.abc import Collection, Mapping
from fractions import Fraction

from jury_debate.rules_v1 import judgment as before
from jury_debate.rules_v1.judgment import CountedVote, cast_vote, deciding_method
from jury_debate.rules_v2.acceptance import accepted
from jury_debate.rules_v3.decisions import own_vote
from jury_debate.rules_v3.shortfalls import capped, shortfalls
from jury_debate.rules_v3.support import shares, state_to_judge
from jury_debate.rules_v3.tally import LabelledVote, VoteTally, tally
from jury_debate.state import DebateState
from jury_events.calibration import Calibration
from jury_events.evaluation import Evaluation, ScenarioVerdict, SeatPosition
from jury_events.exact import exact, half_up
from jury_events.judgment import Agreement, Decider, Judgment, Vote
from jury_events.outcome import FailureReason
from jury_events.panel import Panel, Seat
from jury_events.verdict import PASS, REVIEW

_WHOLE = Fraction(1)
_NONE = VoteTally(REVIEW, None, "nothing", (), Fraction())


def render(
    state: DebateState, *, judge: Evaluation | None = None, judge_failure: FailureReason | None = None
) -> Judgment:
    """See `rules_v1.judgment.render`."""
    counted = state if judge is not None else state_to_judge(state)
    if _counts_as_before(state.panel):
        rendered = before.render(counted, judge=judge, judge_failure=judge_failure, shares=shares(state))
    else:
        rendered = _rendered(counted, judge, judge_failure, shares(state))
    if judge_failure is not None and state.evaluations:
        # The judge was asked and failed, also where every seat abstains then.
        rendered = rendered.changed(judge_failure=judge_failure)
    if state.not_asked:
        rendered = rendered.changed(votes=tuple(_named(vote, state.not_asked) for vote in rendered.votes))
    if len(state.panel.speaking) < len(state.panel.seats):
        rendered = rendered.changed(votes=tuple(own_vote(state.panel, vote) for vote in rendered.votes))
    if any(state.not_read(seat.juror_id) for seat in state.panel.seats):
        rendered = rendered.changed(
            votes=tuple(vote.changed(partly_read=state.not_read(vote.juror_id) or None) for vote in rendered.votes)
        )
    return _accepted(rendered, state.panel.final.calibration, counted)


def _named(vote: Vote, not_asked: Collection[str]) -> Vote:
    """An abstention of a seat that was not asked says so."""
    return vote.changed(kind="not_asked") if vote.kind == "abstained" and vote.juror_id in not_asked else vote


def _decisive_items(state: DebateState) -> dict[str, int]:
    """The items that the seats' latest evaluations name, by juror id."""
    latest = {entry.juror_id: entry.evaluation.decisive_item for entry in state.evaluations}
    return {juror_id: item for juror_id, item in latest.items() if item is not None}


def _counts_as_before(panel: Panel) -> bool:
    return panel.scale is None and not any(dimension.critical for dimension in panel.rubric.dimensions)


def _rendered(
    state: DebateState,
    judge: Evaluation | None,
    judge_failure: FailureReason | None,
    parts: Mapping[str, Fraction],
) -> Judgment:
    panel, rules = state.panel, state.panel.final
    votes = tuple(cast_vote(state, seat) for seat in panel.seats)
    made = [(seat, entry.evaluation) for seat in panel.seats if (entry := state.latest(seat.juror_id)) is not None]
    if not made:
        decided_by, counted, judge, judge_failure = Decider.NO_EVALUATION, _NONE, None, None
    elif judge is not None:
        decided_by, counted = Decider.FINAL_JUDGE, _judged(judge)
    else:
        method = deciding_method(rules.method)
        decided_by = Decider(method)
        cast = [_vote(evaluation.position, evaluation.overall, seat, evaluation, parts) for seat, evaluation in made]
        counted = tally(method, cast, rules.bands, panel.scale)
    scored = [judge] if judge is not None else [evaluation for _, evaluation in made]
    found = shortfalls(panel.rubric, [one.scores for one in scored], counted.weights) if counted.weights else ()
    position = capped(SeatPosition(counted.verdict, counted.label), found)
    quorum_votes = sum(vote.kind in ("own", "stale") for vote in votes)
    lost = quorum_votes < rules.quorum
    return Judgment(
        method=rules.method,
        decided_by=decided_by,
        verdict=_without_quorum(position, lost=lost).verdict,
        score=half_up(counted.mean) if made else None,
        mean=float(counted.mean) if made else None,
        votes=votes,
        quorum=rules.quorum,
        quorum_votes=quorum_votes,
        capped=lost and position.verdict is PASS,
        judge=judge,
        judge_failure=judge_failure,
        scenarios=tuple(_row_without_quorum(row, lost=lost) for row in _scenarios(state, judge, parts)),
        label=_without_quorum(position, lost=lost).label,
        agreed_on=None if panel.scale is None else counted.agreed_on,
        shortfalls=found or None,
    )


def _judged(judge: Evaluation) -> VoteTally:
    agreed_on: Agreement = "outcome" if judge.label is None else "label"
    return VoteTally(judge.verdict, judge.label, agreed_on, (_WHOLE,), exact(judge.overall))


def _vote(
    position: SeatPosition, score: float, seat: Seat, evaluation: Evaluation, parts: Mapping[str, Fraction]
) -> LabelledVote:
    share = parts.get(seat.juror_id, _WHOLE)
    vote = CountedVote(position.verdict, score, seat.weight, evaluation.confidence, share)
    return LabelledVote(vote, position.label)


def _without_quorum(position: SeatPosition, *, lost: bool) -> SeatPosition:
    return SeatPosition(REVIEW) if lost and position.verdict is PASS else position


def _row_without_quorum(row: ScenarioVerdict, *, lost: bool) -> ScenarioVerdict:
    position = _without_quorum(row.position, lost=lost)
    return row.changed(verdict=position.verdict, label=position.label)


def _scenarios(
    state: DebateState, judge: Evaluation | None, parts: Mapping[str, Fraction]
) -> tuple[ScenarioVerdict, ...]:
    """One row a scenario where the case has several: the judge's, else counted as for the whole case."""
    if judge is not None and judge.scenarios:
        return judge.scenarios
    panel = state.panel
    rows = []
    for scenario_id in state.debate.scenarios if len(state.debate.scenarios) > 1 else ():
        cast = [
            _vote(row.position, row.score, seat, entry.evaluation, parts)
            for seat in panel.seats
            if (entry := state.latest(seat.juror_id)) is not None
            for row in entry.evaluation.scenarios
            if row.scenario_id == scenario_id
        ]
        if cast:
            counted = tally(deciding_method(panel.final.method), cast, panel.final.bands, panel.scale)
            rows.append(
                ScenarioVerdict(
                    scenario_id=scenario_id, verdict=counted.verdict, score=float(counted.mean), label=counted.label
                )
            )
    return tuple(rows)


def _accepted(judgment: Judgment, calibration: Calibration | None, counted: DebateState) -> Judgment:
    """The judgment with its acceptance; a verdict that is not accepted has no label, but its acceptance does."""
    checked = accepted(judgment, calibration, _decisive_items(counted))
    if checked.acceptance is None or judgment.label is None:
        return checked
    label = judgment.label if checked.acceptance.accepted else None
    return checked.changed(label=label, acceptance=checked.acceptance.changed(label=judgment.label))
