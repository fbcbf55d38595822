"""What seats and rounds are worth, as one report: values of seats, gains of rounds, the frontier of cost."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import check
from jury_analysis.early_stop import EarlyStop, early_stops
from jury_analysis.errors import BadBallots
from jury_analysis.frontier import (
    CostFrontier,
    RoundWorth,
    SmallerPanel,
    StagedPoint,
    frontier,
    round_worth,
    staged_points,
)
from jury_analysis.intervals import SEED
from jury_analysis.labels import label_ballots, resolve
from jury_analysis.report_object import json_object
from jury_analysis.scale import BallotOptions, Exclusion, one_panel, plain_text, without_simulated
from jury_analysis.seat_value import ORDERS, BestSeat, SeatValues, StepCosts, best_seat, seat_values, step_costs
from jury_analysis.smaller_panels import MOST_PANELS, by_plurality, chosen_subsets
from jury_analysis.vote_matrix import VoteMatrix, by_round
from jury_analysis.wording import Reason

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
class PanelWorth:
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

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values, as `report_schema("value")` says; figures have 12 decimal places."""
        return json_object(self)


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
