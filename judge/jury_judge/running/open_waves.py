"""What of a run is in batches now, from the log: any process can read it."""

from collections import Counter
from dataclasses import dataclass

from jury_events.batch_facts import BatchFacts
from jury_events.text import moment
from jury_judge.stores.open_batches import open_batches
from jury_store.event_store import EventStore


@dataclass(frozen=True, kw_only=True)
class OpenWave:
    """The open batches of a run.

    `wave`: of the run, from 1. `calls`: by the stage of their batch (prepared, uploaded, waiting, running, cancelling,
    ended). `since`: when the oldest batch was prepared. `most`: what the calls can cost at most, in US dollars.
    """

    wave: int
    batches: int
    calls: dict[str, int]
    since: str
    most: float


def open_wave(store: EventStore, run_id: str) -> OpenWave | None:
    """What is in batches now; None: nothing is."""
    found: list[BatchFacts] = open_batches(store, run_id)
    if not found:
        return None
    calls: Counter[str] = Counter()
    for one in found:
        calls[one.stage] += one.prepared.items
    return OpenWave(
        wave=max(one.prepared.wave for one in found),
        batches=len(found),
        calls=dict(calls),
        since=moment(min(one.prepared_at for one in found)),
        most=sum(one.prepared.most or 0.0 for one in found),
    )
