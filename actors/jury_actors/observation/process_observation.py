"""What the process of a driver observes, of the actors in it and of those elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from jury_actors.observation.counting import CountingObserver
from jury_actors.observation.logging_observer import LoggingObserver
from jury_actors.observation.metric_totals import MetricTotals
from jury_actors.observation.observer import UNOBSERVED, Observer, Observers
from jury_actors.observation.settings import ObservationSettings, wanted_log_level
from jury_actors.observation.tallies import Tallies


@contextmanager
def observed_here(totals: MetricTotals | None) -> Iterator[Observer]:
    """The observer of a runtime in this process.

    Args:
        totals: get its counts; None: nothing is counted.
    """
    observers: list[Observer] = [] if wanted_log_level() is None else [LoggingObserver()]
    if totals is None:
        yield Observers(observers) if observers else UNOBSERVED
        return
    tallies = Tallies()
    observers.append(CountingObserver(tallies))
    with totals.counted(tallies), totals.runtime_open():
        yield observers[0] if len(observers) == 1 else Observers(observers)


def observation_settings(totals: MetricTotals | None) -> ObservationSettings:
    """What actors in other processes are to observe for this one."""
    return ObservationSettings(totals is not None, wanted_log_level())
