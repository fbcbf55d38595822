"""The contract of the log. Every implementation passes the same test suite.

Streams are `debate/{id}`, written under an expected version and an epoch; `calls/{id}`, whose versions the store
assigns and which is never fenced; and `local/{id}`, what this store did with the debate, under an expected version.
Versions count from 1 in a stream, positions from 1 in the store, both without gaps.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from jury_events.conditions import Condition
from jury_events.envelope import NewEvent, StoredEvent
from jury_events.ids import debate_stream
from jury_events.parts import Digest, Part
from jury_store.debate_history import DebateHistory
from jury_store.debate_rows import EVERY_DEBATE, CaseRow, DebateFilter, DebateRow, RunRow, Totals
from jury_store.errors import DebateNotFound, StoreError
from jury_store.inventory import Head, Inventory, ListFault
from jury_store.list_order import NEWEST, PageCursor, SortOrder
from jury_store.seals.attestation import Attestation
from jury_store.seals.seal import Seal


class Append(NamedTuple):
    """Events for the end of one stream, kept all or none.

    `debate/{id}`: `expected_version` is the version that the writer has seen (0: a new stream) and `epoch` its own.
    Without events it only raises the epoch of a stream that exists, whatever its version: older writers are fenced.
    `calls/{id}`: both None; but who stores recorded calls under the versions that they had names the one that it has
    seen. `local/{id}`: the version that the writer has seen, and no epoch.
    """

    stream: str
    events: tuple[NewEvent, ...]
    expected_version: int | None = None
    epoch: int | None = None


class Appended(NamedTuple):
    """`version` of the stream afterwards; `repeated`: how many of the events were there already.

    When it is not 0, the first writer's parts stand: refer to those (`EventStore.parts`), not to the ones just sent.
    """

    stream: str
    version: int
    repeated: int


class EventStore(ABC):
    """An append-only log of events, the texts that they refer to, and lists made from it.

    Reading is safe from any thread. So is appending; appends of one store take turns.
    """

    @abstractmethod
    def append(
        self,
        requests: Sequence[Append],
        *,
        together: bool = False,
        origin: bytes | None = None,
        erase: Collection[Digest] = (),
    ) -> list[Appended | StoreError]:
        """Store a group of requests in one transaction, in order; durable when this returns.

        Gives one answer a request. A refused request (`WrongVersion`, `Fenced`, `EventConflict`, `InvalidAppend`) has its
        error in its place and leaves the others alone. An event whose id the stream holds already is a repeat: it
        succeeds without effect when its type, schema, fields and texts are the same (the first writer's salts and times
        stay), else the request is a `EventConflict`. A debate append of nothing but repeats succeeds at any expected
        version. Texts that were erased are taken to be the same.

        Where the requests are `together`, the refusal of one refuses all: each has its error, and nothing is stored.
        With them goes `origin`, the seal that their one debate is imported with; where it has one already, that stays.
        And with them go the texts of that debate which are to `erase`: the events that record it are stored and the
        texts deleted, or neither.

        Raises:
            MayNotErase: there are texts to erase, and the user may not delete any.
            ErasureNotRecorded: there are texts to erase, and neither the requests nor the log record an erasure.
            StoreFailed: the database failed. Nothing of the group is stored, unless the connection was lost during the
                commit: then all of it may be. Sending it again does no harm.
            ReadOnlyStore: the store was opened for reading.
        """

    @abstractmethod
    def next_epoch(self) -> int:
        """A number that no writer had before, counting from 1."""

    @abstractmethod
    def heads(self, streams: Collection[str]) -> dict[str, Head]:
        """The heads of those streams that exist."""

    @abstractmethod
    def read_stream(self, stream: str, after: int = 0) -> list[StoredEvent]:
        """The events of a stream beyond version `after`, in order; empty when there is no such stream."""

    @abstractmethod
    def read_streams(self, streams: Collection[str]) -> dict[str, list[StoredEvent]]:
        """All events of those streams that exist, each in order, seen at one moment."""

    @abstractmethod
    def read_all(self, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        """The next `limit` events beyond position `after`, of all streams, in the order of their commits.

        Whoever continues from the last position that it was given misses nothing.
        """

    @abstractmethod
    def last_position(self) -> int:
        """The position of the newest event, 0 for an empty log."""

    @abstractmethod
    def parts(self, debate_id: str, digests: Collection[Digest] | None = None) -> dict[Digest, Part]:
        """The texts of a debate by digest, all or those asked for, without unknown ones and without those whose erasure
        is recorded, whether or not they are there.

        Raises:
            AlteredPart: what is stored under a digest is not what it was made of.
        """

    @abstractmethod
    def parts_of(self, debate_ids: Iterable[str]) -> dict[str, dict[Digest, Part]]:
        """All texts of several debates, as they are stored; a debate without any is left out.

        Whoever reads them looks first whether they are whole (`jury_events.parts.whole`): an altered text of one debate
        keeps no other from being read.
        """

    @abstractmethod
    def debate_ids(self, after: str = "", limit: int = 1000) -> list[str]:
        """Ids of debates of which anything is stored, opened or not, by code point, beyond the id `after`."""

    @abstractmethod
    def histories(self, debate_ids: Sequence[str]) -> list[DebateHistory]:
        """Everything stored of these debates, read at one moment, in the order of the ids; empty for an unknown id."""

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
        """The streams `debate/` alone of these debates: without exchanges, texts and heads, in the order of the ids."""
        streams = self.read_streams([debate_stream(one) for one in debate_ids])
        return [DebateHistory.of_events(one, streams.get(debate_stream(one), ())) for one in debate_ids]

    @abstractmethod
    def inventory(self) -> Inventory:
        """The log as a whole, at one moment; reads every position once."""

    @abstractmethod
    def list_faults(self, histories: Sequence[DebateHistory] | None = None) -> list[ListFault]:
        """Where the lists say something else of these debates than their events do, up to where they were carried.

        Args:
            histories: as they were read, maybe some time ago; None: what the lists hold beside the debates of the log,
                and whether the runs are counted right.
        """

    @abstractmethod
    def hashes(self, after: int = 0, limit: int = 10_000) -> list[tuple[int, bytes]]:
        """Position and hash of the next `limit` events beyond position `after`, in the order of positions."""

    @abstractmethod
    def seals(self) -> list[Seal]:
        """Every seal over this log, the smallest first."""

    @abstractmethod
    def latest_seal(self) -> Seal | None:
        """The seal over the most events; None when the log was never sealed."""

    @abstractmethod
    def store_seal(self, seal: Seal) -> bool:
        """Store a seal for good; False when there is one over as many events already, which stays.

        Raises:
            ReadOnlyStore: the store was opened for reading.
        """

    @abstractmethod
    def store_run_size(self, run_id: str, cases: int | None) -> None:
        """Note how many cases a run has, for those who look how far it is; the largest number that was noted stays.

        Args:
            run_id: of the run.
            cases: None where they are still being counted.

        Raises:
            ReadOnlyStore: the store was opened for reading.
        """

    @abstractmethod
    def attestations(self) -> list[Attestation]:
        """What others state of the seals over this log, by size, kind and digest."""

    @abstractmethod
    def store_attestation(self, attestation: Attestation) -> bool:
        """Store a statement about a seal for good; False when the same one is stored already.

        Raises:
            ReadOnlyStore: the store was opened for reading.
        """

    @abstractmethod
    def origins(self, debate_ids: Collection[str]) -> dict[str, bytes]:
        """The seals that debates were imported with, byte for byte; a debate without one is left out."""

    def origin(self, debate_id: str) -> bytes | None:
        """That of one debate; None when there was none."""
        return self.origins([debate_id]).get(debate_id)

    @abstractmethod
    def require_eraser(self) -> None:
        """Nothing, where texts may be deleted by who opened the store.

        Raises:
            MayNotErase: the user of this PostgreSQL database has not the right.
        """

    @abstractmethod
    def delete_parts(self, debate_id: str, digests: Collection[Digest]) -> int:
        """Delete texts of a debate whose erasure is recorded already, salts with them; gives how many there were.

        Raises:
            MayNotErase: the user may not delete any.
            ErasureNotRecorded: the debate has no `texts_erased` event, which comes first.
            ReadOnlyStore: the store was opened for reading.
        """

    @abstractmethod
    def scrub(self, wait: float = 30.0) -> None:
        """See to it that nothing of deleted texts is left in the files of the database itself.

        What is out of reach: backups, exports, PostgreSQL's own write-ahead log, and what a disk keeps of files.

        Args:
            wait: seconds to wait for readers that still see the texts.

        Raises:
            TextsRemain: a reader kept them in place; the same call later finishes it.
            ScrubRefused: the user of this PostgreSQL database may not rewrite the table.
            ReadOnlyStore: the store was opened for reading.
        """

    @abstractmethod
    def debate(self, debate_id: str) -> DebateRow | None:
        """One line of the list of debates, up to date; None when it was never opened."""

    @abstractmethod
    def debates(
        self,
        *,
        run_id: str | None = None,
        unfinished: bool = False,
        where: tuple[Condition, ...] = (),
        quarantined: bool = False,
        limit: int = 1000,
        after: int = 0,
    ) -> list[DebateRow]:
        """Debates in the order in which they opened, up to date.

        Args:
            run_id: only those of this run.
            unfinished: only those that are not completed, failed or cancelled.
            where: only those of whose cases all these conditions hold.
            quarantined: only those in quarantine, which are left out else.
            limit: how many at most.
            after: only those opened beyond this position (`DebateRow.position` of the last one seen).
        """

    @abstractmethod
    def listed(
        self,
        wanted: DebateFilter = EVERY_DEBATE,
        order: SortOrder = NEWEST,
        *,
        limit: int = 200,
        after: PageCursor | None = None,
    ) -> list[DebateRow]:
        """Debates, the newest first or in another order, up to date.

        Args:
            wanted: which of them.
            order: by what they are sorted.
            limit: how many at most.
            after: only those that come after this place in that order (`SortOrder.place` of the last one seen).
        """

    @abstractmethod
    def totals(self, wanted: DebateFilter = EVERY_DEBATE) -> Totals:
        """What the debates of a list come to, up to date; looks at every one of them."""

    @abstractmethod
    def unsearched(self) -> int:
        """How many events a search does not look through yet, because the index is so far behind; usually 0."""

    @abstractmethod
    def runs(self) -> list[RunRow]:
        """Every run, in the order of its first debate, up to date."""

    @abstractmethod
    def cases_of_run(self, run_id: str) -> dict[str, CaseRow]:
        """What each debate of a run judges, by debate id: enough to see whether a case's content changed since."""

    @abstractmethod
    def project(self, limit: int = 5000) -> int:
        """Bring the lists forward over up to `limit` events; gives how many there were, 0 when they are up to date.

        Raises:
            ReadOnlyStore: the store was opened for reading.
        """

    @abstractmethod
    def index_texts(self, limit: int = 500) -> int:
        """Bring what is searched forward over up to `limit` events, as `project` does for the lists."""

    @abstractmethod
    def rebuild(self) -> int:
        """Make the lists, and what is searched, anew from the whole log; gives the number of events."""

    @abstractmethod
    def close(self) -> None:
        """Let go of connections and locks; closing twice is allowed."""
