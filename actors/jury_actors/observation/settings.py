"""What is to be observed, as the driver's process passes it to its actors."""

import logging
from typing import NamedTuple

ACTORS = "jury_actors"
"""The logger whose level decides what actors log."""


class ObservationSettings(NamedTuple):
    """Off unless it is asked for.

    Attributes:
        metrics: whether actors count.
        log_level: of the records that actors in other processes send to the driver, as in `logging`; None: none.
    """

    metrics: bool = False
    log_level: int | None = None

    @property
    def is_on(self) -> bool:
        """Whether there is anything to fetch from an actor."""
        return self.metrics or self.log_level is not None


NO_OBSERVATION = ObservationSettings()


def wanted_log_level() -> int | None:
    """The level of this process's configuration; None where it shows warnings only, as without any configuration."""
    level = logging.getLogger(ACTORS).getEffectiveLevel()
    return level if level < logging.WARNING else None
