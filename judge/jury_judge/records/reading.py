"""Debates and runs as they are recorded: lists and what they add up to, histories, results, live events.

What is not always needed is imported when it is used."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_events.conditions import admitted
from jury_events.drift_facts import DriftFacts
from jury_events.errors import DebateNotFound
from jury_events.ids import debate_stream, is_debate_id, is_run_id, run_stream
from jury_events.nearest import did_you_mean
from jury_events.run_facts import RunFacts, run_facts
from jury_events.text import visible_line
from jury_judge.records.open_store import OpenStore, Where, check_debate_id, conditions_of, log_line
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter, DebateRow, RunRow, Totals
from jury_store.event_store import EventStore
from jury_store.list_order import NEWEST, PageCursor, SortOrder
from jury_store.run_registry import open_registry

if TYPE_CHECKING:
    from jury_events.debate_history import DebateHistory
    from jury_judge.comparisons.comparison import Excerpt
    from jury_judge.comparisons.run_comparison import Group
    from jury_judge.feed import Beginning
    from jury_judge.runs.cancelling import Cancelled
    from jury_judge.runs.live_run import ListedRun, LiveRun
    from jury_judge.store_access.stores import Say
    from jury_views.live_events import LiveEvent
    from jury_views.result_models import DebateResult

_PAGE = 1000
_IS_A_RUN = (
    "'{name}' is a run, not a debate: `jury list --run {name}` lists its debates, `jury watch {name}` shows its figures"
)


class NamedDebate(NamedTuple):
    """The id of a debate, and how many other debates its case has where it was named by the case."""

    debate_id: str
    others: int = 0


class ReadRecords(OpenStore):
    """Reading of debates."""

    async def events(
        self, debate_id: str, after: str | None = None, *, follow: bool = True
    ) -> "AsyncGenerator[LiveEvent, None]":
        """The live events of a debate: those so far, then each as it happens, to its end. Any process may run it.

        Args:
            debate_id: of the debate; waits for one that is not opened yet.
            after: the id of the last event that was received.
            follow: wait for more; else yield those so far.

        Raises:
            BadPoint: `after` is not the id of a live event.
            TooManyReaders: too many follow debates already.
        """
        from jury_views.live_events import LIVE_EVENTS, START, parse_point

        check_debate_id(debate_id)
        point = START if after is None else parse_point(after)
        async with self.feed.follow(debate_id, LIVE_EVENTS, point) as reader:
            if not follow:
                for one in await reader.so_far():
                    yield one
                return
            async for one in reader:
                yield one

    async def named(self, name: str, run_id: str | None = None) -> "NamedDebate":
        """The debate that a person means, of a run or of any: by its id, else the newest one of the case of that id."""
        return await self._read(_named, name, run_id)

    async def read(self, debate_id: str) -> "DebateHistory":
        """The recorded history of a debate: its events, model calls and texts, checked against their hashes."""
        check_debate_id(debate_id)
        return await self._read(_checked_history, debate_id)

    async def history(self, debate_id: str) -> "DebateHistory":
        """The same as it is stored, altered or not: `integrity_states` says whether it was.

        What does not decode raises an error when it is used, and the rest can be read.
        """
        check_debate_id(debate_id)
        return await self._read(_history, debate_id)

    async def result(self, debate_id: str) -> "DebateResult":
        """The result of a debate, so far if it is not over."""
        check_debate_id(debate_id)
        return await self._read(_result, debate_id)

    async def item_messages(self, debate_id: str) -> dict[int, int]:
        """The number of the message in the source, from 0, by the number of each item that comes from one.

        Of several scenarios, messages are numbered through all of them. Empty where the case was erased or has no
        messages, or there is no such debate.
        """
        check_debate_id(debate_id)
        return await self._read(_item_messages, debate_id)

    async def debates(
        self, *, run_id: str | None = None, where: Where = (), unfinished: bool = False
    ) -> AsyncGenerator[DebateRow, None]:
        """One row a debate, in the order in which they opened; read page by page.

        Args:
            where: conditions on the cases and the evidence (docs/filtering.md), as `"tags~refund"` or
                `"evidence=not_found"`; all must be met.
            unfinished: only those that are not completed, failed or cancelled.
        """
        conditions = conditions_of(where, recorded=True)
        after = 0
        while rows := await self._read(
            _opened, run_id=run_id, unfinished=unfinished, where=conditions, limit=_PAGE, after=after
        ):
            for row in rows:
                yield row
            after = rows[-1].position


def _named(store: EventStore, name: str, run_id: str | None) -> NamedDebate:
    wanted = DebateFilter(run_id=run_id, counted=None)
    if is_debate_id(name) and (row := store.debate(name)) is not None and run_id in {None, row.run_id}:
        return NamedDebate(name)
    like = [] if not name.strip() else store.list_debates(wanted._replace(search=name), NEWEST, limit=_PAGE)
    of_case = [row for row in like if row.case_id == name]
    if of_case:
        chosen = next((row for row in of_case if row.aside is None), of_case[0])
        return NamedDebate(chosen.debate_id, len(of_case) - 1)
    if run_id is None and is_run_id(name) and store.run(name) is not None:
        raise DebateNotFound(_IS_A_RUN.format(name=name))
    newest = like or store.list_debates(wanted, NEWEST, limit=_PAGE)
    ids = [word for row in newest for word in (row.debate_id, row.case_id)]
    hint = did_you_mean(name, ids)
    if not hint and like:
        hint = f" (did you mean {like[0].debate_id}?)"
    shown = visible_line(repr(name), 200)
    if run_id is None:
        raise DebateNotFound(f"there is no debate or case {shown} in this store{hint}; `jury list` lists the debates")
    run = visible_line(run_id, 120)
    raise DebateNotFound(
        f"there is no debate or case {shown} in the run {run}{hint}; `jury list --run {run}` lists its debates"
    )


def _item_messages(store: EventStore, debate_id: str) -> dict[int, int]:
    from jury_judge.store_access.case_messages import CaseMessages
    from jury_replay.intact import intact_histories

    intact_histories(store, [debate_id])
    cases = CaseMessages(store)
    found = cases.of(cases.opened([debate_id])).get(debate_id)
    if found is None:
        return {}
    named = ((number, found.named(number)) for number in range(1, found.items + 1))
    return {number: message for number, message in named if message is not None}


def _opened(store: EventStore, /, **asked: Any) -> list[DebateRow]:
    return store.debates(**asked)


def _checked_history(store: EventStore, debate_id: str) -> "DebateHistory":
    from jury_replay.intact import intact_history

    with _or_a_run(store, debate_id):
        return intact_history(store, debate_id)


def _history(store: EventStore, debate_id: str) -> "DebateHistory":
    with _or_a_run(store, debate_id):
        return store.history(debate_id)


@contextmanager
def _or_a_run(store: EventStore, name: str) -> Iterator[None]:
    """Say of a missing debate that a run has this name, where one has."""
    try:
        yield
    except DebateNotFound as error:
        if not is_run_id(name) or store.run(name) is None:
            raise
        raise DebateNotFound(_IS_A_RUN.format(name=name)) from error


def _result(store: EventStore, debate_id: str) -> "DebateResult":
    from jury_replay.intact import intact_history
    from jury_views.debate_results import result_of

    return result_of(intact_history(store, debate_id))


_EVERY = 1.0
"""Seconds between two readings of a run's figures."""

_TEXTS = 50
"""Debates whose texts are read together: the first lines should not wait for those of a whole page."""


class ListedDebate(NamedTuple):
    """A row of a list.

    Attributes:
        row: the columns.
        excerpt: the text in which a search found its words; None without one.
        result: the result line of the debate, which says why; None where it was not asked for, or the debate has no
            verdict, or was altered.
    """

    row: DebateRow
    excerpt: "Excerpt | None" = None
    result: dict[str, Any] | None = None


class ListRecords(OpenStore):
    """Lists of debates and runs, whichever process executes them."""

    async def listed(
        self,
        chosen: DebateFilter = EVERY_DEBATE,
        sorted_by: SortOrder = NEWEST,
        *,
        limit: int | None = None,
        after: PageCursor | None = None,
        with_reasons: bool = False,
    ) -> AsyncGenerator[ListedDebate, None]:
        """The chosen debates in order, the newest first by default; read page by page.

        Args:
            chosen: which debates; those in quarantine are left out unless asked for.
            after: where an earlier list ended: `sorted_by.cursor` of its last row.
        """
        some_at_once = _TEXTS if chosen.search or with_reasons else _PAGE
        left = limit if limit is not None else 2**62
        while left and (rows := await self._read(_page, chosen, sorted_by, limit=min(_PAGE, left), after=after)):
            for start in range(0, len(rows), some_at_once):
                some = rows[start : start + some_at_once]
                for one in await self._read(_with_texts, some, chosen.search, with_reasons=with_reasons):
                    yield one
            left -= len(rows)
            after = sorted_by.cursor(asdict(rows[-1]))

    async def has_debates(self, chosen: DebateFilter = EVERY_DEBATE) -> bool:
        """Whether there is any such debate."""
        return bool(await self._read(_page, chosen, NEWEST, limit=1))

    async def check_run(self, run_id: str) -> None:
        """Check that a run has a debate, in quarantine or not."""
        chosen = DebateFilter(run_id=run_id, waiting=None)
        if not await self.has_debates(chosen) and not await self.has_debates(chosen._replace(quarantined=True)):
            raise DebateNotFound(f"there is no run {run_id!r} in this store; `jury list --runs` lists the runs")

    async def groups(self, by: str, chosen: DebateFilter = EVERY_DEBATE) -> "list[Group]":
        """The chosen debates counted by a field of their cases: numbers by size, then texts, then those without it.

        Args:
            by: the field, as `tags` or `metadata.level` (docs/filtering.md).
        """
        return await self._read(_groups, by, chosen)

    async def totals(self, chosen: DebateFilter = EVERY_DEBATE) -> Totals:
        """What the chosen debates add up to."""
        return await self._read(lambda store: store.totals(chosen))

    async def run_rows(self) -> list[RunRow]:
        """The counts of each run, the newest first."""
        return (await self._read(lambda store: store.runs()))[::-1]

    async def search_lag(self) -> int:
        """How many of the newest events are not searched yet; 0: all are."""
        return await self._read(lambda store: store.search_lag())

    async def runs(self) -> "list[ListedRun]":
        """Every run, the newest first: its counts, its cost, and the process that executes it."""
        return await self._read(_listed, self.store_url)

    async def run_counts(self, run_id: str) -> RunRow | None:
        """The counts of a run; None where no debate of it was opened."""
        return await self._read(lambda store: store.run(run_id))

    async def recorded_runs(self) -> dict[str, RunFacts]:
        """What the streams of runs say, by id: who judges, how much is listed, who cancelled it, its end."""
        return await self._read(_recorded_runs)

    async def is_run(self, name: str) -> bool:
        """Whether a run has this name, also one that a process executes and whose first debate is not open yet."""
        return await self._read(_is_run, self.store_url, name)

    async def missing_debates(self, debate_ids: Sequence[str]) -> list[str]:
        """Those of these ids that no debate of the store has."""
        return await self._read(_missing, debate_ids)

    async def watch_run(self, run_id: str, *, every: float = _EVERY) -> "AsyncGenerator[LiveRun, None]":
        """The live figures of a run, again and again, until no process executes it; the last are those of its end.

        Args:
            every: seconds between two readings.
        """
        from jury_judge.runs.live_run import LiveRunReader

        with closing(LiveRunReader(self.store, self.store_url, run_id)) as reader:
            while True:
                live = await self._blocking(reader.read)
                yield live
                if live.state != "running":
                    return
                await asyncio.sleep(every)

    async def open_debates(self, *, run_id: str | None = None, where: Where = ()) -> AsyncGenerator[str, None]:
        """The ids of the debates that began and are not over, then of each that begins; it never ends by itself.

        Args:
            where: conditions on the cases (docs/filtering.md); all must be met.
        """
        conditions = conditions_of(where)
        found: asyncio.Queue[str] = asyncio.Queue()
        known: set[str] = set()

        def begins(beginning: "Beginning") -> None:
            if run_id in {None, beginning.run_id} and admitted(conditions, beginning.values):
                found.put_nowait(beginning.debate_id)

        async with self.feed.beginnings(begins):
            after = 0
            while rows := await self._read(_opened, run_id=run_id, unfinished=True, where=conditions, after=after):
                for row in rows:
                    known.add(row.debate_id)
                    yield row.debate_id
                after = rows[-1].position
            while True:
                # One that began during the reading of the list is in both.
                if (debate_id := await found.get()) not in known:
                    yield debate_id

    async def cancel(self, run_id: str, *, by: str | None = None, say: "Say" = log_line) -> "Cancelled":
        """Cancel every debate of a run that is not over, also while another process executes it.

        Returns once all of them are over. Answers of calls in flight are still recorded.

        Args:
            by: who cancels it, for the record; None: the login name.
            say: takes a line for the user when another process has to do it; by default the log does.

        Raises:
            RunRefused: the process that executed the run ended, and another one took it up meanwhile.
        """
        from jury_judge.runs.cancelling import cancel_run, canceller

        return await cancel_run(self.store, self.store_url, run_id, canceller(by), say)

    async def drift(self, drift_id: str) -> DriftFacts:
        """A baseline of drift checks; each decision is computed again from the recorded votes."""
        return await self._read(_drift, drift_id)

    async def drifts(self) -> list[DriftFacts]:
        """All baselines, by id; raises as `drift`."""
        return await self._read(_drifts)


def _drift(store: EventStore, drift_id: str) -> DriftFacts:
    from jury_replay.drift_checks import intact_drift

    return intact_drift(store, drift_id).facts


def _drifts(store: EventStore) -> list[DriftFacts]:
    from jury_judge.store_access.panel_standing import baselines

    return list(baselines(store))


def _page(
    store: EventStore, chosen: DebateFilter, sorted_by: SortOrder, *, limit: int, after: PageCursor | None = None
) -> list[DebateRow]:
    return store.list_debates(chosen, sorted_by, limit=limit, after=after)


def _with_texts(
    store: EventStore, rows: Sequence[DebateRow], search: str | None, *, with_reasons: bool
) -> list[ListedDebate]:
    said: Mapping[str, Excerpt] = {}
    if search:
        from jury_judge.comparisons.comparison import excerpts

        said = excerpts(store, [row.debate_id for row in rows], search)
    results = _results(store, rows) if with_reasons else {}
    return [ListedDebate(row, said.get(row.debate_id), results.get(row.debate_id)) for row in rows]


def _results(store: EventStore, rows: Sequence[DebateRow]) -> dict[str, dict[str, Any]]:
    """The result lines of those that have a verdict; what was altered shows no reason."""
    from jury_replay.intact import altered
    from jury_views.result_lines import line_of

    ended = [row.debate_id for row in rows if row.status == "completed"]
    histories = store.histories(ended)
    damaged = altered(store, histories)
    return {one.debate_id: line_of(one) for one in histories if one.debate_id not in damaged}


def _groups(store: EventStore, by: str, chosen: DebateFilter) -> "list[Group]":
    from jury_judge.comparisons.run_comparison import grouped
    from jury_judge.store_access.debates import listed_rows

    return grouped(listed_rows(store, chosen, NEWEST), by)


def _listed(store: EventStore, url: str) -> "list[ListedRun]":
    from jury_judge.runs.live_run import listed_runs

    with closing(open_registry(url)) as registry:
        return listed_runs(store, registry)


def _is_run(store: EventStore, url: str, name: str) -> bool:
    if not is_run_id(name):
        return False
    if store.run(name) is not None:
        return True
    with closing(open_registry(url)) as registry:
        return bool(registry.holders([name]))


def _recorded_runs(store: EventStore) -> dict[str, RunFacts]:
    found = {run_id: run_facts(store.read_stream(run_stream(run_id))) for run_id in store.run_ids()}
    return {run_id: facts for run_id, facts in found.items() if facts is not None}


def _missing(store: EventStore, debate_ids: Sequence[str]) -> list[str]:
    heads = store.heads([debate_stream(one) for one in debate_ids])
    return [one for one in debate_ids if debate_stream(one) not in heads]
