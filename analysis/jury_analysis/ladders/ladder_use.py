"""What a ladder of stages does, and what audits of accepted cases say."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jury_analysis.certificate import clopper_pearson
from jury_analysis.estimate import Estimate, Interval, missing
from jury_analysis.intervals import proportion
from jury_analysis.ladders.ladder_votes import FAILS, PASSES, LadderVotes
from jury_analysis.reasons import NO_UNIT
from jury_analysis.vote_matrix import Bools, Floats, Ints


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

    The cases were drawn by lot (`jury_events.stages`), so each is one trial; intervals are exact (Clopper and Pearson
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
