"""What the process that writes and projects keeps in memory: the latest events, and open debates.

Group commit and the projections would otherwise read back what the same process has just written. The database stays
the truth: what is not here, after a restart, beside another writer or beyond the bound, is read from it.

A debate is in many batches of events before it ends. Its row, read from the database each time, and its ballots, stored
and read each time, would cost more than everything else in the lists. Ballots are therefore stored when the debate
ends; where they are not in memory, they are read from the events of the debate.
"""

from collections import deque
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection, or_, select

from jury_events.envelope import StoredEvent
from jury_events.parts import Digest, Part
from jury_store.ballot_sheet import BallotSheet
from jury_store.errors import StoreDamaged
from jury_store.event_rows import DriverCursor, PartRow, RowTypes, read_unchecked_events
from jury_store.event_store import Append
from jury_store.schema import metadata
from jury_store.search_terms import SEARCHABLE
from jury_store.sql_dialects import Dialect

LISTS = "lists"
SEARCH = "search"
NAMES = {LISTS: "the lists", SEARCH: "the search index"}

_TYPES = RowTypes.of("projections")
_projections = metadata.tables["projections"]


def checkpoint_position(connection: Connection, name: str) -> int:
    """The position that a projection has reached."""
    return _position(connection.execute(select(_projections.c.position).where(_projections.c.name == name)).all(), name)


def lock_checkpoint(connection: Connection, dialect: Dialect, name: str) -> int:
    """Lock the checkpoint, so that two PostgreSQL writers do not project the same events; returns its position."""
    return _position(DriverCursor(connection).rows(dialect.lock_checkpoint, (name,)), name)


def _position(rows: Sequence[Sequence[Any]], name: str) -> int:
    if len(rows) != 1:
        raise StoreDamaged(
            f"the checkpoint of {NAMES[name]} is missing or duplicated: the database was altered",
            "jury db rebuild rebuilds the lists",
        )
    position: int = _TYPES.checked([(name, rows[0][0])])[0][1]
    return position


def reset_checkpoint(connection: Connection, dialect: Dialect, name: str) -> None:
    """Lock the checkpoint and set it to 0; creates a missing or duplicated one, removes those of no projection."""
    if len(DriverCursor(connection).rows(dialect.lock_checkpoint, (name,))) != 1:
        connection.execute(_projections.delete().where(_projections.c.name == name))
        connection.execute(_projections.insert().values(name=name, position=0))
    unknown = or_(_projections.c.name.is_(None), _projections.c.name.not_in(NAMES))
    if connection.execute(select(_projections.c.position).where(unknown)).all():
        connection.execute(_projections.delete().where(unknown))
    set_checkpoint(connection, dialect, name, 0)


def set_checkpoint(connection: Connection, dialect: Dialect, name: str, position: int) -> None:
    """Record that a projection has reached a position."""
    DriverCursor(connection).execute(dialect.set_checkpoint, (position, name))


MOST_BYTES = 16 * 1024 * 1024
"""Of bodies and texts; the oldest leave first."""

_OVERHEAD_BYTES = 500
"""Of an event and of a text."""


class _Commit(NamedTuple):
    events: Sequence[StoredEvent]
    texts: dict[tuple[str, Digest], Part]
    size: int


class CommittedEvents:
    """Committed events without a gap in their positions, and their texts.

    Args:
        texts: whether texts are kept too. Not where another process may erase them: what is erased is not here.
    """

    def __init__(self, *, texts: bool) -> None:
        self._texts = texts
        self._commits: deque[_Commit] = deque()
        self._bytes = 0
        self._reached = {LISTS: 0, SEARCH: 0}

    def keep(self, requests: Iterable[Append], events: Sequence[StoredEvent], parts: Iterable[PartRow]) -> None:
        """Keep what a transaction has stored: events in order of position, and those texts that can be searched for."""
        if not events:
            return
        if self._commits and events[0].position != self._commits[-1].events[-1].position + 1:
            self._commits.clear()
            self._bytes = 0
        size, wanted = 0, set[Digest]()
        for request in requests:
            for event in request.events:
                size += len(event.body) + _OVERHEAD_BYTES
                if self._texts and event.type in SEARCHABLE:
                    wanted.update([part.digest for part in event.parts])
        kept: dict[tuple[str, Digest], Part] = {}
        for row in parts if wanted else ():
            if row.digest in wanted:
                kept[row.debate_id, row.digest] = Part(*row[1:])
                size += len(row.content) + _OVERHEAD_BYTES
        self._commits.append(_Commit(events, kept, size))
        self._bytes += size
        while self._bytes > MOST_BYTES:
            self._drop_oldest()

    def after(self, connection: Connection, dialect: Dialect, position: int, limit: int) -> list[StoredEvent]:
        """The next events after a position, at most `limit`: kept ones, else read from the database."""
        if (
            not self._commits
            or not self._commits[0].events[0].position - 1 <= position < self._commits[-1].events[-1].position
        ):
            return read_unchecked_events(connection, dialect.read_all, (position, limit))
        found: list[StoredEvent] = []
        for commit in self._commits:
            if commit.events[-1].position > position:
                skipped = max(0, position + 1 - commit.events[0].position)
                found += commit.events[skipped : skipped + limit - len(found)]
                if len(found) >= limit:
                    break
        return found

    def texts(self, wanted: Container[tuple[str, Digest]], after: int) -> dict[tuple[str, Digest], Part]:
        """Those of the texts that came after a position and are here, by debate and digest."""
        found: dict[tuple[str, Digest], Part] = {}
        for commit in self._commits:
            if commit.events[-1].position > after:
                found.update((key, part) for key, part in commit.texts.items() if key in wanted)
        return found

    def erased(self, debate_id: str, digests: Collection[Digest]) -> None:
        """Forget texts that were erased."""
        for commit in self._commits:
            for digest in digests:
                commit.texts.pop((debate_id, digest), None)

    def reached(self, name: str, position: int) -> None:
        """Note how far a projection has come: what both have taken in is forgotten."""
        self._reached[name] = position
        until = min(self._reached.values())
        while self._commits and self._commits[0].events[-1].position <= until:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        self._bytes -= self._commits.popleft().size


MOST_DEBATES = 4_000
"""Kept at most, about five kilobytes each; the longest unchanged leave first.

Beyond, an event takes up to three times as long to project, where that debate is not here. Of debates that run at once
few are beyond; of those that wait for batches most are, and each of them changes a few times.
"""


class OpenDebate(NamedTuple):
    """The row of a debate in the list, by column name, and its ballots."""

    row: dict[str, Any]
    sheet: BallotSheet


@dataclass
class OpenDebates:
    """Debates by id, valid while the lists are at the position that they were kept for."""

    _debates: dict[str, OpenDebate] = field(default_factory=dict)
    _position: int | None = None

    def take(self, position: int, debates: Iterable[str]) -> dict[str, OpenDebate]:
        """Those of these debates that are kept, for a change: none is kept here until `keep`.

        Args:
            position: that the lists have reached. Debates kept for another one are forgotten.
            debates: ids.
        """
        if position != self._position:
            self._debates.clear()
        self._position = None  # until the change is kept: a transaction that fails changes rows and sheets all the same
        return {one: self._debates.pop(one) for one in debates if one in self._debates}

    def keep(self, position: int, debates: Mapping[str, OpenDebate]) -> None:
        """Keep debates that have come to `position`, with those that were not taken."""
        self._debates.update(debates)
        for one in list(self._debates)[: max(0, len(self._debates) - MOST_DEBATES)]:
            del self._debates[one]
        self._position = position
