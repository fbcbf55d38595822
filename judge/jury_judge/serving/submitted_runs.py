"""Runs that were submitted to servers, as the log has them, and which process executes them."""

from collections.abc import Callable, Collection, Iterator, Sequence
from threading import Lock
from typing import NamedTuple

from jury_debate.calibrated import judged_by
from jury_events.ids import run_stream
from jury_events.run_facts import RunFacts
from jury_judge.running.run_requests import RunLog
from jury_store.event_store import EventStore
from jury_store.run_registry import RunHolder, RunRegistry, open_registry

_PAGE = 100


class SubmittedRun(NamedTuple):
    """A run that servers go on with by themselves.

    `panel` is the digest of what judges it (`Jury.panel_digest`), `version` that of its stream, `complete` whether its
    list is, `concurrency` what was asked for, `staged` whether it is by a ladder.
    """

    run_id: str
    panel: str
    version: int
    complete: bool
    concurrency: int | None
    staged: bool


class SubmittedRuns:
    """Reads the runs of a store; several threads may use it.

    Args:
        store: open for reading.
        url: of the store; None where it is in memory.
    """

    def __init__(self, store: EventStore, url: str | None) -> None:
        self._store = store
        self._lock = Lock()
        self._registry: RunRegistry | None = None if url is None else open_registry(url)
        self._logs: dict[str, RunLog] = {}

    def facts(self, run_id: str) -> RunFacts | None:
        """The facts of a run now; None: it was not listed. Raises as `RunLog.look`."""
        return RunLog(self._store, run_id).look()

    def version(self, run_id: str) -> int:
        """The version of a run's stream now."""
        head = self._store.heads([run_stream(run_id)]).get(run_stream(run_id))
        return 0 if head is None else head.version

    def left(
        self, is_wanted: Callable[[SubmittedRun], bool], executed: Collection[str], *, most: int, staged: bool
    ) -> list[SubmittedRun]:
        """Those of which something is left, the oldest first, without cancelled ones and those that a process executes.

        Args:
            is_wanted: chooses among them.
            executed: runs of this process, which are left out.
            most: how many are wanted.
            staged: whether there may be runs of ladders, of which a stage may be over and the next one not opened.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._lock:
            left = dict.fromkeys(self._store.runs_left())
            rows = self._store.runs() if staged else []
            names = list(left | {row.run_id: None for row in rows if row.total is None or row.ended < row.total})
            self._logs = {name: self._logs[name] for name in names if name in self._logs}
            found: list[SubmittedRun] = []
            for page in _paged([name for name in names if name not in executed]):
                chosen = [one for one in self._submitted(page) if (one.staged or one.run_id in left) and is_wanted(one)]
                holders = self._registry.holders([run.run_id for run in chosen]) if self._registry and chosen else {}
                found += [run for run in chosen if run.run_id not in holders]
                if len(found) >= most:
                    break
            return found[:most]

    def _submitted(self, run_ids: Sequence[str]) -> Iterator[SubmittedRun]:
        """Those that servers go on with and nobody cancelled; of a stream that is known only its head is read."""
        heads = self._store.heads([run_stream(run_id) for run_id in run_ids])
        for run_id in run_ids:
            head = heads.get(run_stream(run_id))
            if head is None:
                continue
            log = self._logs.setdefault(run_id, RunLog(self._store, run_id))
            facts = log.facts if log.facts is not None and log.facts.version == head.version else log.look()
            run = submitted_run(facts)
            if run is not None and facts is not None and facts.cancelled_by is None:
                yield run

    def holder(self, run_id: str) -> RunHolder | None:
        """The process that executes a run; None: there is none. Raises as `left`."""
        if self._registry is None:
            return None
        with self._lock:
            return self._registry.holders([run_id]).get(run_id)

    def close(self) -> None:
        """Close its connection."""
        if self._registry is not None:
            self._registry.close()


def _paged(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[start : start + _PAGE] for start in range(0, len(names), _PAGE))


def submitted_run(facts: RunFacts | None) -> SubmittedRun | None:
    """The run, where it was submitted to a server of this store."""
    if facts is None or facts.imports:
        return None
    opened, submitted = facts.opened, facts.opened.submitted
    if submitted is None:
        return None
    return SubmittedRun(
        run_id=opened.run_id,
        panel=judged_by(opened.panel, opened.custom) if opened.ladder is None else opened.ladder.digest,
        version=facts.version,
        complete=facts.complete,
        concurrency=submitted.concurrency,
        staged=opened.ladder is not None,
    )
