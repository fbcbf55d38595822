"""Phase 3: the judgment, from the latest evaluations of the seats."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import itemgetter
from statistics import median
from types import MappingProxyType
from typing import NamedTuple

from jury_debate.state import DebateState
from jury_events.evaluation import Evaluation, ScenarioVerdict
from jury_events.exact import exact, half_up
from jury_events.judgment import Decider, Judgment, Vote
from jury_events.outcome import FailureReason
from jury_events.panel import Bands, FinalMethod, Seat
from jury_events.verdict import Verdict

_WHOLE = Fraction(1)


class CountedVote(NamedTuple):
    """The fields of a vote that the methods count; `share`: of a whole vote."""

    position: Verdict
    score: float
    weight: float
    confidence: float
    share: Fraction = _WHOLE


def render(
    state: DebateState,
    *,
    judge: Evaluation | None = None,
    judge_failure: FailureReason | None = None,
    shares: Mapping[str, Fraction] = MappingProxyType({}),
) -> Judgment:
    """The judgment of a debate whose discussion is over.

    Args:
        state: phase `DELIBERATED`.
        judge: the final judge's evaluation, if there is one.
        judge_failure: why it failed; then the majority decides.
        shares: of a vote, by juror id, of seats that do not have a whole one.
    """
    rules = state.panel.final
    votes = tuple(cast_vote(state, seat) for seat in state.panel.seats)
    cast = [_counted_vote(vote, shares) for vote in votes if vote.position is not None]
    quorum_votes = sum(vote.kind in ("own", "stale") for vote in votes)
    if not cast:
        decided_by, verdict, mean = Decider.NO_EVALUATION, Verdict.NEEDS_REVIEW, None
    elif judge is not None:
        decided_by, verdict, mean = Decider.FINAL_JUDGE, judge.verdict, exact(judge.overall)
    else:
        method = deciding_method(rules.method)
        decided_by = Decider(method)
        verdict, mean = count(method, cast, rules.bands)
    capped = quorum_votes < rules.quorum and verdict is Verdict.SAFE_PASS
    return Judgment(
        method=rules.method,
        decided_by=decided_by,
        verdict=Verdict.NEEDS_REVIEW if capped else verdict,
        score=None if mean is None else half_up(mean),
        mean=None if mean is None else float(mean),
        votes=votes,
        quorum=rules.quorum,
        quorum_votes=quorum_votes,
        capped=capped,
        judge=judge if cast else None,
        judge_failure=judge_failure if cast else None,
        scenarios=tuple(_capped(row, lost=quorum_votes < rules.quorum) for row in _scenarios(state, judge, shares)),
    )


def deciding_method(method: FinalMethod) -> FinalMethod:
    """The method that decides unless a final judge does."""
    return "majority_vote" if method == "final_judge" else method


def cast_vote(state: DebateState, seat: Seat) -> Vote:
    """The vote of one seat: its latest evaluation, or an abstention."""
    entry = state.latest(seat.juror_id)
    if entry is None:
        return Vote(
            juror_id=seat.juror_id, kind="abstained", position=None, score=None, confidence=None,
            weight=seat.weight, round=None, stale=False,
        )  # fmt: skip
    stale = entry.round < state.round
    evaluation = entry.evaluation
    return Vote(
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


def count(method: FinalMethod, cast: Sequence[CountedVote], bands: Bands) -> tuple[Verdict, Fraction]:
    """The verdict and the exact score (0-100) of at least one vote under a counting method.

    majority_vote: more than half of the votes cast, else needs_review; the mean of the winners, else of all.
    weighted_average: weights are seat weight times confidence, seat weights alone when all of those are zero.
    median: the middle score, the mean of the middle two. The bands apply to both before rounding.
    """
    if method == "majority_vote":
        votes: dict[Verdict, Fraction] = {}
        for vote in cast:
            votes[vote.position] = votes.get(vote.position, Fraction()) + vote.share
        position, most = max(votes.items(), key=itemgetter(1))
        won = 2 * most > sum(votes.values())
        counted = [vote for vote in cast if not won or vote.position is position]
        total = sum((vote.share * exact(vote.score) for vote in counted), Fraction())
        return (position if won else Verdict.NEEDS_REVIEW), total / sum(vote.share for vote in counted)
    if method == "weighted_average":
        weights = [vote.share * exact(vote.weight) * exact(vote.confidence) for vote in cast]
        if not any(weights):
            weights = [vote.share * exact(vote.weight) for vote in cast]
        score = sum((w * exact(vote.score) for w, vote in zip(weights, cast, strict=True)), Fraction()) / sum(weights)
    else:
        score = Fraction(median(exact(vote.score) for vote in cast))
    return banded(score, bands), score


def banded(score: Fraction, bands: Bands) -> Verdict:
    """The verdict that a score (0-100, unrounded) falls into."""
    if score >= exact(bands.safe_pass):
        return Verdict.SAFE_PASS
    return Verdict.NEEDS_REVIEW if score >= exact(bands.needs_review) else Verdict.UNSAFE_FAIL


def _counted_vote(vote: Vote, shares: Mapping[str, Fraction]) -> CountedVote:
    assert vote.position is not None
    assert vote.score is not None
    assert vote.confidence is not None
    return CountedVote(vote.position, vote.score, vote.weight, vote.confidence, shares.get(vote.juror_id, _WHOLE))


def _capped(row: ScenarioVerdict, *, lost: bool) -> ScenarioVerdict:
    """Without a quorum, a scenario is needs_review at best, as the case is."""
    if not lost or row.verdict is not Verdict.SAFE_PASS:
        return row
    return ScenarioVerdict(scenario_id=row.scenario_id, verdict=Verdict.NEEDS_REVIEW, score=row.score)


def _scenarios(
    state: DebateState, judge: Evaluation | None, shares: Mapping[str, Fraction]
) -> tuple[ScenarioVerdict, ...]:
    """One row a scenario where the case has several: the judge's, else counted as for the whole case."""
    if judge is not None and judge.scenarios:
        return judge.scenarios
    rules = state.panel.final
    rows = []
    for scenario_id in state.debate.scenarios if len(state.debate.scenarios) > 1 else ():
        cast = [
            CountedVote(
                row.verdict, row.score, seat.weight, entry.evaluation.confidence, shares.get(seat.juror_id, _WHOLE)
            )
            for seat in state.panel.seats
            if (entry := state.latest(seat.juror_id)) is not None
            for row in entry.evaluation.scenarios
            if row.scenario_id == scenario_id
        ]
        if cast:
            verdict, mean = count(deciding_method(rules.method), cast, rules.bands)
            rows.append(ScenarioVerdict(scenario_id=scenario_id, verdict=verdict, score=float(mean)))
    return tuple(rows)
