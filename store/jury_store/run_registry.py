"""Which process executes a run now, and requests to cancel it: what other processes can see and ask.

Nothing of it is in the log, and nothing has to be cleaned up: a process that dies takes its entries with it.

On SQLite the entries are files beside the database, `FILE.runs/RUN.json` and `FILE.runs/RUN.cancel`, each locked by the
process that wrote it. On PostgreSQL they are advisory locks, so that they work across machines: that of `RunLock`, and
one of the process that asks to cancel, whose connection has the name of the person.
"""

import base64
import json
import os
import socket
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection, NullPool
from sqlalchemy.exc import DBAPIError

from jury_store.errors import StoreClosed, StoreLocked
from jury_store.locked_file import LockedFile, read_locked
from jury_store.opening import connection_errors, database_path, parse_store_url
from jury_store.postgres_engine import postgres_engine
from jury_store.run_lock import DETACHED, lock_id, process_name

MOST_BY = 30
"""Bytes of the name of the person who cancels: it is sent as the name of a connection, which has 63."""

_ASKS = "jury cancel "

_LOCKS = """
SELECT l.classid::bigint << 32 | l.objid::bigint, a.application_name,
to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND a.datname = current_database()
"""


class RunHolder(NamedTuple):
    """The process that executes a run.

    `process` is `12 on HOST`, `since` ISO 8601 (None: unknown); `detached`: it belongs to no terminal.
    """

    process: str
    since: str | None
    detached: bool


class RunRegistry(ABC):
    """The entries of one store; close it after use."""

    @abstractmethod
    def holders(self, run_ids: Collection[str]) -> dict[str, RunHolder]:
        """Those of the runs that are being executed.

        Raises:
            StoreUnreachable: the database cannot be reached.
        """

    @abstractmethod
    def cancelled_by(self, run_id: str) -> str | None:
        """Who requests the cancellation of the run; None: there is no request. Raises as `holders`."""

    @abstractmethod
    def asking_to_cancel(self, run_id: str, by: str) -> AbstractContextManager[None]:
        """Ask the process that executes the run to cancel it, as long as the context lasts. Raises as `holders`.

        Raises:
            StoreLocked: another asks already.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""


def open_registry(url: str) -> RunRegistry:
    """The registry of the store at `url`; connects when it is first asked."""
    parsed = parse_store_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _FileRegistry(registry_folder(database_path(parsed)))
    return _PostgresRegistry(parsed)


def registry_folder(database: Path) -> Path:
    """The folder beside a SQLite file."""
    return database.with_name(database.name + ".runs")


def run_file(folder: Path, run_id: str) -> Path:
    """The file of the process that executes a run."""
    return folder / f"{run_id}.json"


def holder_fields(*, since: str, detached: bool) -> dict[str, Any]:
    """The fields of a run's file that name this process."""
    return {"process": f"{os.getpid()} on {socket.gethostname()}", "since": since, "detached": detached}


class _FileRegistry(RunRegistry):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def holders(self, run_ids: Collection[str]) -> dict[str, RunHolder]:
        found = {}
        for run_id in run_ids:
            content = read_locked(run_file(self._folder, run_id))
            if content is not None:
                found[run_id] = _holder(content)
        return found

    def cancelled_by(self, run_id: str) -> str | None:
        content = read_locked(self._request(run_id))
        return None if content is None else content.decode("utf-8", "replace").strip() or None

    @contextmanager
    def asking_to_cancel(self, run_id: str, by: str) -> Iterator[None]:
        locked = LockedFile.take(self._request(run_id), by.encode())
        if locked is None:
            raise _asked_already(run_id)
        try:
            yield
        finally:
            locked.release()

    def close(self) -> None:
        """Nothing is open."""

    def _request(self, run_id: str) -> Path:
        return self._folder / f"{run_id}.cancel"


class _PostgresRegistry(RunRegistry):
    def __init__(self, url: URL) -> None:
        self._url = url
        self._connection: Connection | None = None
        self._closed = False
        self._schema = ""

    def holders(self, run_ids: Collection[str]) -> dict[str, RunHolder]:
        locked = self._locks()
        return {
            run_id: _named_holder(*locked[number])
            for run_id in run_ids
            if (number := lock_id(self._schema, run_id)) in locked
        }

    def cancelled_by(self, run_id: str) -> str | None:
        name, _ = self._locks().get(lock_id(self._schema, _request(run_id)), ("", None))
        if not name.startswith(_ASKS):
            return None
        with suppress(ValueError):
            return base64.urlsafe_b64decode(name.removeprefix(_ASKS)).decode()
        return None

    @contextmanager
    def asking_to_cancel(self, run_id: str, by: str) -> Iterator[None]:
        with connection_errors(self._url):
            # In a transaction that stays open, as of `RunLock`: so it works behind a pooler.
            connection = postgres_engine(self._url, poolclass=NullPool).connect()
            try:
                name = _ASKS + base64.urlsafe_b64encode(by.encode()).decode()
                connection.exec_driver_sql("SELECT set_config('application_name', %s, false)", (name,))
                schema = str(connection.exec_driver_sql("SELECT current_schema()").scalar())
                number = lock_id(schema, _request(run_id))
                if not connection.exec_driver_sql("SELECT pg_try_advisory_lock(%s)", (number,)).scalar():
                    raise _asked_already(run_id)
                yield
            finally:
                connection.invalidate()
                connection.close()

    def close(self) -> None:
        self._closed = True  # a thread may be connecting: it closes that connection itself
        self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(DBAPIError):
                self._connection.close()
            self._connection = None

    def _locks(self) -> dict[int, tuple[str, str | None]]:
        with connection_errors(self._url):
            try:
                rows = self._open().exec_driver_sql(_LOCKS).all()
            except DBAPIError:
                self._disconnect()
                rows = self._open().exec_driver_sql(_LOCKS).all()
        return {int(row[0]): (str(row[1]), row[2]) for row in rows}

    def _open(self) -> Connection:
        if self._connection is None:
            engine = postgres_engine(self._url, poolclass=NullPool)
            self._connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._schema = str(self._connection.exec_driver_sql("SELECT current_schema()").scalar())
        if self._closed:
            self._disconnect()
            raise StoreClosed("the registry of runs was closed; open it again")
        return self._connection


def _holder(content: bytes) -> RunHolder:
    """The process that a run's file names; the lock alone says that there is one."""
    try:
        found = json.loads(content)
        return RunHolder(str(found["process"]), str(found["since"]), found["detached"] is True)
    except (ValueError, KeyError, TypeError):
        return RunHolder("unknown", None, detached=False)


def _named_holder(name: str, since: str | None) -> RunHolder:
    return RunHolder(process_name(name), since, name.startswith(DETACHED))


def _request(run_id: str) -> str:
    """The name of the lock of a process that asks to cancel a run; no run has it."""
    return f"{run_id} cancel"


def _asked_already(run_id: str) -> StoreLocked:
    return StoreLocked(f"run {run_id!r} is being cancelled by another process; wait for it to end")
