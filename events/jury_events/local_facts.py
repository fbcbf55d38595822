"""What a store knows of a debate beside what happened in it: whether it was imported, and whether it is set aside."""

from collections.abc import Iterable
from typing import NamedTuple, get_args

from jury_events.codec import decode_local
from jury_events.envelope import StoredEvent
from jury_events.local_events import DebateImported, DebateQuarantined, DebateReleased, Imported, import_proof


class LocalFacts(NamedTuple):
    """Folded from a stream `local/{id}`: its imports, how often it was quarantined, the quarantine in force."""

    imports: tuple[DebateImported, ...] = ()
    quarantines: int = 0
    quarantine: DebateQuarantined | None = None

    @property
    def imported(self) -> Imported | None:
        """How far it is shown where it comes from, the least of all imports; None: all of it was recorded here."""
        ways = {import_proof(one.seal, one.vouched_by) for one in self.imports}
        return next((way for way in get_args(Imported) if way in ways), None)

    @property
    def imported_from(self) -> str | None:
        """The log that the seal of the first import names."""
        return self.imports[0].sealed_by if self.imports else None


NOTHING_LOCAL = LocalFacts()
"""Of a debate that was held here, and nothing else."""


def local_facts(events: Iterable[StoredEvent]) -> LocalFacts:
    """The facts of a stream `local/{id}`; of none where there is no such stream.

    Raises:
        EventError: an event does not decode.
    """
    facts = NOTHING_LOCAL
    for stored in events:
        match decode_local(stored):
            case DebateImported() as imported:
                facts = facts._replace(imports=(*facts.imports, imported))
            case DebateQuarantined() as quarantine:
                facts = facts._replace(quarantines=facts.quarantines + 1, quarantine=quarantine)
            case DebateReleased():
                facts = facts._replace(quarantine=None)
    return facts
