"""One process a run on PostgreSQL, where several processes may write: an advisory lock on the process's connection.

SQLite does not need it: its file has one writing process. The lock keeps two live processes from calling the same
models; a process whose connection was lost is fenced by the epoch of the log.

A process takes all its locks on one connection, in one transaction that stays open: so a connection pooler gives the
server's connection to no other client, and the server releases the locks when the process ends. The transaction reads
and writes nothing, so it blocks no vacuum.
"""

import hashlib
import os
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection, NullPool
from sqlalchemy.exc import DBAPIError

from jury_store.errors import StoreLocked
from jury_store.opening import connection_errors, parse_store_url
from jury_store.postgres_engine import postgres_engine

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

        Raises:
            StoreLocked: another process executes the run; the message names it.
            StoreUnreachable: the database cannot be reached.
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
    """Returns the description of another process that has the lock."""
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
