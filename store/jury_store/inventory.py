"""The log as a whole, as its verification reads it."""

from typing import NamedTuple


class Inventory(NamedTuple):
    """The log as a whole: how many events, the highest position, what the counter says, and what does not belong.

    `counter` and `epoch` are None where the row of that counter is missing, or holds no number; `highest_epoch` is that
    of all heads. `faults` are rows that no reader can make sense of, see `row_checks`.
    `first_missing` is the lowest position up to the highest that no event has; `strays` are streams of no
    known kind (`jury_events.ids.PREFIXES`); `origins` are ids of debates that were never stored and have a seal from
    elsewhere.
    """

    events: int
    last_position: int
    counter: int | None
    first_missing: int | None
    strays: tuple[str, ...]
    origins: tuple[str, ...] = ()
    epoch: int | None = 0
    highest_epoch: int = 0
    faults: tuple[str, ...] = ()


class ListFault(NamedTuple):
    """Where a list says something else than the log. `debate_id` is None where it is about no debate."""

    debate_id: str | None
    what: str
