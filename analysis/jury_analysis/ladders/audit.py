"""The audited share of a ladder: how often the last stage disagrees with verdicts that ended early."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jury_analysis.certificate import clopper_pearson
from jury_analysis.estimate import Estimate, Interval, missing
from jury_analysis.reasons import NO_UNIT

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
