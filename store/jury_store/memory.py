"""The log in memory: for demonstrations in one process, and for the tests of whoever builds on a store."""

import threading
from collections.abc import Collection, Iterable, Sequence

from jury_events.conditions import Condition
from jury_events.envelope import StoredEvent
from jury_events.ids import debate_stream, stream_debate, streams_of
from jury_events.parts import Digest, Part, whole
from jury_store.append_plan import Ledger, first_refusal
from jury_store.debate_history import DebateHistory
from jury_store.debate_rows import EVERY_DEBATE, CaseRow, DebateFilter, DebateRow, RunRow, Totals
from jury_store.errors import ErasureNotRecorded, StoreClosed, StoreError
from jury_store.event_store import Append, Appended, EventStore
from jury_store.inventory import Head, Inventory, ListFault, erased_in
from jury_store.list_order import NEWEST, OLDEST, PageCursor, SortOrder
from jury_store.list_totals import added_up, one_line
from jury_store.projection import Row, View
from jury_store.seals.attestation import Attestation
from jury_store.seals.seal import Seal
from jury_store.search_terms import contains_terms, query_terms, terms_by_event


class MemoryEventStore(EventStore):
    """Keeps everything until it is dropped; any number of threads may write."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._log: list[StoredEvent] = []
        self._streams: dict[str, list[StoredEvent]] = {}
        self._by_id: dict[tuple[str, str], StoredEvent] = {}
        self._heads: dict[str, Head] = {}
        self._parts: dict[str, dict[Digest, Part]] = {}
        self._seals: dict[int, Seal] = {}
        self._attestations: dict[bytes, Attestation] = {}
        self._origins: dict[str, bytes] = {}
        self._run_sizes: dict[str, int | None] = {}
        self._epoch = 0
        self._view = View({}, {})
        self._projected = 0
        self._closed = False

    def append(
        self,
        requests: Sequence[Append],
        *,
        together: bool = False,
        origin: bytes | None = None,
        erase: Collection[Digest] = (),
    ) -> list[Appended | StoreError]:
        with self._lock:
            if self._closed:
                raise StoreClosed("the store was closed; open it again")
            ledger = Ledger(self._heads, self)
            answers = [ledger.admit(request) for request in requests]
            if together and (refusal := first_refusal(answers)) is not None:
                return [refusal] * len(answers)
            if together and erase:
                self._check_erasure(stream_debate(requests[0].stream), ledger.events)
            for row in ledger.events:
                event = row._replace(position=len(self._log) + 1)
                self._log.append(event)
                self._streams.setdefault(event.stream, []).append(event)
                self._by_id[event.stream, event.event_id] = event
            for part in ledger.parts:
                self._parts.setdefault(part.debate_id, {})[part.digest] = Part(part.digest, part.salt, part.content)
            self._heads.update(ledger.heads)
            if together and origin is not None:
                self._origins.setdefault(stream_debate(requests[0].stream), origin)
            if together and erase:
                self.delete_parts(stream_debate(requests[0].stream), erase)
            return answers

    def event(self, stream: str, event_id: str) -> StoredEvent | None:
        """The stored event of that id."""
        return self._by_id.get((stream, event_id))

    def has_part(self, debate_id: str, digest: Digest) -> bool:
        """Whether the text is stored."""
        return digest in self._parts.get(debate_id, ())

    def text(self, debate_id: str, digest: Digest) -> bytes | None:
        """The stored text, None when there is none."""
        part = self._parts.get(debate_id, {}).get(digest)
        return part.content if part else None

    def next_epoch(self) -> int:
        with self._lock:
            self._epoch += 1
            return self._epoch

    def heads(self, streams: Collection[str]) -> dict[str, Head]:
        with self._lock:
            return {stream: self._heads[stream] for stream in streams if stream in self._heads}

    def read_stream(self, stream: str, after: int = 0) -> list[StoredEvent]:
        with self._lock:
            return self._streams.get(stream, [])[max(after, 0) :]

    def read_streams(self, streams: Collection[str]) -> dict[str, list[StoredEvent]]:
        with self._lock:
            return {stream: list(self._streams[stream]) for stream in streams if stream in self._streams}

    def read_all(self, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        with self._lock:
            return self._log[max(after, 0) : max(after, 0) + limit]

    def last_position(self) -> int:
        with self._lock:
            return len(self._log)

    def parts(self, debate_id: str, digests: Collection[Digest] | None = None) -> dict[Digest, Part]:
        with self._lock:
            there = self._parts.get(debate_id, {})
            found = dict(there) if digests is None else {one: there[one] for one in digests if one in there}
            events = self._streams.get(debate_stream(debate_id), ())
            gone = erased_in(event.body for event in events if event.type == "texts_erased")
            return {part.digest: part for part in whole(found.values()) if part.digest not in gone}

    def parts_of(self, debate_ids: Iterable[str]) -> dict[str, dict[Digest, Part]]:
        with self._lock:
            return {one: dict(self._parts[one]) for one in debate_ids if one in self._parts}

    def debate_ids(self, after: str = "", limit: int = 1000) -> list[str]:
        with self._lock:
            return sorted({one for name in self._streams if (one := stream_debate(name)) > after})[:limit]

    def histories(self, debate_ids: Sequence[str]) -> list[DebateHistory]:
        with self._lock:
            names = {one: streams_of(one) for one in debate_ids}
            return [
                DebateHistory(
                    one, self.read_streams(names[one]), self.heads(names[one]), dict(self._parts.get(one, {}))
                )
                for one in debate_ids
            ]

    def inventory(self) -> Inventory:
        with self._lock:
            count = len(self._log)
            return Inventory(count, count, count, None, (), epoch=self._epoch)

    def list_faults(self, histories: Sequence[DebateHistory] | None = None) -> list[ListFault]:  # noqa: ARG002
        """None: they are made of the events as they are read."""
        return []

    def hashes(self, after: int = 0, limit: int = 10_000) -> list[tuple[int, bytes]]:
        return [(event.position, event.hash) for event in self.read_all(after, limit)]

    def seals(self) -> list[Seal]:
        with self._lock:
            return [self._seals[size] for size in sorted(self._seals)]

    def latest_seal(self) -> Seal | None:
        return next(reversed(self.seals()), None)

    def store_seal(self, seal: Seal) -> bool:
        with self._lock:
            if seal.tree_size in self._seals:
                return False
            self._seals[seal.tree_size] = seal
            return True

    def store_run_size(self, run_id: str, cases: int | None) -> None:
        with self._lock:
            before = self._run_sizes.get(run_id)
            self._run_sizes[run_id] = cases if cases is None or before is None else max(cases, before)

    def attestations(self) -> list[Attestation]:
        with self._lock:
            return sorted(self._attestations.values(), key=lambda one: (one.tree_size, one.kind, one.digest))

    def store_attestation(self, attestation: Attestation) -> bool:
        with self._lock:
            if attestation.digest in self._attestations:
                return False
            self._attestations[attestation.digest] = attestation
            return True

    def origins(self, debate_ids: Collection[str]) -> dict[str, bytes]:
        with self._lock:
            return {one: self._origins[one] for one in debate_ids if one in self._origins}

    def require_eraser(self) -> None:
        """Whoever holds the store may."""

    def delete_parts(self, debate_id: str, digests: Collection[Digest]) -> int:
        with self._lock:
            self._check_erasure(debate_id)
            there = self._parts.get(debate_id, {})
            return sum(there.pop(digest, None) is not None for digest in digests)

    def _check_erasure(self, debate_id: str, coming: Sequence[StoredEvent] = ()) -> None:
        stream = debate_stream(debate_id)
        events = (*self._streams.get(stream, ()), *(event for event in coming if event.stream == stream))
        if not any(event.type == "texts_erased" for event in events):
            raise ErasureNotRecorded(
                f"debate {debate_id}: no erasure is recorded, so its texts stay. Append texts_erased first"
            )

    def scrub(self, wait: float = 30.0) -> None:
        """What was dropped from memory is in no file."""

    def debate(self, debate_id: str) -> DebateRow | None:
        with self._lock:
            self.project()
            row = self._view.debates.get(debate_id)
            return DebateRow(**row) if row else None

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
        wanted = DebateFilter(run_id, where=where, quarantined=quarantined, unfinished=unfinished)
        return self.listed(wanted, OLDEST, limit=limit, after=PageCursor(after))

    def listed(
        self,
        wanted: DebateFilter = EVERY_DEBATE,
        order: SortOrder = NEWEST,
        *,
        limit: int = 200,
        after: PageCursor | None = None,
    ) -> list[DebateRow]:
        with self._lock:
            rows = [row for row in self._wanted(wanted) if order.is_beyond(row, after)]
            rows.sort(key=order.key, reverse=order.descending)
            return [DebateRow(**row) for row in rows[:limit]]

    def totals(self, wanted: DebateFilter = EVERY_DEBATE) -> Totals:
        with self._lock:
            return added_up(one_line(row) for row in self._wanted(wanted))

    def unsearched(self) -> int:
        return 0

    def _wanted(self, wanted: DebateFilter) -> list[Row]:
        self.project()
        sought = () if wanted.search is None else query_terms(wanted.search)

        def says(position: int) -> bool:
            debate_id = stream_debate(self._log[position - 1].stream)
            texts = {(debate_id, digest): part for digest, part in self.parts(debate_id).items()}
            found = terms_by_event(self._streams[debate_stream(debate_id)], texts)
            return any(contains_terms(sought, terms) for terms in found.values())

        return [row for row in self._view.debates.values() if wanted.admits(row, says)]

    def runs(self) -> list[RunRow]:
        with self._lock:
            self.project()
            rows = sorted(self._view.runs.values(), key=lambda row: row["position"])
            return [RunRow(**row, cases=self._run_sizes.get(row["run_id"])) for row in rows]

    def cases_of_run(self, run_id: str) -> dict[str, CaseRow]:
        with self._lock:
            self.project()
            found = {}
            for row in sorted(self._view.debates.values(), key=lambda row: row["position"]):
                if row["run_id"] == run_id:
                    part = self._parts.get(row["debate_id"], {}).get(row["case_part"])
                    salt = part.salt if part else None
                    stated = row["imported"], row["quarantined"]
                    found[row["debate_id"]] = CaseRow(row["case_id"], row["status"], row["case_part"], salt, *stated)
            return found

    def project(self, limit: int = 5000) -> int:
        with self._lock:
            done = len(self._log) - self._projected
            self._view.advance(self._log[self._projected :])
            self._projected = len(self._log)
            return min(done, limit) if limit else done

    def index_texts(self, limit: int = 500) -> int:  # noqa: ARG002
        """Nothing: texts are searched as they are."""
        return 0

    def rebuild(self) -> int:
        with self._lock:
            self._view = View({}, {})
            self._projected = 0
            self.project()
            return len(self._log)

    def close(self) -> None:
        self._closed = True
