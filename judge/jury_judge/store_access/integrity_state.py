"""Whether the record of a debate is intact, and whether a seal covers it."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from jury_events.debate_history import DebateHistory
from jury_replay.cassettes.provenance import origin_failures
from jury_replay.integrity import check_debate
from jury_store.event_store import EventStore


class IntegrityState(NamedTuple):
    """The check of one debate; `failures` are messages, empty where it is intact.

    `sealed_events` of its events are covered by the latest seal, over the first `seal_size` events of the log (None:
    there is no seal). The seal itself is not checked here: `jury verify --all` reads the whole log for that.
    """

    events: int
    texts: int
    erased: int
    failures: tuple[str, ...]
    sealed_events: int
    seal_size: int | None

    @property
    def intact(self) -> bool:
        """Whether nothing was altered."""
        return not self.failures

    @property
    def sealed(self) -> bool:
        """Whether a seal covers all its events."""
        return self.seal_size is not None and self.sealed_events == self.events


def integrity_states(store: EventStore, records: Sequence[DebateHistory]) -> list[IntegrityState]:
    """The states of debates, in their order."""
    seal = store.latest_seal()
    origins = store.origins([record.debate_id for record in records])
    listed: dict[str | None, list[str]] = defaultdict(list)
    for fault in store.list_faults(records):
        listed[fault.debate_id].append(fault.what)
    return [
        _state(record, listed[record.debate_id], origins.get(record.debate_id), seal.tree_size if seal else None)
        for record in records
    ]


def _state(record: DebateHistory, listed: list[str], origin: bytes | None, seal_size: int | None) -> IntegrityState:
    checked = check_debate(record)
    failures = [str(failure) for failure in checked.failures] + listed
    if not checked.failures:
        failures += map(str, origin_failures(record, origin))
    positions = [event.position for stream in record.streams.values() for event in stream]
    return IntegrityState(
        events=checked.events,
        texts=checked.parts,
        erased=checked.erased,
        failures=tuple(failures),
        sealed_events=sum(one <= (seal_size or 0) for one in positions),
        seal_size=seal_size,
    )
