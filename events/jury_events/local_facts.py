"""What a store knows of a debate beside what happened in it: whether it was imported, and whether it is set aside."""

from collections.abc import Iterable
from typing import NamedTuple

from jury_events.codec import decode_local
from jury_events.envelope import StoredEvent
from jury_events.local_events import DebateImported, DebateQuarantined, DebateReleased


class LocalFacts(NamedTuple):
    """Folded from a stream `local/{id}`: its imports, how often it was quarantined, the quarantine in force."""

    imports: tuple[DebateImported, ...] = ()
    quarantines: int = 0
    quarantine: DebateQuarantined | None = None


def local_facts(events: Iterable[StoredEvent]) -> LocalFacts:
    """The facts of a stream `local/{id}`; of none where there is no such stream.

    Raises:
        EventError: an event does not decode.
    """
    facts = LocalFacts()
    for stored in events:
        match decode_local(stored):
            case DebateImported() as imported:
                facts = facts._replace(imports=(*facts.imports, imported))
            case DebateQuarantined() as quarantine:
                facts = facts._replace(quarantines=facts.quarantines + 1, quarantine=quarantine)
            case DebateReleased():
                facts = facts._replace(quarantine=None)
    return facts
