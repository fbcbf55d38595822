"""Which process executes a run: its lock, and what other processes read and ask of it.

SQLite needs no lock of a run: its file has one writing process. On PostgreSQL it keeps two live processes from calling
the same models; a process whose connection was lost is fenced by the epoch of the log.

A process takes all its locks on one connection, in one transaction that stays open: so a connection pooler gives the
server's connection to no other client, and the server releases the locks when the process ends. The transaction reads
and writes nothing, so it blocks no vacuum.

Nothing of who executes is in the log, and nothing has to be cleaned up: a process that dies takes its entries with it.

On SQLite the entries are files beside the database, `FILE.runs/RUN.json` and `FILE.runs/RUN.cancel`, each locked by
the process that wrote it. On PostgreSQL they are advisory locks, so that they work across machines: that of `RunLock`,
and one of the process that asks to cancel, whose connection has the name of the person.
"""

import base64
import hashlib
import json
import os
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection, NullPool
from sqlalchemy.exc import DBAPIError

from jury_store.errors import StoreClosed, StoreLocked
from jury_store.locked_file import LockedFile, read_locked
from jury_store.opening import connection_errors, database_path, parse_store_url
from jury_store.postgres import postgres_engine

_POLL_SECONDS = 0.5
_LOST_SECONDS, _LOST_POLL_SECONDS = 10.0, 0.05
"""How long, and how often, a lock is tried that a lost connection of this process still has."""
_KEEP_ALIVE = {"tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 3}
"""Seconds, seconds, and a count: within half a minute the server detects that the client's machine is gone."""

_HOLDER = """
SELECT a.application_name, to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), a.pid
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
AND (l.classid::bigint << 32 | l.objid::bigint) = %s AND a.datname = current_database()
"""


ATTACHED = "jury "
DETACHED = "jury detached "
"""Begin the name of the connection of a process that executes runs."""


class RunLock:
    """Locked from `acquire` to `release`. One process may lock a run several times."""

    def __init__(self, key: "_SessionKey", run_id: str) -> None:
        self._key = key
        self._run_id: str | None = run_id

    @classmethod
    def acquire(cls, url: str, run_id: str, *, wait: float, detached: bool = False) -> "RunLock | None":
        """Lock a run, waiting up to `wait` seconds for another process to end; None on SQLite.

        `detached`: this process belongs to no terminal, which others can see.
        """
        parsed = parse_store_url(url)
        if parsed.get_backend_name() == "sqlite":
            return None
        key = _SessionKey(os.getpid(), parsed, detached)
        until = time.monotonic() + wait
        while (holder := _lock(key, run_id)) is not None:
            if time.monotonic() >= until:
                raise StoreLocked(
                    f"run {run_id!r} is being executed by {holder}. One process at a time may execute a run: wait for "
                    "it to end or stop it, or use another run id"
                )
            time.sleep(_POLL_SECONDS)
        return cls(key, run_id)

    def release(self) -> None:
        """Unlock; twice is allowed."""
        run_id, self._run_id = self._run_id, None
        if run_id is not None:
            _unlock(self._key, run_id)


class _SessionKey(NamedTuple):
    """A process and its database: a forked process must not use its parent's connection."""

    process: int
    url: URL
    detached: bool = False


class _LockSession:
    """The connection of one process; `runs` counts the locks of each run."""

    def __init__(self, url: URL, *, detached: bool = False) -> None:
        self.runs: dict[str, int] = {}
        self._engine = postgres_engine(url, poolclass=NullPool)
        self._connection: Connection = self._engine.connect()
        try:
            name = f"{DETACHED if detached else ATTACHED}{os.getpid()} on {socket.gethostname()}"
            settings = {"application_name": name[:63], "idle_in_transaction_session_timeout": 0, **_KEEP_ALIVE}
            for setting, value in settings.items():
                self._scalar("SELECT set_config(%s, %s, false)", setting, str(value))
            self._schema = str(self._scalar("SELECT current_schema()"))
            self.backend = self._scalar("SELECT pg_backend_pid()")
        except BaseException:
            self.close()
            raise

    def lock(self, run_id: str) -> str | None:
        """Lock a run once more; returns the description of another process that has the lock."""
        if self._took(run_id):
            return None
        rows = self._holders(run_id)
        return _described(rows[0]) if rows else "another process that is about to end"

    def take_over(self, run_id: str, lost: "_LockSession") -> None:
        """Lock a run that this process's lost connection had locked, unless another process is faster.

        The database ends that connection a moment after it was closed: until then it still has the lock.
        """
        until = time.monotonic() + _LOST_SECONDS
        while not self._took(run_id):
            rows = self._holders(run_id)
            if (rows and rows[0][2] != lost.backend) or time.monotonic() >= until:
                return
            time.sleep(_LOST_POLL_SECONDS)

    def unlock(self, run_id: str) -> None:
        """Undo one `lock`."""
        self.runs[run_id] -= 1
        if not self.runs[run_id]:
            del self.runs[run_id]
        self._scalar("SELECT pg_advisory_unlock(%s)", lock_id(self._schema, run_id))

    def close(self) -> None:
        """Release all locks and the connection."""
        self._connection.invalidate()
        self._connection.close()
        self._engine.dispose()

    def _took(self, run_id: str) -> bool:
        took = bool(self._scalar("SELECT pg_try_advisory_lock(%s)", lock_id(self._schema, run_id)))
        if took:
            self.runs[run_id] = self.runs.get(run_id, 0) + 1
        return took

    def _holders(self, run_id: str) -> Sequence[Any]:
        return self._connection.exec_driver_sql(_HOLDER, (lock_id(self._schema, run_id),)).all()

    def _scalar(self, statement: str, *values: object) -> Any:
        return self._connection.exec_driver_sql(statement, values).scalar()


def lock_id(schema: str, name: str) -> int:
    """The number of an advisory lock; includes the schema, as one database may contain several stores."""
    text = f"jury-judge\0{schema}\0{name}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], signed=True)


def process_name(application_name: str) -> str:
    """The process that a connection's name contains, as `12 on HOST`; any other name as it is."""
    return application_name.removeprefix(DETACHED).removeprefix(ATTACHED)


_GUARD = threading.Lock()
_SESSIONS: dict[_SessionKey, _LockSession] = {}


def _lock(key: _SessionKey, run_id: str) -> str | None:
    with _GUARD:
        before = _SESSIONS.get(key)
        try:
            if before is not None:
                return before.lock(run_id)
        except DBAPIError:
            # The connection was lost, and its locks with it: they are taken again below, where still free. A broken
            # session must not be kept.
            _SESSIONS.pop(key).close()
        with connection_errors(key.url):
            session = _LockSession(key.url, detached=key.detached)
            if before is not None:
                for run, times in before.runs.items():
                    session.take_over(run, before)
                    for _ in range(times - 1):
                        session.lock(run)
                    session.runs[run] = times
            holder = session.lock(run_id)
        if session.runs:
            _SESSIONS[key] = session
        else:
            session.close()
        return holder


def _unlock(key: _SessionKey, run_id: str) -> None:
    with _GUARD:
        session = _SESSIONS.get(key)
        if session is None:
            return
        with suppress(DBAPIError):  # the connection was lost, and the lock with it
            session.unlock(run_id)
        if not session.runs:
            del _SESSIONS[key]
            session.close()


def _described(row: Any) -> str:
    name = str(row[0])
    since = "" if row[1] is None else f", since {row[1]}"  # hidden from a user of another role
    who = f"process {process_name(name)}" if name.startswith(ATTACHED) else f"a connection named {name!r}"
    return f"{who}{since}"


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
        """Those of the runs that are being executed."""

    @abstractmethod
    def cancelled_by(self, run_id: str) -> str | None:
        """Who requests the cancellation of the run; None: there is no request. Raises as `holders`."""

    @abstractmethod
    def asking_to_cancel(self, run_id: str, by: str) -> AbstractContextManager[None]:
        """Ask the process that executes the run to cancel it, as long as the context lasts. Raises as `holders`."""

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


@dataclass
class _FileRegistry(RunRegistry):
    _folder: Path

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
