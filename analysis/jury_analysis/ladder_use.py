"""What a ladder of stages does, and what audits of accepted cases say."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.certificate import clopper_pearson
from jury_analysis.errors import AnalysisError, BadBallots
from jury_analysis.estimate import Estimate, Interval, missing
from jury_analysis.frontier import StepCosts, step_costs
from jury_analysis.intervals import proportion
from jury_analysis.reasons import NO_UNIT
from jury_analysis.scale import Scale, one_panel, plain_text
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


@dataclass(frozen=True)
class StageUse:
    """One stage."""

    name: str
    reached: int
    """Units that come to it."""
    passes: int
    """Units that end here as a pass."""
    wrong_passes: int
    """Of these, with another label's outcome."""
    fails: int
    wrong_fails: int
    coverage: Estimate
    """(passes + fails) / all units; of the last stage, the units that come to it."""


@dataclass(frozen=True)
class LadderUse:
    """The ladder over labelled units, beside the last stage over all of them."""

    part: str
    """`test`, or `certify`: the thresholds were chosen on these."""
    units: int
    stages: tuple[StageUse, ...]
    early: Estimate
    """Units that end before the last stage / all."""
    missed: Estimate
    """Failing units that end early as a pass / failing units (`n`)."""
    accuracy: Estimate
    """Right verdicts of the ladder / all units; no verdict is not right."""
    full_accuracy: Estimate
    """The same of the last stage alone."""
    calls: float
    """Model calls a case; votes, where `calls_known` is off."""
    full_calls: float
    """Of the last stage alone."""
    calls_known: bool
    cost: float | None
    """US dollars a case; None where a cost is not known."""
    full_cost: float | None


def ladder_use(votes: LadderVotes, ends: Ints, counted: Bools, part: str) -> LadderUse:
    """What the ladder does.

    Args:
        ends: [units]: the stage that decides each, from 0.
        counted: [units]: labelled ones.
    """
    clusters = votes.clusters
    last = len(votes.stages) - 1
    early = ends < last
    passed = early & np.choose(ends, [stage.outcomes for stage in votes.stages]) == PASSES
    failing = counted & (votes.labels == FAILS)
    right = np.choose(ends, [stage.right for stage in votes.stages])
    return LadderUse(
        part=part,
        units=int(counted.sum()),
        stages=tuple(_stage_use(votes, ends, counted, place) for place in range(last + 1)),
        early=proportion(early, counted, clusters),
        missed=proportion(passed, failing, clusters) if failing.any() else missing(NO_UNIT),
        accuracy=proportion(right, counted, clusters),
        full_accuracy=proportion(votes.stages[-1].right, counted, clusters),
        calls=_spent([stage.calls for stage in votes.stages], ends, counted) or 0.0,
        full_calls=float(votes.stages[-1].calls[counted].mean()),
        calls_known=votes.calls_known,
        cost=_spent([stage.cost for stage in votes.stages], ends, counted),
        full_cost=_known(float(votes.stages[-1].cost[counted].mean())),
    )


def _stage_use(votes: LadderVotes, ends: Ints, counted: Bools, place: int) -> StageUse:
    stage = votes.stages[place]
    here = counted & (ends == place)
    passes, fails = (here & (stage.outcomes == outcome) for outcome in (PASSES, FAILS))
    return StageUse(
        name=stage.name,
        reached=int((counted & (ends >= place)).sum()),
        passes=int(passes.sum()),
        wrong_passes=int((passes & (votes.labels != PASSES)).sum()),
        fails=int(fails.sum()),
        wrong_fails=int((fails & (votes.labels != FAILS)).sum()),
        coverage=proportion(here, counted, votes.clusters),
    )


def _spent(of_stages: list[Floats], ends: Ints, counted: Bools) -> float | None:
    """The mean over the counted units of what the stages took that each came to."""
    total = np.zeros(len(ends))
    for place, spent in enumerate(of_stages):
        total += np.where(ends >= place, spent, 0.0)
    return _known(float(total[counted].mean()))


def _known(number: float) -> float | None:
    return None if np.isnan(number) else number


TAIL = 0.975
"""Of each side of a 95 % interval."""


class AuditedCase(NamedTuple):
    """A case that ended early and was judged by the last stage too: verdicts, and the label where there is one."""

    early: str
    last: str | None
    label: str | None = None


@dataclass(frozen=True)
class AuditedShare:
    """Of audited cases that ended early with one verdict, or with any."""

    verdict: str | None
    """The early one; None: any."""
    audited: int
    disagreement: Estimate
    """Cases on which the last stage says otherwise / audited ones."""
    error: Estimate
    """Cases whose label is another one / audited ones with a label."""


def audited_shares(cases: Iterable[AuditedCase]) -> tuple[AuditedShare, ...]:
    """How often the last stage says otherwise, and how often a person does: of all, then by early verdict.

    The cases were drawn by lot (`jury_events.ladder`), so each is one trial; intervals are exact (Clopper and Pearson
    1934). The last stage may be wrong: disagreement is no error, and shows drift.
    """
    found = list(cases)
    verdicts = sorted({one.early for one in found})
    return tuple(
        _share(verdict, [one for one in found if verdict is None or one.early == verdict])
        for verdict in (None, *verdicts)
    )


def _share(verdict: str | None, cases: Sequence[AuditedCase]) -> AuditedShare:
    labelled = [one for one in cases if one.label is not None]
    return AuditedShare(
        verdict=verdict,
        audited=len(cases),
        disagreement=exact_share(sum(one.last != one.early for one in cases), len(cases)),
        error=exact_share(sum(one.label != one.early for one in labelled), len(labelled)),
    )


def exact_share(counted: int, units: int) -> Estimate:
    """A share of independent units with the exact 95 % interval."""
    if not units:
        return missing(NO_UNIT)
    high = clopper_pearson(counted, units, TAIL)
    low = 1 - clopper_pearson(units - counted, units, TAIL)
    return Estimate(counted / units, Interval(low, high, "clopper-pearson", units), units)
