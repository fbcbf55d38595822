"""Early stop (`stop: settled`): seats are asked in groups, until no answer of the others could change what is decided.

The first group has the fewest seats that can settle a case if they all agree; each following one the fewest that can
settle it after the answers so far. Groups follow from the opening event and the answers alone, so a resumed debate and
a replay have the same."""

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial
from hashlib import sha256
from typing import NamedTuple

from jury_debate.rules_1.judgment import render
from jury_debate.rules_1.settling import AskedSeats, KnownAnswer, is_settled
from jury_debate.rules_1.votes import CountedVote, LabelledVote, shares, state_to_judge
from jury_debate.state import DebateState, SeatEvaluation
from jury_events.debate_events import SeatsNotAsked
from jury_events.evaluation import SeatPosition
from jury_events.judgment import Settled
from jury_events.panel import AskingPlan, Panel, Seat, StopRule
from jury_events.rubric import DimensionScore, Scores
from jury_events.value import trusted
from jury_events.verdict_scale import VERDICTS

_WHOLE = Fraction(1)


_SCORES = (0.0, 50.0, 100.0)


_SHARES_OF_POINTS = (1.0, 0.0)


def asking_plan(panel: Panel, stop: StopRule, debate_id: str, scenarios: tuple[str, ...]) -> AskingPlan:
    """How the seats of a debate are asked in groups.

    Args:
        scenarios: the ids of the case.
    """
    order = asking_order(stop, debate_id)
    return AskingPlan(order=order, first=first_group(panel, order, scenarios))


def asking_order(stop: StopRule, debate_id: str) -> tuple[str, ...]:
    """Every seat, in the order of asking."""
    if stop.last != "rotating":
        return stop.order
    shift = int.from_bytes(sha256(debate_id.encode()).digest()[:8], "big") % len(stop.order)
    return stop.order[shift:] + stop.order[:shift]


@lru_cache(maxsize=1024)
def _first_group(panel_json: str, order: tuple[str, ...], scenarios: int) -> int:
    panel = Panel.model_validate_json(panel_json)
    seats = tuple(panel.seat(juror_id) for juror_id in order)
    names = tuple(map(str, range(scenarios))) if scenarios > 1 else ()
    return _fewest(AskedSeats(panel, names, (), seats))


def first_group(panel: Panel, order: tuple[str, ...], scenarios: Sequence[str]) -> int:
    """The fewest seats, from the first of the order, that can settle a case; all of them where none fewer can."""
    return _first_group(panel.model_dump_json(), order, len(scenarios))


def asked_first(panel: Panel) -> int:
    """See `Rules.asked_first`."""
    return len(panel.seats) if panel.stop is None else first_group(panel, panel.stop.order, ())


def group(state: DebateState) -> int:
    """How many seats of the order are asked in this group and those before, in phase 1 of a debate with a plan."""
    plan = state.debate.asking
    assert plan is not None
    asked = plan.first
    while asked < min(len(state.done) + 1, len(plan.order)) and not is_settled(_asked(state, asked)):
        asked += _fewest(_asked(state, asked))
    return asked


def not_asked(state: DebateState) -> SeatsNotAsked | None:
    """The event that ends the asking, where the answers of whole groups have settled what is decided."""
    plan = state.debate.asking
    if plan is None or state.round or not state.waiting or group(state) > len(state.done):
        return None
    settled = Settled.of(render(state._replace(not_asked=state.waiting)))
    return trusted(SeatsNotAsked)(juror_ids=state.waiting, settled=settled)


def answers_so_far(state: DebateState, asked: Sequence[str], missing: Sequence[str]) -> AskedSeats:
    """The answers of phase 1 as the judgment counts them.

    Args:
        missing: the seats that are taken as not asked yet.
    """
    panel, scenarios = state.panel, state.debate.scenarios
    counted, parts = state_to_judge(state), shares(state)
    known = tuple(
        _known(panel.seat(juror_id), entry, parts.get(juror_id, _WHOLE))
        for juror_id in asked
        if (entry := counted.latest(juror_id)) is not None
    )
    return AskedSeats(panel, scenarios if len(scenarios) > 1 else (), known, tuple(map(panel.seat, missing)))


def _asked(state: DebateState, count: int) -> AskedSeats:
    """The debate after the first seats of the order."""
    plan = state.debate.asking
    assert plan is not None
    return answers_so_far(state, plan.order[:count], plan.order[count:])


def _known(seat: Seat, entry: SeatEvaluation, share: Fraction) -> KnownAnswer:
    evaluation = entry.evaluation

    def vote(position: SeatPosition, score: float) -> LabelledVote:
        cast = CountedVote(position.verdict, score, seat.weight, evaluation.confidence, share)
        return LabelledVote(cast, position.label)

    return KnownAnswer(
        seat=seat,
        vote=vote(evaluation.position, evaluation.overall),
        scores=evaluation.scores,
        rows={row.scenario_id: vote(row.position, row.score) for row in evaluation.scenarios},
        of_a_model=not evaluation.synthetic,
        step=evaluation.decisive_item,
    )


def _fewest(asked: AskedSeats) -> int:
    """The fewest of the missing seats whose answers can settle it: all alike, the most that seats can agree."""
    most = len(asked.missing)
    found = most
    for position in _positions(asked.panel):
        for score in _SCORES:
            for of_points in _SHARES_OF_POINTS:
                alike = _Alike(position, score, of_points)
                # The more seats agree, the more is settled.
                settles = partial(_settles, asked, alike)
                found = 1 + bisect_left(range(1, found), 1, key=settles)
    return found


class _Alike(NamedTuple):
    """An answer that several seats give: `of_points` is the share of each criterion's points."""

    position: SeatPosition
    score: float
    of_points: float


def _settles(asked: AskedSeats, alike: _Alike, seats: int) -> int:
    """1 if so many of the missing seats settle it by answering alike, else 0."""
    answers = (_answer(asked, seat, alike) for seat in asked.missing[:seats])
    return int(is_settled(asked._replace(answers=(*asked.answers, *answers), missing=asked.missing[seats:])))


def _answer(asked: AskedSeats, seat: Seat, alike: _Alike) -> KnownAnswer:
    vote = LabelledVote(CountedVote(alike.position.verdict, alike.score, seat.weight, 1.0), alike.position.label)
    points = [
        DimensionScore(dimension=one.name, points=one.maximum * alike.of_points)
        for one in asked.panel.rubric.dimensions
    ]
    rows = dict.fromkeys(asked.scenarios, vote)
    scores = Scores(dimensions=tuple(points)) if seat.questions is None else None
    return KnownAnswer(seat, vote, scores, rows, step=1)


def _positions(panel: Panel) -> list[SeatPosition]:
    if panel.scale is None:
        return [SeatPosition(verdict) for verdict in VERDICTS.values()]
    return [SeatPosition(label.verdict, label.id) for label in panel.scale.labels]
