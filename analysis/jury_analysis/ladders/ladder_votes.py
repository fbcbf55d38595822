"""The votes of every stage over the same labelled cases."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.errors import AnalysisError, BadBallots
from jury_analysis.scale import Scale, one_panel, plain_text
from jury_analysis.seat_value import StepCosts, step_costs
from jury_analysis.verdict_signals import LastVotes, last_votes, signal_values
from jury_analysis.vote_matrix import Bools, Codes, Floats, Ints, VoteMatrix
from jury_events.calibration import ShareSignal

PASSES, FAILS, NEITHER, UNKNOWN = 1, 0, 2, -1
"""Codes of outcomes; UNKNOWN: no label, or no verdict that could be accepted."""


class StageBallots(NamedTuple):
    """Checked ballots of one stage: the same cases as those of the other stages, one debate a case."""

    name: str
    table: pa.Table


@dataclass(frozen=True, eq=False)
class StageVotes:
    """What a stage says of each unit, in the order of `LadderVotes`."""

    name: str
    seats: tuple[str, ...]
    verdict: str
    """`jury` or `plurality`, as of `LastVotes`."""
    outcomes: Codes
    """[units]: PASSES, FAILS, NEITHER or UNKNOWN."""
    right: Bools
    """[units]: the verdict is the label, category by category."""
    shares: Floats
    """[units]: the share of the seats that voted for the verdict; nan without one."""
    cost: Floats
    """[units] US dollars; nan where it is not known."""
    calls: Floats
    """[units] model calls; votes, where calls are not known."""


@dataclass(frozen=True, eq=False)
class LadderVotes:
    """All stages over the same units, which are cases; sorted by case."""

    stages: tuple[StageVotes, ...]
    matrix: VoteMatrix
    """Of the last stage: its labels, clusters and cases."""
    labels: Codes
    """[units]: PASSES, FAILS, NEITHER, or UNKNOWN without a label."""
    clusters: Ints
    """[units]: codes."""
    calls_known: bool
    """Whether `calls` are of models; otherwise votes stand for them."""

    @property
    def labelled(self) -> Bools:
        """[units]."""
        return np.asarray(self.labels != UNKNOWN)

    def redrawn(self, units: Ints, clusters: Ints) -> "LadderVotes":
        """The votes of these units, in clusters with these codes; `matrix` stays that of all."""
        stages = tuple(
            replace(
                one,
                **{name: getattr(one, name)[units] for name in ("outcomes", "right", "shares", "cost", "calls")},
            )
            for one in self.stages
        )
        return replace(self, stages=stages, labels=self.labels[units], clusters=clusters)


def ladder_votes(stages: Sequence[StageBallots], scale: Scale) -> LadderVotes:
    """The votes of every stage, side by side.

    Args:
        stages: from the cheapest on, with labels; the verdict of the last one stands.
        scale: the declared verdicts, in order.
    """
    if not scale.ordered:
        raise AnalysisError("a ladder accepts by outcome: declare which verdict passes and which fails, with --order")
    cases = [_cases(one) for one in stages]
    for stage, found in zip(stages, cases, strict=True):
        _same_cases(stages[-1].name, cases[-1], stage.name, found)
    for stage in stages:
        one_panel(stage.table)
    votes = [last_votes(stage.table, scale) for stage in stages]
    matrix = votes[-1].matrix
    order = [_order(one, matrix) for one in votes]
    for stage, one, places in zip(stages, votes, order, strict=True):
        _agree(stage.name, stages[-1].name, one.matrix, matrix, places)
    costs = [step_costs(stage.table, one.matrix) for stage, one in zip(stages, votes, strict=True)]
    known = all(not np.isnan(one.calls).any() for one in costs)
    return LadderVotes(
        stages=tuple(
            _stage(stage.name, one, cost, places, matrix, calls_known=known)
            for stage, one, cost, places in zip(stages, votes, costs, order, strict=True)
        ),
        matrix=matrix,
        labels=_outcomes(scale, matrix.labels),
        clusters=matrix.clusters.astype(np.int64),
        calls_known=known,
    )


def _stage(
    name: str, votes: LastVotes, costs: StepCosts, places: Sequence[int], last: VoteMatrix, *, calls_known: bool
) -> StageVotes:
    verdicts = votes.verdicts[places]
    asked = (votes.matrix.kinds >= 0).sum(axis=1)[places].astype(np.float64)
    return StageVotes(
        name=name,
        seats=votes.matrix.seats,
        verdict=votes.verdict,
        outcomes=_outcomes(votes.matrix.scale, verdicts),
        right=np.asarray((verdicts >= 0) & (verdicts == last.labels)),
        shares=signal_values(ShareSignal(), votes)[places],
        cost=costs.cost.sum(axis=(1, 2))[places],
        calls=costs.calls.sum(axis=(1, 2))[places] if calls_known else asked,
    )


def _outcomes(scale: Scale, codes: Codes) -> Codes:
    found = np.full(codes.shape, NEITHER, dtype=np.int8)
    found[scale.passes(codes)] = PASSES
    found[scale.fails(codes)] = FAILS
    found[codes < 0] = UNKNOWN
    return found


def _cases(stage: StageBallots) -> set[str]:
    """The cases of a stage; one debate each."""
    debates, cases = (plain_text(stage.table[name]) for name in ("debate_id", "case_id"))
    pairs = pa.table({"debate": debates, "case": cases}).group_by(["debate", "case"]).aggregate([])
    counts = pairs.group_by("case").aggregate([("debate", "count")])
    twice = sorted(counts.filter(pc.greater(counts["debate_count"], 1))["case"].to_pylist())
    if twice:
        raise BadBallots(
            f"stage {stage.name:.60}: the case {twice[0]!r:.60} was judged more than once: a ladder is certified on "
            "one debate a case"
        )
    return set(counts["case"].to_pylist())


def _same_cases(last: str, expected: set[str], name: str, found: set[str]) -> None:
    for lacking, of, where in ((expected - found, name, last), (found - expected, last, name)):
        if lacking:
            raise BadBallots(
                f"stage {of:.60} lacks {len(lacking):,} cases of stage {where:.60}, as {min(lacking)!r:.60}: every "
                "stage must judge all labelled cases, or a stage would be certified on a selection"
            )


def _order(votes: LastVotes, last: VoteMatrix) -> list[int]:
    """Where each unit of the last stage is in another."""
    matrix = votes.matrix
    place = {matrix.case_names[code]: unit for unit, code in enumerate(matrix.cases.tolist())}
    return [place[last.case_names[code]] for code in last.cases.tolist()]


def _agree(name: str, last_name: str, matrix: VoteMatrix, last: VoteMatrix, places: Sequence[int]) -> None:
    for what, one, other in (
        ("label", matrix.labels[places].tolist(), last.labels.tolist()),
        (
            "cluster",
            [matrix.cluster_names[code] for code in matrix.clusters[places].tolist()],
            [last.cluster_names[code] for code in last.clusters.tolist()],
        ),
    ):
        differing = [place for place, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
        if differing:
            case = last.case_names[int(last.cases[differing[0]])]
            raise BadBallots(
                f"stages {name:.60} and {last_name:.60}: the case {case!r:.60} has another {what} in each: the stages "
                "must judge the same cases; give the labels once, with --labels"
            )
