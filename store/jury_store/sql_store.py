"""The log on SQLite and PostgreSQL."""

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, bindparam, select
from sqlalchemy.exc import DataError, DBAPIError, StatementError

from jury_events.debate_history import DebateHistory
from jury_events.envelope import Head, StoredEvent, erased_in
from jury_events.ids import (
    BATCHES_PREFIX,
    DRIFT_PREFIX,
    RUN_PREFIX,
    batch_id,
    batch_stream,
    owner_stream,
    stream_debate,
)
from jury_events.parts import Digest, Part, whole
from jury_store import audit_queries, listing, seal_rows, search_index
from jury_store.appends import AtomicExtras, delete_texts, write
from jury_store.cached_calls import CachedCalls
from jury_store.committed_events import SEARCH, CommittedEvents, OpenDebates
from jury_store.debate_ballots import DebateBallots
from jury_store.debate_rows import EVERY_DEBATE, CaseRow, DebateFilter, DebateRow, RunRow, Totals
from jury_store.errors import (
    InvalidAppend,
    MayNotErase,
    ReadOnlyStore,
    StoreClosed,
    StoreDamaged,
    StoreFailed,
)
from jury_store.event_rows import DriverCursor, RowTypes, by_stream, last_position, read_events, the_counter
from jury_store.event_store import Append, AppendResults, EventStore, Inventory, ListFault
from jury_store.list_order import NEWEST, PageCursor, SortOrder
from jury_store.postgres import ERASER_ROLE, DatabaseUser, right_faults
from jury_store.schema import EPOCH, metadata
from jury_store.scrubbing import scrub
from jury_store.seals.seal import Attestation, Seal
from jury_store.sql_dialects import DIALECTS, describe_damage, describe_disk_error, first_line

_P = ParamSpec("_P")
_T = TypeVar("_T")
_CATCH_UP = 5000
_CHUNK = 500

_parts = metadata.tables["parts"]
# By digest: a debate may have megabytes of other texts.
_HEADS = RowTypes.of("streams", "stream", "version", "epoch", "hash")
_PARTS = RowTypes.of("parts", "digest", "salt", "content")
_PARTS_BY_DIGEST = select(_parts.c.digest, _parts.c.salt, _parts.c.content).where(
    _parts.c.debate_id == bindparam("debate"), _parts.c.digest.in_(bindparam("digests", expanding=True))
)


class SqlEventStore(EventStore):
    """Created by `jury_store.opening.open_store`.

    `writer` is None for a read-only store, `user` where the database has none (SQLite). `on_close` releases other
    resources, such as a lock. `before_close` may be set: it ends what uses the store in another thread.
    """

    _most_behind = _CATCH_UP
    """How many events the tables of the lists may be behind when they are read: the rest is projected in memory."""

    def __init__(
        self,
        *,
        name: str,
        reader: Engine,
        writer: Engine | None,
        user: DatabaseUser | None = None,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name
        self._reader = reader
        self._writer = writer
        self.user = user
        self._eraser = user.eraser if user else None
        self._on_close = on_close
        self.before_close: Callable[[], None] = lambda: None
        self._dialect = DIALECTS[reader.dialect.name]
        self._write_lock = threading.Lock()
        self._kept_connection: Connection | None = None
        self._open_debates = OpenDebates()
        # Only SQLite has one writing process: elsewhere another one may erase texts that are kept here.
        self._recent = CommittedEvents(texts=self._dialect.one_writer)
        self._closed = False

    @property
    def kind(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._dialect.name

    @property
    def writer_role(self) -> str | None:
        """The PostgreSQL role of this store's connections, which cannot change events; None when there is none."""
        return self.user.role if self.user else None

    def right_faults(self) -> list[str]:
        """What the login of the store lacks, and what it has beyond its role (PostgreSQL), one line each."""
        if self.user is None:
            return []
        with self._reading() as connection:
            return list(right_faults(connection))

    def append(
        self,
        requests: Sequence[Append],
        *,
        atomic: bool = False,
        origin: bytes | None = None,
        erase: Collection[Digest] = (),
    ) -> AppendResults:
        if erase:
            self.require_eraser()
        extras = AtomicExtras(origin, erase, self._eraser) if origin is not None or erase else None
        try:
            with self._writing() as connection:
                results = write(connection, self._dialect, requests, self._recent, atomic=atomic, extras=extras)
                if erase:
                    self._recent.erased(stream_debate(requests[0].stream), erase)
                return results
        except (DataError, UnicodeError, OverflowError, StatementError) as error:
            # The database rejects a value: append one by one to find the request.
            if len(requests) > 1 and not atomic:
                return [result for request in requests for result in self.append([request])]
            refusal = InvalidAppend(f"{requests[0].stream}: {self.name} cannot store this: {first_line(error)}")
            return [refusal] * len(requests)

    def next_epoch(self) -> int:
        with self._writing() as connection, connection.begin():
            return the_counter(DriverCursor(connection).rows(self._dialect.next_epoch), EPOCH)

    def heads(self, streams: Collection[str]) -> dict[str, Head]:
        with self._reading() as connection:
            rows = connection.exec_driver_sql(self._dialect.heads_in, (self._dialect.id_list(streams),))
            return {row[0]: Head(row[1], row[2], row[3]) for row in _HEADS.checked(rows.all())}

    def read_stream(self, stream: str, after: int = 0) -> list[StoredEvent]:
        with self._reading() as connection:
            return read_events(connection, self._dialect.read_stream, (stream, after))

    def read_streams(self, streams: Collection[str]) -> dict[str, list[StoredEvent]]:
        with self._reading() as connection:
            return by_stream(read_events(connection, self._dialect.read_streams, (self._dialect.id_list(streams),)))

    def first_events(self, streams: Collection[str]) -> dict[str, StoredEvent]:
        with self._reading() as connection:
            found = read_events(connection, self._dialect.first_events, (self._dialect.id_list(streams),))
        return {event.stream: event for event in found}

    def read_all(self, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        with self._reading() as connection:
            return read_events(connection, self._dialect.read_all, (after, limit))

    def last_position(self) -> int:
        with self._reading() as connection:
            return last_position(connection, self._dialect)

    def parts(self, debate_id: str, digests: Collection[Digest] | None = None) -> dict[Digest, Part]:
        wanted = None if digests is None else list(dict.fromkeys(digests))
        found: list[Part] = list(self.parts_of([debate_id]).get(debate_id, {}).values()) if wanted is None else []
        with self._reading() as connection:
            for start in range(0, len(wanted or ()), _CHUNK):
                chosen = {"debate": debate_id, "digests": (wanted or [])[start : start + _CHUNK]}
                found += (Part(*row) for row in connection.execute(_PARTS_BY_DIGEST, chosen))
            erasures = connection.exec_driver_sql(self._dialect.erasures, (owner_stream(debate_id),))
            erased = erased_in(row[0] for row in erasures)
        return {part.digest: part for part in whole(_PARTS.checked(found)) if part.digest not in erased}

    def parts_of(self, debate_ids: Iterable[str]) -> dict[str, dict[Digest, Part]]:
        found: dict[str, dict[Digest, Part]] = defaultdict(dict)
        with self._reading() as connection:
            rows = connection.exec_driver_sql(self._dialect.parts_of, (self._dialect.id_list(list(debate_ids)),))
            for debate_id, digest, salt, content in rows:
                found[debate_id][digest] = Part(digest, salt, content)
        return dict(found)

    def named_parts(self, wanted: Mapping[str, Collection[Digest]]) -> dict[str, dict[Digest, Part]]:
        pairs = [(debate_id, digest) for debate_id, digests in wanted.items() for digest in digests]
        found: dict[str, dict[Digest, Part]] = defaultdict(dict)
        with self._reading() as connection:
            for start in range(0, len(pairs), _CHUNK):
                chunk = pairs[start : start + _CHUNK]
                statement = self._dialect.parts_by_digest(len(chunk))
                for debate_id, *part in connection.exec_driver_sql(statement, tuple(chain.from_iterable(chunk))):
                    found[debate_id][part[0]] = Part(*part)
        return dict(found)

    def debate_ids(self, after: str = "", limit: int = 1000) -> list[str]:
        return self._read_for_audit(audit_queries.debate_ids, self._dialect, after, limit)

    def batch_ids(self, run_id: str | None = None) -> list[str]:
        start = BATCHES_PREFIX if run_id is None else batch_stream(batch_id(run_id, ""))
        with self._reading() as connection:
            # "~" follows every character of an id in ASCII, also the last one of a run's prefix.
            rows = connection.exec_driver_sql(self._dialect.streams_between, (start, f"{start}~"))
            return sorted(stream_debate(row[0]) for row in rows if isinstance(row[0], str))

    def run_ids(self) -> list[str]:
        return self._read_for_audit(audit_queries.ids_of, RUN_PREFIX)

    def drift_ids(self) -> list[str]:
        return self._read_for_audit(audit_queries.ids_of, DRIFT_PREFIX)

    def histories(self, debate_ids: Sequence[str]) -> list[DebateHistory]:
        return self._read_for_audit(audit_queries.histories, self._dialect, debate_ids)

    def inventory(self) -> Inventory:
        return self._read_for_audit(audit_queries.inventory)

    def list_faults(self, histories: Sequence[DebateHistory] | None = None) -> list[ListFault]:
        if histories is None:
            return self._read_for_audit(audit_queries.global_faults, self._dialect)
        return self._read_for_audit(audit_queries.debate_faults, self._dialect, histories)

    def hashes(self, after: int = 0, limit: int = 10_000) -> list[tuple[int, bytes]]:
        return self._read_for_audit(seal_rows.hashes, self._dialect, after, limit)

    def seals(self) -> list[Seal]:
        return self._read_for_audit(seal_rows.seals, self._dialect)

    def latest_seal(self) -> Seal | None:
        return self._read_for_audit(seal_rows.latest_seal, self._dialect)

    def store_seal(self, seal: Seal) -> bool:
        with self._writing() as connection, connection.begin():
            return seal_rows.store_seal(connection, self._dialect, seal)

    def store_run_lease(self, run_id: str, calls: int, cost: float) -> None:
        with self._writing() as connection, connection.begin():
            connection.exec_driver_sql(self._dialect.upsert_run_lease, (run_id, calls, cost))

    def attestations(self) -> list[Attestation]:
        with self._reading() as connection:
            return seal_rows.attestations(connection, self._dialect)

    def store_attestation(self, attestation: Attestation) -> bool:
        with self._writing() as connection, connection.begin():
            return seal_rows.store_attestation(connection, self._dialect, attestation)

    def origins(self, debate_ids: Collection[str]) -> dict[str, bytes]:
        return self._read_for_audit(seal_rows.origins, self._dialect, debate_ids)

    def require_eraser(self) -> None:
        if self._writer is not None and self.user is not None and self.user.eraser is None:
            raise MayNotErase(
                f"{self.name}: the user {self.user.name} may not delete texts, so nothing was recorded and nothing "
                f"deleted; use the eraser's login, or let the owner run: GRANT {ERASER_ROLE} TO {self.user.name}"
            )

    def delete_parts(self, debate_id: str, digests: Collection[Digest]) -> int:
        self.require_eraser()
        with self._writing() as connection:
            self._recent.erased(debate_id, digests)
            with connection.begin():
                return delete_texts(connection, self._dialect, debate_id, digests, self._eraser)

    def scrub(self, wait: float = 30.0) -> None:
        with self._writing() as connection:
            scrub(connection, self.name, wait)

    def debates_named(self, debate_ids: Collection[str]) -> dict[str, DebateRow]:
        self._catch_up()
        with self._reading() as connection:
            return listing.debates_named(connection, self._dialect, debate_ids)

    def list_debates(
        self,
        wanted: DebateFilter = EVERY_DEBATE,
        order: SortOrder = NEWEST,
        *,
        limit: int = 200,
        after: PageCursor | None = None,
    ) -> list[DebateRow]:
        self._catch_up(search=wanted.search is not None)
        with self._reading() as connection:
            return listing.debates(connection, self._dialect, wanted, order, limit=limit, after=after)

    def totals(self, wanted: DebateFilter = EVERY_DEBATE) -> Totals:
        self._catch_up(search=wanted.search is not None)
        with self._reading() as connection:
            return listing.totals(connection, self._dialect, wanted)

    def cached_calls(self, wanted: DebateFilter = EVERY_DEBATE) -> tuple[CachedCalls, ...]:
        self._catch_up(search=wanted.search is not None)
        with self._reading() as connection:
            return listing.cached_calls(connection, self._dialect, wanted)

    def totals_by_run(self) -> dict[str, Totals]:
        self._catch_up()
        with self._reading() as connection:
            return listing.run_totals(connection, self._dialect)

    def search_lag(self) -> int:
        with self._reading() as connection:
            return max(0, listing.lag(connection, self._dialect, SEARCH) - search_index.TAIL)

    def runs(self) -> list[RunRow]:
        self._catch_up()
        with self._reading() as connection:
            return listing.runs(connection, self._dialect)

    def runs_left(self) -> list[str]:
        self._catch_up()
        with self._reading() as connection:
            return listing.runs_left(connection, self._dialect)

    def run(self, run_id: str) -> RunRow | None:
        self._catch_up()
        with self._reading() as connection:
            return listing.run(connection, self._dialect, run_id)

    def cases_of(self, debate_ids: Collection[str]) -> dict[str, CaseRow]:
        self._catch_up()
        with self._reading() as connection:
            return listing.cases_of(connection, self._dialect, debate_ids)

    def ended_positions(self, debate_ids: Collection[str]) -> dict[str, int]:
        self._catch_up()
        with self._reading() as connection:
            return listing.ended_positions(connection, self._dialect, debate_ids)

    def further_repeats(self, run_id: str, most: int) -> int:
        self._catch_up()
        with self._reading() as connection:
            return listing.further_repeats(connection, self._dialect, run_id, most)

    def ballots(self, wanted: DebateFilter = EVERY_DEBATE, *, ended_only: bool = True) -> Iterator[list[DebateBallots]]:
        self._catch_up(search=wanted.search is not None)
        with self._reading() as connection:
            yield from listing.ballots(connection, self._dialect, wanted, ended_only=ended_only)

    def project(self, limit: int = _CATCH_UP) -> int:
        with self._writing() as connection, connection.begin():
            return listing.advance(connection, self._dialect, limit, self._open_debates, self._recent)

    def index_texts(self, limit: int = 500) -> int:
        with self._writing() as connection, connection.begin():
            return search_index.advance(connection, self._dialect, limit, self._recent)

    def rebuild(self) -> int:
        with self._writing() as connection:
            with connection.begin():
                listing.clear(connection, self._dialect)
                search_index.clear(connection, self._dialect)
            total = 0
            while True:
                with connection.begin():
                    done = listing.advance(connection, self._dialect, _CATCH_UP, self._open_debates, self._recent)
                    searched = search_index.advance(connection, self._dialect, _CATCH_UP, self._recent)
                if not done and not searched:
                    return total
                total += done

    def close(self) -> None:
        self.before_close()
        with self._write_lock:
            if self._closed:
                return
            self._closed = True
            if self._kept_connection is not None:
                self._kept_connection.close()
            self._reader.dispose()
            if self._writer is not None:
                self._writer.dispose()
            self._on_close()

    def _catch_up(self, *, search: bool = False) -> None:
        """Update the lists. A read-only store projects the tail in memory at every read instead."""
        if self._writer is None:
            return
        while True:
            with self._reading() as connection:
                if listing.lag(connection, self._dialect) <= self._most_behind:
                    break
            self.project()
        while search and self.search_lag():
            self.index_texts()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        if self._writer is None:
            raise ReadOnlyStore(f"{self.name} was opened for reading; open it with write=True")
        with self._write_lock:
            if self._closed:
                raise StoreClosed(f"{self.name} was closed; open it again")
            try:
                connection = self._kept_connection or self._writer.connect()
                self._kept_connection = None
                try:
                    yield connection
                    connection.rollback()  # nothing, after a transaction was committed
                except BaseException:
                    connection.close()
                    raise
                if self._dialect.one_writer:
                    # Taking it from the pool and giving it back costs as much CPU as three events.
                    self._kept_connection = connection
                else:
                    connection.close()  # so that the next one is tested before its use
            except DBAPIError as error:
                if isinstance(error, DataError):
                    raise
                raise self._failure(error) from error

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        if self._closed:
            raise StoreClosed(f"{self.name} was closed; open it again")
        pool = self._reader.pool
        try:
            with self._reader.connect() as connection, connection.begin():
                yield connection
        except DBAPIError as error:
            if isinstance(error, DataError):
                raise
            raise self._failure(error) from error
        finally:
            if self._closed:  # by another thread, meanwhile: the connection went back to a pool that was closed before
                pool.dispose()

    def _read_for_audit(
        self, read: Callable[Concatenate[Connection, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Read for verification: text that is not UTF-8 has replacement characters, so that its row can be named."""
        try:
            with self._reading() as connection:
                return read(connection, *args, **kwargs)
        except StoreDamaged as damage:
            if _NOT_UTF8 not in str(damage):
                raise
        with self._reading() as connection:
            driver: Any = connection.connection.driver_connection
            driver.text_factory = lambda text: text.decode("utf-8", "replace")
            try:
                return read(connection, *args, **kwargs)
            finally:
                driver.text_factory = str

    def _failure(self, error: DBAPIError) -> Exception:
        """What an error of the driver means."""
        if _NOT_UTF8 in str(error):
            # SQLite stores any bytes in a text column.
            return StoreDamaged(f"{self.name}: {ascii(first_line(error))[1:-1][:200]}: the database was altered")
        if (disk_error := describe_disk_error(error, self.name)) is not None:
            return StoreFailed(f"{disk_error}, then try again. Nothing of this was stored")
        if (damage := describe_damage(error, self.name)) is not None:
            return StoreDamaged(damage)
        return StoreFailed(
            f"{self.name}: {first_line(error)}. Nothing of this was stored; make the database available, then try again"
        )


_NOT_UTF8 = "Could not decode to UTF-8"
"""In the message of Python's SQLite driver for such a text."""
