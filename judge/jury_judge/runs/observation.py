"""How a Jury is observed while it judges."""

from dataclasses import dataclass

from jury_actors.observation.tallies import MetricTotals
from jury_judge.stores.stores import Say


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Lines, figures and traces (`docs/observability.md`).

    Attributes:
        say: takes lines for the user: a juror died, the store is away, a model retires; None writes them to the log.
        metrics: gets what the actors count; None: they count nothing.
        otel: send a trace of each debate that ends, as the standard variables of OpenTelemetry say.
    """

    say: Say | None = None
    metrics: MetricTotals | None = None
    otel: bool = False


UNOBSERVED = Observation()
