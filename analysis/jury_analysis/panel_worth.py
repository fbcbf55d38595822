"""What seats and rounds are worth, as one report: values of seats, gains of rounds, the frontier of cost.

Early stop (`stop: settled`): first the fewest seats are asked that decide if they agree; then the fewest that can
decide after these votes; until a verdict has more than half of all votes that can still come, or none can have it. A
verdict that passes needs more than half of all seats. The majority is that of all seats.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import check
from jury_analysis.errors import BadBallots
from jury_analysis.frontier import (
    CostFrontier,
    RoundWorth,
    SmallerPanel,
    StagedPoint,
    StepCosts,
    frontier,
    round_worth,
    staged_points,
    step_costs,
)
from jury_analysis.intervals import SEED
from jury_analysis.labels import label_ballots, resolve
from jury_analysis.report_object import ReportObject
from jury_analysis.scale import BallotOptions, Exclusion, one_panel, plain_text, without_simulated
from jury_analysis.seat_value import (
    ORDERS,
    BestSeat,
    SeatValues,
    best_seat,
    pluralities,
    seat_values,
)
from jury_analysis.vote_matrix import Codes, VoteMatrix, by_round, patterns
from jury_analysis.wording import Reason

MOST_PANELS = 1000
"""Choices of seats and rounds that are tried at most."""


def chosen_subsets(seats: Sequence[str], rounds: int, ranking: Sequence[str]) -> list[tuple[str, ...]]:
    """The subsets of seats to try, so that subsets × rounds are at most `MOST_PANELS`, as far as that is possible.

    Args:
        rounds: how many numbers of rounds each subset is tried with.
        ranking: the seats, most valuable first: the nested panels of the first seats come first.

    Returns:
        All subsets if there are few enough; otherwise the nested panels, then subsets by size, as many as fit. Each
        has its seats in the order of `seats`, the whole panel is the first.
    """
    nested = [_ordered(seats, ranking[:size]) for size in range(len(seats), 0, -1)]
    others = (one for size in range(1, len(seats)) for one in combinations(seats, size))
    most = max(1, MOST_PANELS // max(1, rounds))
    wanted = dict.fromkeys(nested)
    for subset in islice(others, most + len(nested)):
        wanted[subset] = None
    return list(islice(wanted, most))


def by_plurality(
    rounds: Mapping[int, VoteMatrix], subsets: Sequence[tuple[str, ...]], most_rounds: Sequence[int]
) -> Iterator[SmallerPanel]:
    """The strict plurality of each subset after at most so many rounds: a vote stands until the seat votes again.

    Exact for the first evaluation; a later vote was cast with sight of the other seats.
    """
    first = rounds[0]
    place = {seat: index for index, seat in enumerate(first.seats)}
    members = np.zeros((len(subsets), len(first.seats)), dtype=np.bool_)
    for row, subset in enumerate(subsets):
        members[row, [place[seat] for seat in subset]] = True
    everyone = set(first.seats)
    for most in most_rounds:
        votes, total = _votes_after(rounds, most)
        verdicts = pluralities(votes, members, len(first.scale.categories))
        for subset, given in zip(subsets, verdicts, strict=True):
            exact = (total == 0) | (set(subset) == everyone)
            yield SmallerPanel(subset, most, given, total, exact)


def _votes_after(
    rounds: Mapping[int, VoteMatrix], most: int
) -> tuple[Codes, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """The votes [units, seats] that stand after at most so many rounds, and how many there were [units]."""
    votes = rounds[0].votes.copy()
    total = np.zeros(len(votes), dtype=np.int64)
    for number in sorted(rounds):
        if not 0 < number <= most:
            continue
        later = rounds[number]
        votes = np.where(later.votes >= 0, later.votes, votes)
        total[(later.kinds >= 0).any(axis=1)] = number
    return votes, total


def _ordered(seats: Sequence[str], chosen: Sequence[str]) -> tuple[str, ...]:
    return tuple(seat for seat in seats if seat in chosen)


@dataclass(frozen=True)
class EarlyStop:
    """Over all debates, where seats are asked in this order."""

    order: tuple[str, ...]
    votes: float
    """Seats asked, the mean of the debates."""
    saved: float
    """The share of the seats that are not asked, 0-1."""


def early_stops(matrix: VoteMatrix) -> tuple[EarlyStop, ...]:
    """For each seat, the saving where it is asked last and the others before it in the order of the seats.

    () for fewer than three seats, of which all are needed.
    """
    seats = len(matrix.seats)
    if seats <= 2 or not matrix.units:  # noqa: PLR2004  (two seats decide nothing alone)
        return ()
    found = []
    passing = [matrix.scale.categories.index(name) for name in matrix.scale.passing]
    for last in reversed(range(seats)):
        places = [*(place for place in range(seats) if place != last), last]
        codes, rows = patterns(matrix.votes[:, places])
        asked = np.array([asked_seats(row, passing) for row in rows], dtype=np.int64)[codes]
        votes = float(asked.mean())
        found.append(EarlyStop(tuple(matrix.seats[place] for place in places), votes, 1 - votes / seats))
    return tuple(found)


def asked_seats(row: Codes | Sequence[int], passing: Collection[int]) -> int:
    """How many seats are asked of a debate.

    Args:
        row: the code of each seat's verdict in the order of asking; -1: an abstention.
    """
    seats = len(row)
    asked = seats // 2 + 1
    while asked < seats:
        given = [int(code) for code in row[:asked] if code >= 0]
        votes = [(given.count(code), code in passing) for code in sorted(set(given))]
        missing, passes = seats - asked, sum(count for count, passed in votes if passed)
        # More votes than half are needed: of those that can come, and of all seats where they pass.
        short = [
            max((len(given) + missing) // 2 + 1 - count, seats // 2 + 1 - passes if passed else 0)
            for count, passed in votes
        ]
        none = [
            2 * count + missing <= len(given) or (passed and 2 * (passes + missing) <= seats) for count, passed in votes
        ]
        if given and (min(short) <= 0 or (all(none) and missing <= len(given))):
            break
        asked += min(missing, max(1, min(short, default=missing // 2 + 1)))
    return asked


Counting = Literal["recount", "plurality"]
Recount = Callable[[VoteMatrix, Sequence[tuple[str, ...]], Sequence[int]], Iterable[SmallerPanel]]
"""The verdicts of subsets of seats after at most so many rounds, under the debates' own rules: for each number of
rounds, each subset, with verdicts in the order of the matrix's units."""


@dataclass(frozen=True)
class WorthOptions(BallotOptions):
    """What the report counts; a recount counts neither stale nor synthetic votes."""

    orders: int = ORDERS
    """Orders of the seats that are drawn for a panel of many."""
    seed: int = SEED
    """Of the drawn orders, and of the parts that the best seat is chosen on."""


@dataclass(frozen=True)
class SeatSpending:
    """What a seat costs a case, over all its steps as they were recorded; None where that is not known."""

    seat: str
    first_cost: float | None
    """US dollars for the first evaluation."""
    cost: float | None
    """US dollars for all rounds."""
    calls: float | None
    tokens: float | None


@dataclass(frozen=True)
class PanelWorth(ReportObject):
    """The report."""

    categories: tuple[str, ...]
    ordered: bool
    warnings: tuple[Reason, ...]
    """To be shown first."""
    excluded: tuple[Exclusion, ...]
    panel: str | None
    """The panel's fingerprint; None where it is unknown."""
    debates: int
    clusters: int
    counting: Counting
    """How rounds and smaller panels are counted: by the debates' own rules, or the strict plurality of votes."""
    values: SeatValues
    """By the strict plurality of the first evaluations."""
    best_seat: BestSeat | None
    """The best single seat beside the panel; None for one seat, or too few labelled clusters."""
    spending: tuple[SeatSpending, ...]
    rounds: tuple[RoundWorth, ...]
    frontier: CostFrontier
    subsets: int
    """Different panels in the frontier."""
    all_subsets: bool
    """Whether these are all subsets of the seats."""
    stages: tuple[StagedPoint, ...]
    """A few seats first and the whole panel where they differ, by price; () for fewer than three seats."""
    early_stops: tuple[EarlyStop, ...]
    """What early stop would save under majority vote, by the seat that is asked last; () for fewer than three seats."""


def panel_worth(
    ballots: pa.Table,
    labels: pa.Table | None = None,
    options: WorthOptions | None = None,
    recount: Recount | None = None,
) -> PanelWorth:
    """What the seats and rounds of one panel are worth.

    Args:
        labels: rows of `labels.LABELS`, which win over the labels of the ballots.
        recount: of the debates' records; None: votes are counted.
    """
    options = options or WorthOptions()
    table = check(ballots)
    if not table.num_rows:
        raise BadBallots("there are no ballots: no debate matches, or the file has no votes")
    if labels is not None:
        table = label_ballots(table, resolve(labels)).ballots
    sample = without_simulated(table, include=options.simulated)
    table = sample.ballots
    panel = one_panel(table)
    scale = options.scale.against(pc.unique(plain_text(table["label"])).drop_null().to_pylist())
    rounds = by_round(table, scale, stale=options.stale, synthetic=options.synthetic)
    if 0 not in rounds:
        raise BadBallots("the ballots have no juror's vote of round 0: rounds count from 0, the first evaluation")
    first = rounds[0]
    costs = step_costs(table, first)
    values = seat_values(first, orders=options.orders, seed=options.seed)
    numbers = tuple(range(max(rounds) + 1))
    subsets = chosen_subsets(first.seats, len(numbers), _ranking(values))
    panels = list(recount(first, subsets, numbers) if recount else by_plurality(rounds, subsets, numbers))
    everyone = [one for one in panels if one.seats == first.seats]
    counted, final = everyone[-1].verdicts, first.finals
    # A calibration withholds verdicts of the whole panel alone, and a recount is without it. A recount has no verdict
    # of a final judge, and votes of files have no final verdict.
    whole = np.where(counted >= 0, counted, final) if recount else np.where(final >= 0, final, counted)
    found = frontier(first, costs, panels, whole)
    return PanelWorth(
        categories=scale.categories,
        ordered=scale.ordered,
        warnings=sample.warnings,
        excluded=(*sample.excluded, *(Exclusion(why, "votes", n) for why, n in sorted(first.excluded.items()))),
        panel=panel,
        debates=first.units,
        clusters=len(first.cluster_names),
        counting="plurality" if recount is None else "recount",
        values=values,
        best_seat=best_seat(first, seed=options.seed),
        spending=tuple(_spending(first, costs)),
        rounds=round_worth(first, costs, everyone, whole),
        frontier=found,
        subsets=len(subsets),
        all_subsets=len(subsets) == 2 ** len(first.seats) - 1,
        stages=staged_points(first, costs, whole, found, _ranking(values)),
        early_stops=early_stops(first),
    )


def choices_of(ballots: pa.Table) -> int:
    """How many recounts `panel_worth` takes, about: debates × choices of seats and rounds."""
    jurors = ballots.filter(pc.equal(plain_text(ballots["role"]), "juror"))
    if not jurors.num_rows:
        return 0
    seats, debates = (int(pc.count_distinct(plain_text(jurors[name])).as_py()) for name in ("seat", "debate_id"))
    rounds = int(pc.max(jurors["round"]).as_py()) + 1
    subsets: int = 2 ** min(seats, 20) - 1
    return debates * min(MOST_PANELS, subsets * rounds)


def _ranking(values: SeatValues) -> list[str]:
    """The seats, most valuable first; in their order without labels."""
    ranked = sorted(values.seats, key=lambda one: -(one.shapley.value or 0.0))
    return [one.seat for one in ranked]


def _spending(matrix: VoteMatrix, costs: StepCosts) -> Iterable[SeatSpending]:
    for place, seat in enumerate(matrix.seats):
        first, cost, calls, tokens = (
            _mean(steps.sum(axis=1))
            for steps in (
                costs.cost[:, :1, place],
                costs.cost[:, :, place],
                costs.calls[:, :, place],
                costs.tokens[:, :, place],
            )
        )
        yield SeatSpending(seat, first, cost, calls, tokens)


def _mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float | None:
    mean = float(values.mean())
    return None if np.isnan(mean) else mean
