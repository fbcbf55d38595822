"""The log on SQLite and PostgreSQL."""

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, bindparam, select
from sqlalchemy.exc import DataError, DBAPIError, StatementError

from jury_events.conditions import Condition
from jury_events.envelope import StoredEvent
from jury_events.ids import debate_stream
from jury_events.parts import Digest, Part, whole
from jury_store import list_checks, listing, part_rows, seal_rows, searching, survey
from jury_store.append_writer import Extras, counted, write
from jury_store.debate_history import DebateHistory
from jury_store.debate_rows import EVERY_DEBATE, CaseRow, DebateFilter, DebateRow, RunRow, Totals
from jury_store.dialects import DIALECTS
from jury_store.driver_errors import disk_trouble
from jury_store.errors import (
    InvalidAppend,
    MayNotErase,
    ReadOnlyStore,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFailed,
)
from jury_store.event_store import Append, Appended, EventStore
from jury_store.inventory import Head, Inventory, ListFault, erased_in
from jury_store.list_order import NEWEST, OLDEST, PageCursor, SortOrder
from jury_store.postgres_role import ERASER_ROLE, DatabaseUser
from jury_store.projection_checkpoints import SEARCH
from jury_store.schema import EPOCH, metadata
from jury_store.scrubbing import scrub
from jury_store.seals.attestation import Attestation
from jury_store.seals.seal import Seal

_T = TypeVar("_T")
_CATCH_UP = 5000
_CHUNK = 500

_parts = metadata.tables["parts"]
# By digest: a debate may hold megabytes of which nothing was asked for.
_PARTS_ASKED_FOR = select(_parts.c.digest, _parts.c.salt, _parts.c.content).where(
    _parts.c.debate_id == bindparam("debate"), _parts.c.digest.in_(bindparam("digests", expanding=True))
)


class SqlEventStore(EventStore):
    """Made by `jury_store.opening.open_store`.

    `writer` is None for a store that is only read, `user` where the database has none (SQLite). `on_close` gives back
    what was taken to open it.
    """

    def __init__(
        self,
        *,
        name: str,
        reader: Engine,
        writer: Engine | None,
        user: DatabaseUser | None = None,
        on_close: Callable[[], None],
    ) -> None:
        self.name = name
        self._reader = reader
        self._writer = writer
        self.user = user
        self._on_close = on_close
        self._dialect = DIALECTS[reader.dialect.name]
        self._turn = threading.Lock()
        self._closed = False

    @property
    def kind(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._dialect.name

    @property
    def writer_role(self) -> str | None:
        """The PostgreSQL role that this store works under, which cannot change events; None when it has none."""
        return self.user.role if self.user else None

    def append(
        self,
        requests: Sequence[Append],
        *,
        together: bool = False,
        origin: bytes | None = None,
        erase: Collection[Digest] = (),
    ) -> list[Appended | StoreError]:
        if erase:
            self.require_eraser()
        extras = Extras(origin, erase, self._eraser) if together else None
        try:
            with self._writing() as connection:
                return write(connection, self._dialect, requests, together=together, extras=extras)
        except (DataError, UnicodeError, OverflowError, StatementError) as error:
            # The database will not take a value: find out whose it is.
            if len(requests) > 1 and not together:
                return [answer for request in requests for answer in self.append([request])]
            refusal = InvalidAppend(f"{requests[0].stream}: {self.name} cannot store this: {_first_line(error)}")
            return [refusal] * len(requests)

    def next_epoch(self) -> int:
        with self._writing() as connection, connection.begin():
            return counted(connection, self._dialect.next_epoch, EPOCH)

    def heads(self, streams: Collection[str]) -> dict[str, Head]:
        with self._reading() as connection:
            rows = connection.exec_driver_sql(self._dialect.heads_in, (self._dialect.texts(streams),))
            return {row[0]: Head(row[1], row[2], row[3]) for row in rows}

    def read_stream(self, stream: str, after: int = 0) -> list[StoredEvent]:
        with self._reading() as connection:
            rows = connection.exec_driver_sql(self._dialect.read_stream, (stream, after))
            return [StoredEvent(*row) for row in rows]

    def read_streams(self, streams: Collection[str]) -> dict[str, list[StoredEvent]]:
        found: dict[str, list[StoredEvent]] = defaultdict(list)
        with self._reading() as connection:
            for row in connection.exec_driver_sql(self._dialect.read_streams, (self._dialect.texts(streams),)):
                event = StoredEvent(*row)
                found[event.stream].append(event)
        return dict(found)

    def read_all(self, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        with self._reading() as connection:
            return [StoredEvent(*row) for row in connection.exec_driver_sql(self._dialect.read_all, (after, limit))]

    def last_position(self) -> int:
        with self._reading() as connection:
            return listing.last_position(connection, self._dialect)

    def parts(self, debate_id: str, digests: Collection[Digest] | None = None) -> dict[Digest, Part]:
        wanted = None if digests is None else list(dict.fromkeys(digests))
        found: list[Part] = list(self.parts_of([debate_id]).get(debate_id, {}).values()) if wanted is None else []
        with self._reading() as connection:
            for start in range(0, len(wanted or ()), _CHUNK):
                chosen = {"debate": debate_id, "digests": (wanted or [])[start : start + _CHUNK]}
                found += (Part(*row) for row in connection.execute(_PARTS_ASKED_FOR, chosen))
            erasures = connection.exec_driver_sql(self._dialect.erasures, (debate_stream(debate_id),))
            gone = erased_in(row[0] for row in erasures)
        return {part.digest: part for part in whole(found) if part.digest not in gone}

    def parts_of(self, debate_ids: Iterable[str]) -> dict[str, dict[Digest, Part]]:
        found: dict[str, dict[Digest, Part]] = defaultdict(dict)
        with self._reading() as connection:
            rows = connection.exec_driver_sql(self._dialect.parts_of, (self._dialect.texts(list(debate_ids)),))
            for debate_id, digest, salt, content in rows:
                found[debate_id][digest] = Part(digest, salt, content)
        return dict(found)

    def debate_ids(self, after: str = "", limit: int = 1000) -> list[str]:
        return self._surveyed(lambda connection: survey.debate_ids(connection, self._dialect, after, limit))

    def histories(self, debate_ids: Sequence[str]) -> list[DebateHistory]:
        return self._surveyed(lambda connection: survey.histories(connection, self._dialect, debate_ids))

    def inventory(self) -> Inventory:
        return self._surveyed(survey.inventory)

    def list_faults(self, histories: Sequence[DebateHistory] | None = None) -> list[ListFault]:
        def compared(connection: Connection) -> list[ListFault]:
            if histories is None:
                return list_checks.of_the_whole(connection, self._dialect)
            return list_checks.of_debates(connection, self._dialect, histories)

        return self._surveyed(compared)

    def hashes(self, after: int = 0, limit: int = 10_000) -> list[tuple[int, bytes]]:
        return self._surveyed(lambda connection: seal_rows.hashes(connection, self._dialect, after, limit))

    def seals(self) -> list[Seal]:
        return self._surveyed(lambda connection: seal_rows.seals(connection, self._dialect))

    def latest_seal(self) -> Seal | None:
        return self._surveyed(lambda connection: seal_rows.latest_seal(connection, self._dialect))

    def store_seal(self, seal: Seal) -> bool:
        with self._writing() as connection, connection.begin():
            return seal_rows.store_seal(connection, self._dialect, seal)

    def store_run_size(self, run_id: str, cases: int | None) -> None:
        with self._writing() as connection, connection.begin():
            connection.exec_driver_sql(self._dialect.store_run_size, (run_id, cases))

    def attestations(self) -> list[Attestation]:
        with self._reading() as connection:
            return seal_rows.attestations(connection, self._dialect)

    def store_attestation(self, attestation: Attestation) -> bool:
        with self._writing() as connection, connection.begin():
            return seal_rows.store_attestation(connection, self._dialect, attestation)

    def origins(self, debate_ids: Collection[str]) -> dict[str, bytes]:
        return self._surveyed(lambda connection: seal_rows.origins(connection, self._dialect, debate_ids))

    def require_eraser(self) -> None:
        if self._writer is not None and self.user is not None and self.user.eraser is None:
            raise MayNotErase(
                f"{self.name}: the user {self.user.name} may not delete texts, so nothing was recorded and nothing "
                f"went; use the eraser's login, or let the owner run: GRANT {ERASER_ROLE} TO {self.user.name}"
            )

    def delete_parts(self, debate_id: str, digests: Collection[Digest]) -> int:
        self.require_eraser()
        with self._writing() as connection, connection.begin():
            return part_rows.delete(connection, self._dialect, debate_id, digests, self._eraser)

    def scrub(self, wait: float = 30.0) -> None:
        with self._writing() as connection:
            scrub(connection, self.name, wait)

    def debate(self, debate_id: str) -> DebateRow | None:
        self._catch_up()
        with self._reading() as connection:
            return listing.debate(connection, self._dialect, debate_id)

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
        self._catch_up()
        with self._reading() as connection:
            wanted = DebateFilter(run_id, where=where, quarantined=quarantined, unfinished=unfinished)
            return listing.debates(connection, self._dialect, wanted, OLDEST, limit=limit, after=PageCursor(after))

    def listed(
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

    def unsearched(self) -> int:
        with self._reading() as connection:
            return max(0, listing.lag(connection, self._dialect, SEARCH) - searching.TAIL)

    def runs(self) -> list[RunRow]:
        self._catch_up()
        with self._reading() as connection:
            return listing.runs(connection, self._dialect)

    def cases_of_run(self, run_id: str) -> dict[str, CaseRow]:
        self._catch_up()
        with self._reading() as connection:
            return listing.cases_of_run(connection, self._dialect, run_id)

    def project(self, limit: int = _CATCH_UP) -> int:
        with self._writing() as connection, connection.begin():
            return listing.advance(connection, self._dialect, limit)

    def index_texts(self, limit: int = 500) -> int:
        with self._writing() as connection, connection.begin():
            return searching.advance(connection, self._dialect, limit)

    def rebuild(self) -> int:
        with self._writing() as connection:
            with connection.begin():
                listing.clear(connection)
                searching.clear(connection, self._dialect)
            total = 0
            while True:
                with connection.begin():
                    done = listing.advance(connection, self._dialect, _CATCH_UP)
                    searched = searching.advance(connection, self._dialect, _CATCH_UP)
                if not done and not searched:
                    return total
                total += done

    @property
    def _eraser(self) -> str | None:
        return self.user.eraser if self.user else None

    def close(self) -> None:
        with self._turn:
            if self._closed:
                return
            self._closed = True
            self._reader.dispose()
            if self._writer is not None:
                self._writer.dispose()
            self._on_close()

    def _catch_up(self, *, search: bool = False) -> None:
        """A reader folds what is not projected yet in memory, which a writer need not do again and again."""
        if self._writer is None:
            return
        while True:
            with self._reading() as connection:
                if listing.lag(connection, self._dialect) <= _CATCH_UP:
                    break
            self.project()
        while search and self.unsearched():
            self.index_texts()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        if self._writer is None:
            raise ReadOnlyStore(f"{self.name} was opened for reading; open it with write=True")
        with self._turn:
            if self._closed:
                raise StoreClosed(f"{self.name} was closed; open it again")
            with self._failures(), self._writer.connect() as connection:
                yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        if self._closed:
            raise StoreClosed(f"{self.name} was closed; open it again")
        with self._failures(), self._reader.connect() as connection, connection.begin():
            yield connection

    def _surveyed(self, read: Callable[[Connection], _T]) -> _T:
        """Read for somebody who verifies: text that is damaged comes with replacement characters, to be named."""
        try:
            with self._reading() as connection:
                return read(connection)
        except StoreDamaged as damage:
            if _NOT_TEXT not in str(damage):
                raise
        with self._reading() as connection:
            driver: Any = connection.connection.driver_connection
            driver.text_factory = _replacing
            try:
                return read(connection)
            finally:
                driver.text_factory = str

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except DataError:
            raise
        except DBAPIError as error:
            if _NOT_TEXT in str(error):
                # SQLite keeps bytes of any kind where a text is declared.
                raise StoreDamaged(
                    f"{self.name}: {ascii(_first_line(error))[1:-1][:200]}: this was altered; see jury verify --all"
                ) from error
            trouble = disk_trouble(error, self.name)
            if trouble is not None:
                raise StoreFailed(f"{trouble}, then try again. Nothing of this was stored") from error
            raise StoreFailed(
                f"{self.name}: {_first_line(error)}. Nothing of this was stored; make room or bring the database back, "
                "then try again"
            ) from error


_NOT_TEXT = "Could not decode to UTF-8"
"""What Python's driver of SQLite says of such a text."""


def _replacing(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _first_line(error: Exception) -> str:
    origin = error.orig if isinstance(error, StatementError) and error.orig is not None else error
    return (str(origin).strip().splitlines() or [type(origin).__name__])[0]
