"""The log in memory: for demonstrations in one process, and for tests."""

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.ids import (
    BATCHES_PREFIX,
    batch_id,
    batch_stream,
    debate_stream,
    owner_stream,
    repeat_of,
    stream_debate,
    streams_of,
)
from jury_events.parts import Digest, Part, whole
from jury_events.streams import Head, erased_in
from jury_store.append_plan import AppendPlan, first_refusal
from jury_store.cached_calls import CachedCalls, summed
from jury_store.debate_ballots import DebateBallots
from jury_store.debate_rows import ALL_STAGES, EVERY_DEBATE, CaseRow, DebateFilter, DebateRow, RunRow, Totals
from jury_store.errors import ErasureNotRecorded, StoreClosed
from jury_store.event_store import Append, AppendResults, EventStore
from jury_store.inventory import Inventory, ListFault
from jury_store.list_order import NEWEST, PageCursor, SortOrder
from jury_store.list_totals import single_group, sum_groups, totals_by_run
from jury_store.projection import ListProjection, Row
from jury_store.seals.attestation import Attestation
from jury_store.seals.seal import Seal
from jury_store.search_terms import contains_terms, query_terms, searchable_events, terms_by_event

_ERASED = frozenset({"texts_erased", "batch_texts_erased"})


class MemoryEventStore(EventStore):
    """Any number of threads may write."""

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
        self._run_leases: dict[str, dict[str, Any]] = {}
        self._epoch = 0
        self._lists = ListProjection({}, {}, {})
        self._projected = 0
        self._closed = False

    def append(
        self,
        requests: Sequence[Append],
        *,
        atomic: bool = False,
        origin: bytes | None = None,
        erase: Collection[Digest] = (),
    ) -> AppendResults:
        with self._lock:
            if self._closed:
                raise StoreClosed("the store was closed; open it again")
            plan = AppendPlan(self._heads, self)
            results = [plan.admit(request) for request in requests]
            if atomic and (refusal := first_refusal(results)) is not None:
                return [refusal] * len(results)
            debate_id = stream_debate(requests[0].stream) if atomic else ""
            if atomic and erase:
                self._check_erasure(debate_id, plan.events)
            for row in plan.events:
                event = row._replace(position=len(self._log) + 1)
                self._log.append(event)
                self._streams.setdefault(event.stream, []).append(event)
                self._by_id[event.stream, event.event_id] = event
            for part in plan.parts:
                self._parts.setdefault(part.debate_id, {})[part.digest] = Part(part.digest, part.salt, part.content)
            self._heads.update(plan.heads)
            if atomic and origin is not None:
                self._origins.setdefault(debate_id, origin)
            if atomic and erase:
                self.delete_parts(debate_id, erase)
            return results

    def event(self, stream: str, event_id: str) -> StoredEvent | None:
        """The stored event with that id."""
        return self._by_id.get((stream, event_id))

    def has_part(self, debate_id: str, digest: Digest) -> bool:
        """Whether the text is stored."""
        return digest in self._parts.get(debate_id, ())

    def text(self, debate_id: str, digest: Digest) -> bytes | None:
        """The stored text; None when it is not stored, or was deleted."""
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

    def first_events(self, streams: Collection[str]) -> dict[str, StoredEvent]:
        with self._lock:
            return {stream: self._streams[stream][0] for stream in streams if stream in self._streams}

    def read_all(self, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        with self._lock:
            return self._log[max(after, 0) : max(after, 0) + limit]

    def last_position(self) -> int:
        with self._lock:
            return len(self._log)

    def parts(self, debate_id: str, digests: Collection[Digest] | None = None) -> dict[Digest, Part]:
        with self._lock:
            stored = self._parts.get(debate_id, {})
            found = dict(stored) if digests is None else {one: stored[one] for one in digests if one in stored}
            events = self._streams.get(owner_stream(debate_id), ())
            erased = erased_in(event.body for event in events if event.type in _ERASED)
            return {part.digest: part for part in whole(found.values()) if part.digest not in erased}

    def parts_of(self, debate_ids: Iterable[str]) -> dict[str, dict[Digest, Part]]:
        with self._lock:
            return {one: dict(self._parts[one]) for one in debate_ids if one in self._parts}

    def named_parts(self, wanted: Mapping[str, Collection[Digest]]) -> dict[str, dict[Digest, Part]]:
        with self._lock:
            stored = {debate_id: self._parts.get(debate_id, {}) for debate_id in wanted}
            found = {
                one: {digest: stored[one][digest] for digest in wanted[one] if digest in stored[one]} for one in wanted
            }
        return {debate_id: parts for debate_id, parts in found.items() if parts}

    def debate_ids(self, after: str = "", limit: int = 1000) -> list[str]:
        with self._lock:
            return sorted({one for name in self._streams if (one := stream_debate(name)) > after})[:limit]

    def batch_ids(self, run_id: str | None = None) -> list[str]:
        start = BATCHES_PREFIX if run_id is None else batch_stream(batch_id(run_id, ""))
        with self._lock:
            return sorted(stream_debate(name) for name in self._streams if name.startswith(start))

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

    def list_faults(self, histories: Sequence[DebateHistory] | None = None) -> list[ListFault]:  # noqa: ARG002  (the interface)
        """None: the lists are projected when they are read."""
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

    def store_run_lease(self, run_id: str, calls: int, cost: float) -> None:
        with self._lock:
            self._run_leases[run_id] = {"calls_at_most": calls, "cost_at_most": cost}

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
        """Always allowed."""

    def delete_parts(self, debate_id: str, digests: Collection[Digest]) -> int:
        with self._lock:
            self._check_erasure(debate_id)
            stored = self._parts.get(debate_id, {})
            return sum(stored.pop(digest, None) is not None for digest in digests)

    def _check_erasure(self, debate_id: str, planned: Sequence[StoredEvent] = ()) -> None:
        stream = owner_stream(debate_id)
        events = (*self._streams.get(stream, ()), *(event for event in planned if event.stream == stream))
        if not any(event.type in _ERASED for event in events):
            raise ErasureNotRecorded.of(debate_id)

    def scrub(self, wait: float = 30.0) -> None:
        """Nothing to do: no file contains the texts."""

    def debate(self, debate_id: str) -> DebateRow | None:
        with self._lock:
            self.project()
            row = self._lists.debates.get(debate_id)
            return DebateRow(**row) if row else None

    def list_debates(
        self,
        wanted: DebateFilter = EVERY_DEBATE,
        order: SortOrder = NEWEST,
        *,
        limit: int = 200,
        after: PageCursor | None = None,
    ) -> list[DebateRow]:
        with self._lock:
            rows = [row for row in self._select(wanted) if order.is_after(row, after)]
            rows.sort(key=order.key, reverse=order.descending)
            return [DebateRow(**row) for row in rows[:limit]]

    def totals(self, wanted: DebateFilter = EVERY_DEBATE) -> Totals:
        with self._lock:
            return sum_groups(single_group(row) for row in self._select(wanted))

    def cached_calls(self, wanted: DebateFilter = EVERY_DEBATE) -> tuple[CachedCalls, ...]:
        with self._lock:
            rows = (row for row in self._select(wanted) if row["cost"] is not None)
            return summed(one for row in rows for one in row["cached_calls"])

    def totals_by_run(self) -> dict[str, Totals]:
        with self._lock:
            return totals_by_run(map(single_group, self._select(ALL_STAGES)))

    def search_lag(self) -> int:
        return 0

    def _select(self, wanted: DebateFilter) -> list[Row]:
        self.project()
        query = () if wanted.search is None else query_terms(wanted.search)

        def text_matches(position: int) -> bool:
            debate_id = stream_debate(self._log[position - 1].stream)
            texts = {(debate_id, digest): part for digest, part in self.parts(debate_id).items()}
            found = terms_by_event(searchable_events(self._streams[debate_stream(debate_id)]), texts)
            return any(contains_terms(query, terms) for terms in found.values())

        return [row for row in self._lists.debates.values() if wanted.matches(row, text_matches)]

    def runs(self) -> list[RunRow]:
        with self._lock:
            self.project()
            rows = sorted(self._lists.runs.values(), key=lambda row: row["position"])
            sizes, leases = self._run_sizes, self._run_leases
            return [RunRow(**row, cases=sizes.get(row["run_id"]), **leases.get(row["run_id"], {})) for row in rows]

    def run(self, run_id: str) -> RunRow | None:
        return next((row for row in self.runs() if row.run_id == run_id), None)

    def cases_of(self, debate_ids: Collection[str]) -> dict[str, CaseRow]:
        with self._lock:
            self.project()
            found = {}
            for debate_id in debate_ids:
                if (row := self._lists.debates.get(debate_id)) is not None:
                    part = self._parts.get(debate_id, {}).get(row["case_part"])
                    found[debate_id] = CaseRow.of(row, part.salt if part else None)
            return found

    def ended_positions(self, debate_ids: Collection[str]) -> dict[str, int]:
        with self._lock:
            self.project()
            rows = ((debate_id, self._lists.debates.get(debate_id)) for debate_id in debate_ids)
            return {debate_id: row["position"] for debate_id, row in rows if row and row["ended_at"] is not None}

    def further_repeats(self, run_id: str, most: int) -> int:
        with self._lock:
            rows = self._select(DebateFilter(run_id, counted=None))
            return sum(
                row["stage"] in {None, 1} and repeat_of(row["debate_id"], run_id, row["case_id"]) > most for row in rows
            )

    def ballots(self, wanted: DebateFilter = EVERY_DEBATE, *, ended_only: bool = True) -> Iterator[list[DebateBallots]]:
        with self._lock:
            rows = [row for row in self._select(wanted) if not (ended_only and row["ended_at"] is None)]
            sheets = self._lists.ballots or {}
            found = [DebateBallots.of(row, sheets[row["debate_id"]]) for row in sorted(rows, key=_debate_id)]
        if found:
            yield found

    def project(self, limit: int = 5000) -> int:
        with self._lock:
            done = len(self._log) - self._projected
            self._lists.advance(self._log[self._projected :])
            self._projected = len(self._log)
            return min(done, limit) if limit else done

    def index_texts(self, limit: int = 500) -> int:  # noqa: ARG002  (the interface)
        """Nothing to do: texts are searched without an index."""
        return 0

    def rebuild(self) -> int:
        with self._lock:
            self._lists = ListProjection({}, {}, {})
            self._projected = 0
            self.project()
            return len(self._log)

    def close(self) -> None:
        self._closed = True


def _debate_id(row: Row) -> str:
    found: str = row["debate_id"]
    return found
