"""The effect of Ctrl-C on a worker process; in a module that worker processes can import."""

import signal
from collections.abc import Sequence
from typing import NamedTuple

from jury_store import EventStore


class Interrupts(NamedTuple):
    ignored: bool
    blocked: bool


def interrupts(_store: EventStore, _debate_ids: Sequence[str]) -> Interrupts:
    """As work for `spread`."""
    blocked = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return Interrupts(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, blocked)


def endless_from_the_third(_store: EventStore, debate_ids: Sequence[str]) -> str:
    """As work for `spread` that ends for the first two debates only."""
    while debate_ids[0] not in ("d0", "d1"):
        signal.pause()
    return debate_ids[0]
