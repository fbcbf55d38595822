"""The facts in a stream `local/{id}`: imports of the debate, its quarantine, and which tools have its scores."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, get_args

from jury_events.codec import decode_local
from jury_events.envelope import StoredEvent
from jury_events.local_events import (
    DebateImported,
    DebateQuarantined,
    DebateReleased,
    ExportedScore,
    Imported,
    ScoresExportBegun,
    ScoresExported,
    import_proof,
)


class LaterEvents(NamedTuple):
    """Up to when later events at the origin of an imported debate are excluded, and the trusted key that says so.

    Both None: they cannot be excluded. Proofs of inclusion never prove absence: a cassette may lack the last review, or
    a withdrawal of it.
    """

    excluded_as_of: int | None
    """Microseconds since 1970-01-01 UTC."""
    signed_by: str | None


NOT_EXCLUDED = LaterEvents(None, None)
"""Of a debate that came without lengths signed by a trusted key."""


class LocalFacts(NamedTuple):
    """The imports of a debate, the number of its quarantines, and the current one; its exports of scores.

    `unrecorded` are exports that were begun, and of which it is not recorded what they wrote.
    """

    imports: tuple[DebateImported, ...] = ()
    quarantines: int = 0
    quarantine: DebateQuarantined | None = None
    exports: tuple[ScoresExported, ...] = ()
    unrecorded: tuple[ScoresExportBegun, ...] = ()

    @property
    def next_export(self) -> int:
        """The number of the next export of scores."""
        numbers = [*(one.number for one in self.exports), *(one.number for one in self.unrecorded)]
        return max(numbers, default=0) + 1

    def unrecorded_at(self, target: str, place: str) -> int | None:
        """The number of the export to a tool that was begun and is not recorded; None: there is none."""
        return next((one.number for one in self.unrecorded if (one.target, one.place) == (target, place)), None)

    def scores_at(self, target: str, place: str) -> Mapping[str, ExportedScore]:
        """The scores that a tool has, as they were last written there, by name."""
        return {
            score.name: score
            for export in self.exports
            if (export.target, export.place) == (target, place)
            for score in export.scores
        }

    @property
    def imported(self) -> Imported | None:
        """The weakest proof of origin among all imports of the debate itself; None: it was recorded here."""
        ways = {import_proof(one.seal, one.verified_with) for one in self.imports if not one.reviews_alone}
        return next((way for way in get_args(Imported) if way in ways), None)

    @property
    def imported_from(self) -> str | None:
        """The log that the seal of the first import of the debate names."""
        return next((one.sealed_by for one in self.imports if not one.reviews_alone), None)

    @property
    def later_events(self) -> "LaterEvents | None":
        """Whether its origin may have later events than were imported; None: nothing of it was imported."""
        last = next((one for one in reversed(self.imports) if one.arrived or one.lengths is not None), None)
        if last is None:
            return None
        return NOT_EXCLUDED if last.lengths is None else LaterEvents(last.lengths.at, last.lengths.signed_by)

    @property
    def foreign_reviews(self) -> tuple[tuple[int, int], ...]:
        """The ranges of versions (after, until) in `review/` whose origin no trusted key confirmed."""
        return tuple(
            (one.review.after, one.review.until)
            for one in self.imports
            if one.verified_with is None and one.review.until > one.review.after
        )


NOTHING_LOCAL = LocalFacts()
"""Of a debate that was neither imported nor quarantined."""


def local_facts(events: Iterable[StoredEvent]) -> LocalFacts:
    """Fold a stream `local/{id}`; an empty one gives `NOTHING_LOCAL`."""
    facts = NOTHING_LOCAL
    for stored in events:
        match decode_local(stored):
            case DebateImported() as imported:
                facts = facts._replace(imports=(*facts.imports, imported))
            case DebateQuarantined() as quarantine:
                facts = facts._replace(quarantines=facts.quarantines + 1, quarantine=quarantine)
            case DebateReleased():
                facts = facts._replace(quarantine=None)
            case ScoresExportBegun() as begun:
                facts = facts._replace(unrecorded=(*facts.unrecorded, begun))
            case ScoresExported() as exported:
                left = tuple(one for one in facts.unrecorded if one.number != exported.number)
                facts = facts._replace(exports=(*facts.exports, exported), unrecorded=left)
    return facts
