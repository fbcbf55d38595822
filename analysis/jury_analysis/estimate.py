"""A reported figure, with its interval or the reason why there is none."""

from dataclasses import dataclass, field

from jury_analysis.wording import Reason


@dataclass(frozen=True)
class Interval:
    """A 95 % confidence interval."""

    low: float
    high: float
    method: str
    """`cluster bootstrap` (percentiles), `clustered t`, `prediction-powered t`, `wilson`, `clustered t and wilson`,
    `clopper-pearson` (exact)."""
    clusters: int
    """How many clusters it is based on."""
    resamples: int | None = None
    """Of a bootstrap; otherwise None."""
    seed: int | None = None
    """Of a bootstrap; otherwise None."""


@dataclass(frozen=True)
class Estimate:
    """A figure of a report.

    `value` is None where it cannot be had, and `reason` says why. Where the value is known and the interval is
    None, a note says why.
    """

    value: float | None
    interval: Interval | None = None
    n: int = 0
    """How many units the value is based on: debates, votes or pairs, as the report's docstring says."""
    reason: Reason | None = None
    notes: tuple[Reason, ...] = field(default=())

    def __post_init__(self) -> None:
        """A missing value has a reason, and a known one has none."""
        if (self.value is None) != (self.reason is not None):
            raise ValueError("an estimate has either a value or the reason why there is none")


def missing(reason: Reason, n: int = 0) -> Estimate:
    """An estimate without a value."""
    return Estimate(value=None, n=n, reason=reason)


@dataclass(frozen=True)
class DecidedCases:
    """Verdicts beside labels."""

    labelled: int
    """Cases with a label."""
    right: Estimate
    """Right verdicts / verdicts that leave nothing to people; n is their number."""
    false_passes: int | None
    """Verdicts that pass where the label does not; None where the verdicts have no order."""
    false_fails: int | None
    """Verdicts that fail where the label does not; None likewise."""

    @property
    def number_right(self) -> int:
        """Right verdicts of those."""
        return round((self.right.value or 0.0) * self.right.n)

    @property
    def left(self) -> int:
        """Cases that are left to people."""
        return self.labelled - self.right.n
