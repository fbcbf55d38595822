"""A store, read: results, histories, live events, replays, rescorings. No model is called."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from jury_events.conditions import Condition, parse_conditions
from jury_events.debate_history import DebateHistory
from jury_events.errors import SettingError
from jury_events.text.validation import condensed
from jury_events.text.visible_text import visible_line
from jury_events.value import DebateId
from jury_judge.errors import JuryClosed
from jury_judge.live.feed import Feed
from jury_judge.replays.grids import grid_of
from jury_judge.stores.debates import must_exist, read_debate
from jury_judge.stores.stores import open_or_create
from jury_replay.replay import Replayed, replay_chunk
from jury_replay.rescoring.rescore import rescore
from jury_replay.rescoring.rows import RescoreProblem, RescoreRow
from jury_replay.rescoring.settings import Mode
from jury_replay.selection import DebateSelection
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter, DebateRow
from jury_store.errors import StoreClosed
from jury_store.event_store import EventStore
from jury_views.live.encodings import LIVE_EVENTS, LiveEvent
from jury_views.live.points import START, parse_point
from jury_views.result_lines import result_of
from jury_views.result_models import CollaborativeJuryResult, result_model

if TYPE_CHECKING:
    import pyarrow as pa

    from jury_analysis.calibration import CalibrationOptions
    from jury_analysis.gate import GateOptions, GateReport
    from jury_analysis.statistics import Statistics, StatisticsOptions
    from jury_judge.statistics.calibrating import FoundCalibration

P = ParamSpec("P")
T = TypeVar("T")
Where = str | Condition | Iterable[str | Condition]
"""One condition on cases, or several, all of which must be met."""

_PAGE = 1000


class Records:
    """The debates of a store, open in `async with`; other processes may write to it meanwhile.

    Args:
        store_url: `sqlite:///PATH` or `postgresql://…`; created where there is none.
    """

    def __init__(self, store_url: str) -> None:
        self.store_url = store_url
        self._store: EventStore | None = None
        self._feed: Feed | None = None

    @property
    def store(self) -> EventStore:
        """The store, open for reading.

        Raises:
            JuryClosed: outside of `async with`.
        """
        if self._store is None:
            raise _outside(self)
        return self._store

    @property
    def feed(self) -> Feed:
        """The live events of the store's debates, also of those that other processes run.

        Raises:
            JuryClosed: outside of `async with`.
        """
        if self._feed is None:
            raise _outside(self)
        return self._feed

    async def __aenter__(self) -> Self:
        """Open the store for reading.

        Raises:
            JuryClosed: it is open already.
            StoreError: it cannot be opened or created.
        """
        if self._store is not None:
            raise JuryClosed(f"this {type(self).__name__} is open already: use it, or create another one")
        self._store = await asyncio.to_thread(open_or_create, self.store_url)
        self._feed = Feed(self._store)
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Stop what runs, and close the store."""
        await self._close()

    async def _close(self) -> None:
        async with AsyncExitStack() as stack:
            if self._store is not None:
                stack.callback(self._store.close)
            if self._feed is not None:
                self._feed.fail(_left())
                stack.push_async_callback(self._feed.close)
        self._store = self._feed = None

    async def events(
        self, debate_id: str, after: str | None = None, *, follow: bool = True
    ) -> AsyncGenerator[LiveEvent, None]:
        """The live events of a debate: those so far, then each as it happens, to its end. Any process may run it.

        Args:
            debate_id: of the debate; waits for one that is not opened yet.
            after: the id of the last event that was received.
            follow: wait for more; else yield those so far.

        Raises:
            SettingError: not a valid debate id.
            BadPoint: `after` is not the id of a live event.
            TooManyReaders: too many follow debates already.
        """
        check_debate_id(debate_id)
        point = START if after is None else parse_point(after)
        async with self.feed.follow(debate_id, LIVE_EVENTS, point) as reader:
            if not follow:
                for one in await reader.so_far():
                    yield one
                return
            async for one in reader:
                yield one

    async def read(self, debate_id: str) -> DebateHistory:
        """The recorded history of a debate: its events, model calls and texts.

        Raises:
            DebateNotFound: there is none of that id.
        """
        check_debate_id(debate_id)
        return await self._read(read_debate, debate_id)

    async def result(self, debate_id: str) -> CollaborativeJuryResult:
        """The result of a debate, so far if it is not over.

        Raises:
            DebateNotFound: there is none of that id.
        """
        check_debate_id(debate_id)
        return await self._read(_result, debate_id)

    async def debates(
        self, *, run_id: str | None = None, where: Where = (), unfinished: bool = False
    ) -> AsyncGenerator[DebateRow, None]:
        """One row a debate, in the order in which they opened; read page by page.

        Args:
            run_id: only those of this run.
            where: conditions on the cases (docs/filtering.md), as `"tags~refund"`; all must be met.
            unfinished: only those that are not completed, failed or cancelled.

        Raises:
            BadCondition: not a valid condition.
        """
        conditions = _conditions(where)
        after = 0
        while rows := await self._read(
            _page, run_id=run_id, unfinished=unfinished, where=conditions, limit=_PAGE, after=after
        ):
            for row in rows:
                yield row
            after = rows[-1].position

    async def ballots(self, filter: DebateFilter = EVERY_DEBATE, *, unfinished: bool = False) -> "pa.Table":  # noqa: A002  (what it is)
        """Every vote of the selected debates: one row a debate, round and seat, and one for the final judge.

        The columns are those of `jury_analysis.ballots.SCHEMA` (docs/tables.md); rows are ordered by debate id (code
        points), round and seat in the order of the panel. pandas and polars take the table as it is.

        Args:
            filter: which debates; those in quarantine are left out unless asked for.
            unfinished: also debates that have not ended, with their votes so far.

        Raises:
            StoreDamaged: the table of ballots was altered.
        """
        from jury_analysis.ballots import decoded  # noqa: PLC0415  (slow to import: pyarrow)
        from jury_judge.tables.ballot_table import ballot_table  # noqa: PLC0415  (slow to import: pyarrow)

        return decoded(await self._read(ballot_table, filter, ended_only=not unfinished))

    async def stats(
        self,
        filter: DebateFilter = EVERY_DEBATE,  # noqa: A002  (as of `ballots`)
        *,
        run_ids: Iterable[str] = (),
        seats: Iterable[str] = (),
        labels: "pa.Table | None" = None,
        options: "StatisticsOptions | None" = None,
    ) -> "Statistics":
        """What the votes of finished debates are worth: agreement, accuracy, confidence, discussion (docs/votes.md).

        Args:
            filter: which debates; those in quarantine are left out unless asked for.
            run_ids: only those of these runs; (): of any.
            seats: only the votes of these seats, and of the final judge; (): of all.
            labels: rows of `jury_analysis.label_schema.LABELS`, which win over the labels of the cases.
            options: the defaults if None.

        Raises:
            ExtraMissing: the packages of `jury-judge[stats]` are not installed.
            DebateNotFound: there is no such debate.
            SettingError: no debate has a seat of that name.
            AnalysisError: all debates are simulated, or of different panels, and the options do not ask for them.
        """
        from jury_judge.extras import check_statistics  # noqa: PLC0415  (with the others)

        check_statistics("stats()")
        from jury_analysis.ballots import STATISTICS_COLUMNS  # noqa: PLC0415  (slow to import: pyarrow)
        from jury_analysis.statistics import statistics  # noqa: PLC0415  (imports numpy, of an extra)
        from jury_judge.tables.ballot_sources import stored_ballots  # noqa: PLC0415  (slow to import: pyarrow)

        ballots = await self._read(
            stored_ballots, filter, run_ids=tuple(run_ids), seats=tuple(seats), columns=STATISTICS_COLUMNS
        )
        return await asyncio.to_thread(statistics, ballots, labels, options)

    async def calibrate(
        self,
        filter: DebateFilter = EVERY_DEBATE,  # noqa: A002  (as of `ballots`)
        *,
        run_ids: Iterable[str] = (),
        labels: "pa.Table | None" = None,
        options: "CalibrationOptions | None" = None,
    ) -> "FoundCalibration":
        """From which agreement on a verdict may stand without a person (docs/calibration.md).

        Its `file_bytes()` are what a panel takes as `final.calibration`.

        Args:
            filter: which debates, of one panel without calibration.
            run_ids: only those of these runs; (): of any.
            labels: rows of `jury_analysis.labels.LABELS`, which win over the labels of the cases.
            options: the defaults if None.

        Raises:
            ExtraMissing: the packages of `jury-judge[stats]` are not installed.
            DebateNotFound: there is no such debate.
            SettingError: the debates were judged under a calibration.
            AnalysisError: there are too few labels, parts overlap, all debates are simulated, or of several panels.
        """
        from jury_judge.extras import check_statistics  # noqa: PLC0415  (with the others)

        check_statistics("calibrate()")
        from jury_judge.statistics.calibrating import calibrate_stored  # noqa: PLC0415  (imports numpy, of an extra)

        return await self._read(calibrate_stored, filter, tuple(run_ids), labels, options)

    async def gate(
        self,
        base: str,
        candidate: str,
        *,
        labels: "pa.Table | None" = None,
        options: "GateOptions | None" = None,
    ) -> "GateReport":
        """Whether a run's final verdicts are worse than those of another, over the cases of both (docs/gate.md).

        Args:
            base: the run that is taken as good.
            candidate: the run that may be worse.
            labels: rows of `jury_analysis.labels.LABELS`, which win over the labels of the cases.
            options: metric, margin and what is counted; the defaults if None.

        Raises:
            ExtraMissing: the packages of `jury-judge[stats]` are not installed.
            DebateNotFound: a run has no finished debate.
            AnalysisError: the runs cannot be paired, or the metric cannot be had.
        """
        from jury_judge.extras import check_statistics  # noqa: PLC0415  (with the others)

        check_statistics("gate()")
        from jury_analysis.gate import GateOptions  # noqa: PLC0415  (imports numpy, of an extra)
        from jury_judge.statistics.gates import decide, sides_of_runs  # noqa: PLC0415  (imports numpy, of an extra)

        sides = await self._read(sides_of_runs, base, candidate)
        return await asyncio.to_thread(decide, sides, labels, options or GateOptions())

    async def replay(self, debate_id: str) -> Replayed:
        """Whether the record of a debate follows from the answers of its models; no model is called.

        Raises:
            DebateNotFound: there is none of that id.
        """
        check_debate_id(debate_id)
        return (await self._read(replay_chunk, [debate_id]))[0]

    async def rescore(
        self,
        debate_ids: str | Iterable[str] | None = None,
        *,
        settings: Mapping[str, Any],
        run_id: str | None = None,
        where: Where = (),
        mode: Mode = "strict",
    ) -> list[RescoreRow | RescoreProblem]:
        """The results of recorded debates under other settings; no model is called, nothing is written.

        Args:
            debate_ids: which debates; None is those of `run_id`, else all.
            settings: by key (`docs/rescoring.md`) a value, or a list of values to try; several keys make a grid.
            run_id: a run.
            where: conditions on the cases (docs/filtering.md), which select among those of a run, or all.
            mode: `strict`, or `recount`, which keeps every recorded position.

        Raises:
            SettingError, SettingRefused: a setting is not understood, or the mode cannot answer it.
            BadCondition: not a valid condition.
            DebateNotFound: no debate has that id, is of that run, or meets the conditions.
        """
        if mode not in get_args(Mode):
            raise SettingError(f"mode: must be {' or '.join(get_args(Mode))}, not {visible_line(repr(mode), 80)}")
        if not isinstance(settings, Mapping):
            raise SettingError(f"settings: must be a table KEY: value, not a {type(settings).__name__}")
        ids = (debate_ids,) if isinstance(debate_ids, str) else None if debate_ids is None else tuple(debate_ids)
        for one in ids or ():
            check_debate_id(one)
        conditions = _conditions(where)
        if ids is not None and conditions:
            raise SettingError("where: it selects among the debates of a run, or all; leave debate_ids out")
        selection = DebateSelection(ids, run_id, conditions)
        grid = grid_of(settings)

        def rows(store: EventStore) -> list[RescoreRow | RescoreProblem]:
            must_exist(store, selection)
            found = rescore(store, selection, grid, mode=mode)
            return [row for one in found for row in ([one] if isinstance(one, RescoreProblem) else one)]

        return await self._read(rows)

    async def _read(self, reading: Callable[Concatenate[EventStore, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        with while_open():
            return await asyncio.to_thread(reading, self.store, *args, **kwargs)


def _conditions(where: Where) -> tuple[Condition, ...]:
    texts = (where,) if isinstance(where, str | Condition) else where
    return parse_conditions(map(str, texts))


def _page(store: EventStore, /, **asked: Any) -> list[DebateRow]:
    return store.debates(**asked)


def check_debate_id(debate_id: Any) -> None:
    """Refuse an invalid debate id.

    Raises:
        SettingError: it is invalid.
    """
    try:
        _DEBATE_ID.validate_python(debate_id)
    except ValidationError as error:
        shown = visible_line(repr(debate_id), 80)
        raise SettingError(f"debate_id: {shown} is invalid ({condensed(error)})") from error


_DEBATE_ID = TypeAdapter(DebateId)


@contextmanager
def while_open() -> Iterator[None]:
    """Reading that fails because the store was closed.

    Raises:
        JuryClosed: it was closed.
    """
    try:
        yield
    except StoreClosed as error:
        raise _left() from error


def _left() -> JuryClosed:
    return JuryClosed("its `async with` was left meanwhile; the same call resumes it")


def _outside(records: Records) -> JuryClosed:
    name = type(records).__name__
    return JuryClosed(f"the store is not open, or was left: use {name} in `async with {name}(...) as ...:`")


def _result(store: EventStore, debate_id: str) -> CollaborativeJuryResult:
    reading = read_debate(store, debate_id)
    return result_model(result_of(reading))
