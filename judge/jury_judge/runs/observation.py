"""What a Jury is given beside its panel: who hears what it does, and how it writes to its store."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jury_actors.observation.tallies import MetricTotals
from jury_actors.store_retry import STORE_PATIENCE
from jury_judge.stores.stores import Say

if TYPE_CHECKING:
    from jury_judge.seals.stored_seals import Sealing


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


@dataclass(frozen=True, kw_only=True)
class Writing:
    """Whom it waits for, how long it tries, and who seals.

    Attributes:
        name: names the writer in the store's lock; None generates a name.
        lock_wait: seconds to wait for another process that writes to the same SQLite store, or executes the same run.
        patience: seconds for which a store that cannot be written is tried again, while answers are kept.
        sealing: seals the log while debates run.
    """

    name: str | None = None
    lock_wait: float = 0.0
    patience: float = STORE_PATIENCE
    sealing: "Sealing | None" = None


PLAIN_WRITING = Writing()
