"""The interface of an event store.

Streams are `debate/{id}`, appended under an expected version and an epoch; `calls/{id}`, whose versions the store
assigns and which is never fenced; `review/{id}`, what people said of the debate; and `local/{id}`, this store's own
operations on it (import, quarantine); of a batch `batches/{id}`, of a run `run/{id}`. All but the first two are
appended under an expected version. Versions count from 1 in a
stream, positions from 1 in the store, both without gaps.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from jury_events.conditions import Condition
from jury_events.debate_history import DebateHistory
from jury_events.envelope import Head, NewEvent, StoredEvent
from jury_events.errors import DebateNotFound
from jury_events.ids import debate_stream, review_stream
from jury_events.parts import Digest, Part
from jury_store.cached_calls import CachedCalls
from jury_store.debate_ballots import DebateBallots
from jury_store.debate_rows import EVERY_DEBATE, CaseRow, DebateFilter, DebateRow, RunRow, Totals
from jury_store.errors import StoreError
from jury_store.list_order import NEWEST, OLDEST, PageCursor, SortOrder
from jury_store.seals.seal import Attestation, Seal

_SAID = (debate_stream, review_stream)


class Inventory(NamedTuple):
    """The log as a whole: how many events, the highest position, what the counter says, and what does not belong.

    `counter` and `epoch` are None where the row of that counter is missing, or holds no number; `highest_epoch` is that
    of all heads. `faults` are rows that no reader can make sense of, see `row_faults`.
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


class Append(NamedTuple):
    """Events to append to one stream, all or none.

    `debate/{id}`: `expected_version` is the version that the writer has read (0: a new stream), `epoch` the writer's.
    Without events the append only raises the epoch of an existing stream, at any version: older writers are fenced.
    `calls/{id}`: both None, or an expected version, to import recorded calls under their versions.
    `review/{id}`, `local/{id}`: an expected version, and no epoch.
    """

    stream: str
    events: tuple[NewEvent, ...]
    expected_version: int | None = None
    epoch: int | None = None

    @property
    def size(self) -> int:
        """Bytes of its bodies and texts."""
        size = 0
        for event in self.events:
            size += len(event.body)
            for part in event.parts:
                size += len(part.content)
        return size


class Appended(NamedTuple):
    """`version` of the stream afterwards; `repeated`: how many of the events were stored already.

    When it is not 0, the first writer's parts stand: refer to those (`EventStore.parts`), not to the ones just sent.
    """

    stream: str
    version: int
    repeated: int


AppendResults = list[Appended | StoreError]
"""One result a request, in order; a refused request has its error."""


class EventStore(ABC):
    """An append-only log of events, the texts that they refer to, and lists projected from it.

    Reading is safe from any thread. So is appending; the appends of one store are serialized.
    """

    @abstractmethod
    def append(
        self,
        requests: Sequence[Append],
        *,
        atomic: bool = False,
        origin: bytes | None = None,
        erase: Collection[Digest] = (),
    ) -> AppendResults:
        """Store a group of requests in one transaction, in order; durable when this returns.

        A refused request (`WrongVersion`, `Fenced`, `EventConflict`, `InvalidAppend`) has its error in its place and
        does not affect the others. An event whose id the stream contains already is a repeat: it succeeds without
        effect when its type, schema, fields and texts are equal (the first writer's salts and times stay), else the
        request is an `EventConflict`. A debate append of repeats alone succeeds at any expected version. Erased texts
        count as equal.

        Args:
            requests: appends, in order.
            atomic: all requests are stored, or none: the refusal of one refuses all.
            origin: with `atomic`, the seal that their debate was imported with; an existing one stays.
            erase: with `atomic`, texts of their debate to delete in the same transaction as its `texts_erased` event.

        Raises:
            MayNotErase: there are texts to erase, and the user may not delete any.
            ErasureNotRecorded: there are texts to erase, and neither the requests nor the log record an erasure.
            StoreFailed: the database failed. Nothing of the group is stored, unless the connection was lost during the
                commit: then all of it may be. Sending it again does no harm.
            ReadOnlyStore: the store was opened for reading.
        """

    @abstractmethod
    def next_epoch(self) -> int:
        """A new writer's epoch, higher than all before; counts from 1."""

    @abstractmethod
    def heads(self, streams: Collection[str]) -> dict[str, Head]:
        """The heads of the streams that exist."""

    @abstractmethod
    def read_stream(self, stream: str, after: int = 0) -> list[StoredEvent]:
        """The events of a stream after version `after`, in order; empty when there is no such stream."""

    @abstractmethod
    def read_streams(self, streams: Collection[str]) -> dict[str, list[StoredEvent]]:
        """All events of the streams that exist, each in order, in one snapshot."""

    @abstractmethod
    def first_events(self, streams: Collection[str]) -> dict[str, StoredEvent]:
        """The first event of each of the streams that exist, in one snapshot."""

    @abstractmethod
    def read_all(self, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        """The next `limit` events after position `after`, of all streams, in commit order.

        A reader that continues from the last position it received misses no event.
        """

    @abstractmethod
    def last_position(self) -> int:
        """The position of the newest event, 0 for an empty log."""

    @abstractmethod
    def parts(self, debate_id: str, digests: Collection[Digest] | None = None) -> dict[Digest, Part]:
        """Texts of a debate by digest: all, or the requested ones that exist. Texts whose erasure is recorded are left
        out, stored or not.

        Raises:
            AlteredPart: a stored text does not match its digest.
        """

    @abstractmethod
    def parts_of(self, debate_ids: Iterable[str]) -> dict[str, dict[Digest, Part]]:
        """All texts of several debates, as stored; a debate without any is left out.

        They are not verified, so that an altered text of one debate does not block the others: check each with
        `jury_events.parts.whole`.
        """

    @abstractmethod
    def named_parts(self, wanted: Mapping[str, Collection[Digest]]) -> dict[str, dict[Digest, Part]]:
        """These texts of several debates, those that are stored; unverified, as of `parts_of`."""

    @abstractmethod
    def debate_ids(self, after: str = "", limit: int = 1000) -> list[str]:
        """Ids of debates of which anything is stored, opened or not, by code point, after the id `after`."""

    @abstractmethod
    def batch_ids(self, run_id: str | None = None) -> list[str]:
        """Ids of the batches of a run (None: of all), by code point."""

    @abstractmethod
    def run_ids(self) -> list[str]:
        """Ids of the runs that have a stream of their own, by code point."""

    @abstractmethod
    def drift_ids(self) -> list[str]:
        """Ids of the baselines of drift checks, by code point."""

    @abstractmethod
    def histories(self, debate_ids: Sequence[str]) -> list[DebateHistory]:
        """Everything stored of these debates, in one snapshot, in the order of the ids; empty for an unknown id."""

    def history(self, debate_id: str) -> DebateHistory:
        """Everything stored of one debate.

        Raises:
            DebateNotFound: it was never opened.
        """
        (history,) = self.histories([debate_id])
        if not history.stored_events:
            raise DebateNotFound.named(debate_id)
        return history

    def event_histories(self, debate_ids: Sequence[str]) -> list[DebateHistory]:
        """The streams `debate/` and `review/` of these debates: without exchanges, texts and heads, in this order."""
        streams = self.read_streams([name(one) for one in debate_ids for name in _SAID])
        return [
            DebateHistory.of_events(one, [event for name in _SAID for event in streams.get(name(one), ())])
            for one in debate_ids
        ]

    @abstractmethod
    def inventory(self) -> Inventory:
        """Figures over the whole log, in one snapshot; reads every position once."""

    @abstractmethod
    def list_faults(self, histories: Sequence[DebateHistory] | None = None) -> list[ListFault]:
        """Differences between the lists and the events, up to the position that the lists have reached.

        Args:
            histories: the debates to compare, as read, maybe some time ago; None: rows that belong to no debate of the
                log, and the counts of the runs.
        """

    @abstractmethod
    def hashes(self, after: int = 0, limit: int = 10_000) -> list[tuple[int, bytes]]:
        """Position and hash of the next `limit` events after position `after`, by position."""

    @abstractmethod
    def seals(self) -> list[Seal]:
        """Every seal over this log, the smallest first."""

    @abstractmethod
    def latest_seal(self) -> Seal | None:
        """The seal over the most events; None when the log was never sealed."""

    @abstractmethod
    def store_seal(self, seal: Seal) -> bool:
        """Store a seal; False when there is one over as many events already, which stays.

        Raises:
            ReadOnlyStore: the store was opened for reading.
        """

    @abstractmethod
    def store_run_lease(self, run_id: str, calls: int, cost: float) -> None:
        """Store what a run may have taken at most, with its calls that are not recorded; the newest figures stay.

        Durable when it returns: it is called before the calls are sent.

        Args:
            calls: recorded ones and those that may have been sent.
            cost: of these, in US dollars.

        Raises:
            ReadOnlyStore: the store was opened for reading.
        """

    @abstractmethod
    def attestations(self) -> list[Attestation]:
        """Cosignatures and time-stamps of the seals over this log, by size, kind and digest."""

    @abstractmethod
    def store_attestation(self, attestation: Attestation) -> bool:
        """Store a cosignature or time-stamp; False when the same one is stored already.

        Raises:
            ReadOnlyStore: the store was opened for reading.
        """

    @abstractmethod
    def origins(self, debate_ids: Collection[str]) -> dict[str, bytes]:
        """The seals that debates were imported with, byte for byte; a debate without one is left out."""

    def origin(self, debate_id: str) -> bytes | None:
        """The seal that a debate was imported with; None when there was none."""
        return self.origins([debate_id]).get(debate_id)

    @abstractmethod
    def require_eraser(self) -> None:
        """Check that the user who opened the store may delete texts.

        Raises:
            MayNotErase: the user of this PostgreSQL database has not the right.
        """

    @abstractmethod
    def delete_parts(self, debate_id: str, digests: Collection[Digest]) -> int:
        """Delete texts, with their salts, of a debate whose erasure is recorded; returns how many were stored.

        Raises:
            MayNotErase: the user may not delete texts.
            ErasureNotRecorded: the debate has no `texts_erased` event, which comes first.
            ReadOnlyStore: the store was opened for reading.
        """

    @abstractmethod
    def scrub(self, wait: float = 30.0) -> None:
        """Remove the bytes of deleted texts from the database's files.

        Out of reach: backups, exports, PostgreSQL's own write-ahead log, and disk blocks that are not overwritten.

        Args:
            wait: seconds to wait for readers that still see the texts.

        Raises:
            TextsRemain: a reader kept them in place; call again later.
            ScrubRefused: the user of this PostgreSQL database may not rewrite the table.
            ReadOnlyStore: the store was opened for reading.
        """

    def debate(self, debate_id: str) -> DebateRow | None:
        """One row of the list of debates, up to date; None when the debate was never opened."""
        return self.debates_named([debate_id]).get(debate_id)

    @abstractmethod
    def debates_named(self, debate_ids: Collection[str]) -> dict[str, DebateRow]:
        """The same of several debates, by id; of one that was never opened there is none."""

    def debates(
        self,
        *,
        run_id: str | None = None,
        unfinished: bool = False,
        where: tuple[Condition, ...] = (),
        quarantined: bool = False,
        counted: bool | None = None,
        waiting: bool | None = False,
        limit: int = 1000,
        after: int = 0,
    ) -> list[DebateRow]:
        """Debates in the order in which they opened, of all stages, up to date.

        Args:
            run_id: only those of this run.
            unfinished: only those that began, and are not completed, failed or cancelled.
            where: only those whose cases satisfy all these conditions.
            quarantined: only those in quarantine, which are left out otherwise.
            counted, waiting: as in `DebateFilter`.
            limit: how many at most.
            after: only those opened after this position (`DebateRow.position` of the last one read).
        """
        wanted = DebateFilter(
            run_id, where=where, quarantined=quarantined, unfinished=unfinished, counted=counted, waiting=waiting
        )
        return self.list_debates(wanted, OLDEST, limit=limit, after=PageCursor(after))

    @abstractmethod
    def list_debates(
        self,
        wanted: DebateFilter = EVERY_DEBATE,
        order: SortOrder = NEWEST,
        *,
        limit: int = 200,
        after: PageCursor | None = None,
    ) -> list[DebateRow]:
        """Debates, by default the newest first, up to date.

        Args:
            order: how they are sorted.
            limit: how many at most.
            after: only those after this cursor (`SortOrder.cursor` of the last one read).
        """

    @abstractmethod
    def totals(self, wanted: DebateFilter = EVERY_DEBATE) -> Totals:
        """Counts and sums over the debates of a list, up to date; reads every one of them."""

    @abstractmethod
    def cached_calls(self, wanted: DebateFilter = EVERY_DEBATE) -> tuple[CachedCalls, ...]:
        """Sums over the calls with prompt caches of the debates of a list whose cost is known, up to date.

        Reads the row of every one of them, and no call.
        """

    @abstractmethod
    def totals_by_run(self) -> dict[str, Totals]:
        """The totals of every run, by its id, up to date; reads every debate once. Without debates in quarantine."""

    @abstractmethod
    def search_lag(self) -> int:
        """How many of the newest events a search does not cover yet, because the index is behind; usually 0."""

    @abstractmethod
    def runs(self) -> list[RunRow]:
        """Every run, in the order of its first debate, up to date."""

    @abstractmethod
    def runs_left(self) -> list[str]:
        """Ids of the runs with a debate that waits, or began and is not over, by the oldest such debate; without those
        in quarantine. Of a run one of these debates is looked up, however many it has.
        """

    @abstractmethod
    def run(self, run_id: str) -> RunRow | None:
        """One run, up to date; None when none of its debates was ever opened."""

    @abstractmethod
    def cases_of(self, debate_ids: Collection[str]) -> dict[str, CaseRow]:
        """The cases of those debates that exist, by debate id, up to date: enough to detect whether a case's content
        changed since. Reads no event of a debate that has ended.
        """

    @abstractmethod
    def ended_positions(self, debate_ids: Collection[str]) -> dict[str, int]:
        """The positions of the opening events of those debates that are over, by debate id, up to date.

        For long lists: a fifth of the time of `cases_of`.
        """

    @abstractmethod
    def further_repeats(self, run_id: str, most: int) -> int:
        """How many debates of a run are repeats of their cases beyond `most`; those in quarantine do not count."""

    @abstractmethod
    def ballots(self, wanted: DebateFilter = EVERY_DEBATE, *, ended_only: bool = True) -> Iterator[list[DebateBallots]]:
        """The ballots of debates, by debate id (code points), up to date, in batches.

        Args:
            ended_only: only debates that are completed, failed or cancelled.
        """

    @abstractmethod
    def project(self, limit: int = 5000) -> int:
        """Update the lists with up to `limit` events; returns how many there were, 0 when the lists are up to date.

        Raises:
            ReadOnlyStore: the store was opened for reading.
        """

    @abstractmethod
    def index_texts(self, limit: int = 500) -> int:
        """Update the search index with up to `limit` events, as `project` does for the lists."""

    @abstractmethod
    def rebuild(self) -> int:
        """Rebuild the lists and the search index from the whole log; returns the number of events."""

    @abstractmethod
    def close(self) -> None:
        """Release connections and locks; closing twice is allowed."""
