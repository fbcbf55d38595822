"""One holder a run on PostgreSQL, where several processes may write: an advisory lock, held as long as its connection.

SQLite needs none of it: its file has one writing process. What fences a holder whose connection was lost is the epoch
of the log; the lock keeps two that live from asking the same models at once.

A process takes all its locks on one connection, inside one transaction that stays open: a connection pooler then gives
the server's connection to nobody else, and the server lets the locks go when the process ends, however it ends. The
transaction reads nothing and writes nothing, so it keeps no row from being vacuumed.
"""

import hashlib
import os
import socket
import threading
import time
from contextlib import suppress
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection, NullPool
from sqlalchemy.exc import DBAPIError

from jury_store.errors import StoreLocked, StoreUnreachable
from jury_store.opening import cause_of, shown, store_url
from jury_store.postgres_engine import postgres_engine

_POLL_SECONDS = 0.5
_KEEP_ALIVE = {"tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 3}
"""Seconds, and times: the server learns within half a minute that the machine of a holder is gone."""

_HOLDER = """
SELECT a.application_name, to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
AND (l.classid::bigint << 32 | l.objid::bigint) = %s AND a.datname = current_database()
"""


class RunLock:
    """Held from `acquire` to `release`. In one process a run may be held several times over: its court is shared."""

    def __init__(self, place: "_Place", run_id: str) -> None:
        self._place = place
        self._run_id: str | None = run_id

    @classmethod
    def acquire(cls, url: str, run_id: str, *, wait: float) -> "RunLock | None":
        """Take the lock of a run, waiting up to `wait` seconds for its holder to end; None on SQLite.

        Raises:
            StoreLocked: another process holds the run; the message names it.
            StoreUnreachable: the database cannot be reached.
        """
        parsed = parse_store_url(url)
        if parsed.get_backend_name() == "sqlite":
            return None
        place = _Place(os.getpid(), parsed)
        until = time.monotonic() + wait
        while (holder := _take(place, run_id)) is not None:
            if time.monotonic() >= until:
                raise StoreLocked(
                    f"run {run_id!r} is being held by {holder}. A run has one holder at a time: wait for it to end or "
                    "stop it, or give this run another id"
                )
            time.sleep(_POLL_SECONDS)
        return cls(place, run_id)

    def release(self) -> None:
        """Let the next holder in; twice is allowed."""
        run_id, self._run_id = self._run_id, None
        if run_id is not None:
            _give_back(self._place, run_id)


class _Place(NamedTuple):
    """A process and its database: a forked process has no part in its parent's connection."""

    process: int
    url: URL


class _Session:
    """The connection of one process; `runs` says how often each is held."""

    def __init__(self, url: URL) -> None:
        self.runs: dict[str, int] = {}
        self._engine = postgres_engine(url, poolclass=NullPool)
        self._connection: Connection = self._engine.connect()
        try:
            name = f"jury {os.getpid()} on {socket.gethostname()}"
            settings = {"application_name": name[:63], "idle_in_transaction_session_timeout": 0, **_KEEP_ALIVE}
            for setting, value in settings.items():
                self._ask("SELECT set_config(%s, %s, false)", setting, str(value))
            self._schema = str(self._ask("SELECT current_schema()"))
        except BaseException:
            self.close()
            raise

    def lock(self, run_id: str) -> str | None:
        """Take the lock once more; gives who has it instead."""
        if not self._ask("SELECT pg_try_advisory_lock(%s)", self._key(run_id)):
            rows = self._connection.exec_driver_sql(_HOLDER, (self._key(run_id),)).all()
            return _named(rows[0]) if rows else "another process that is about to let it go"
        self.runs[run_id] = self.runs.get(run_id, 0) + 1
        return None

    def unlock(self, run_id: str) -> None:
        """Once for each `lock`."""
        self.runs[run_id] -= 1
        if not self.runs[run_id]:
            del self.runs[run_id]
        self._ask("SELECT pg_advisory_unlock(%s)", self._key(run_id))

    def close(self) -> None:
        """Let go of everything."""
        self._connection.invalidate()
        self._connection.close()
        self._engine.dispose()

    def _key(self, run_id: str) -> int:
        """Stores in several schemas of one database have locks of their own."""
        text = f"jury-judge\0{self._schema}\0{run_id}".encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:8], signed=True)

    def _ask(self, statement: str, *values: object) -> Any:
        return self._connection.exec_driver_sql(statement, values).scalar()


_TURN = threading.Lock()
_SESSIONS: dict[_Place, _Session] = {}


def _take(place: _Place, run_id: str) -> str | None:
    """Gives who holds the run instead."""
    with _TURN:
        before = _SESSIONS.get(place)
        try:
            if before is not None:
                return before.lock(run_id)
        except DBAPIError:
            # The connection was lost, and with it what was held: it is taken again, where nobody else has it now. One
            # that only fails must not keep it.
            _SESSIONS.pop(place).close()
        try:
            session = _Session(place.url)
            for held, times in () if before is None else before.runs.items():
                for _ in range(times):
                    session.lock(held)
                session.runs[held] = times
            found = session.lock(run_id)
        except DBAPIError as error:
            raise StoreUnreachable(
                f"{shown(place.url)} cannot be reached: {cause_of(error, place.url)}. Check that it runs and that you "
                "may use it"
            ) from None
        if session.runs:
            _SESSIONS[place] = session
        else:
            session.close()
        return found


def _give_back(place: _Place, run_id: str) -> None:
    with _TURN:
        session = _SESSIONS.get(place)
        if session is None:
            return
        with suppress(DBAPIError):  # the connection was lost: nothing is held any more
            session.unlock(run_id)
        if not session.runs:
            del _SESSIONS[place]
            session.close()


def _named(row: Any) -> str:
    name = str(row[0])
    since = "" if row[1] is None else f", since {row[1]}"  # hidden from a user of another role
    who = f"process {name.removeprefix('jury ')}" if name.startswith("jury ") else f"a connection named {name!r}"
    return f"{who}{since}"
