"""A baseline in its store: its events, and the runs that judge its anchors."""

import asyncio
import logging
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial

from jury_debate.calibrated import judged_by
from jury_debate.resolved_panel import ResolvedPanel
from jury_events.codec import DriftEvent, encode
from jury_events.drift_events import DriftOpened, SeatAnswers
from jury_events.drift_facts import DriftFacts
from jury_events.errors import DebateNotFound
from jury_events.ids import drift_stream, run_stream
from jury_events.run_facts import run_facts
from jury_events.text import pluralize, visible_line
from jury_judge.errors import RunRefused, SettingsRefused
from jury_judge.panels.files import LoadedPanel
from jury_judge.runs.execution import Line
from jury_judge.runs.plan import ListedCases, RunPlan
from jury_judge.runs.resumed_run import own_panel
from jury_judge.runs.session import judge_run
from jury_judge.settings.drift import AnchorSettings
from jury_judge.settings.run import RunSettings
from jury_judge.settings.store import load_settings
from jury_judge.store_access.stores import WRITER_WAIT, Say, open_or_create, open_writer
from jury_replay.drift_checks import DriftRecord, intact_drift, judged
from jury_store.appends import first_refusal
from jury_store.debate_rows import DebateRow
from jury_store.errors import StoreMissing
from jury_store.event_store import Append, EventStore
from jury_store.opening import open_store

_log = logging.getLogger(__name__)


class RecordedBaseline(ABC):
    """What is judged of a baseline: due draws, or a check. Nothing is read, written or called before a method is.

    Args:
        loaded: the panel; None: as the baseline has it.
    """

    def __init__(
        self, asked: AnchorSettings, loaded: LoadedPanel | None = None, environ: Mapping[str, str] | None = None
    ) -> None:
        self._loaded = loaded
        self._environ = os.environ if environ is None else environ
        self._drift_id = asked.drift_id
        self._url = load_settings(self._environ, store_url=asked.store_url).store_url

    @abstractmethod
    def open(self) -> DriftFacts:
        """Record what is to be judged, before the first call, or find it recorded."""

    @abstractmethod
    def due(self, facts: DriftFacts) -> RunPlan | None:
        """The run that judges what is due; the same again goes on with it. None: nothing is."""

    @abstractmethod
    def record(self, facts: DriftFacts) -> DriftFacts:
        """Record what that run came to, once all of its debates are over; raises as `votes` and `append`."""

    async def judge(
        self,
        take: Callable[[Line], None] = lambda _line: None,
        *,
        stopping: asyncio.Event | None = None,
        say: Say = _log.warning,
    ) -> DriftFacts:
        """Judge what is due, and record it; the same again goes on with it.

        Args:
            stopping: once set, no new debate begins; those that run are finished.

        Returns:
            The baseline; not `complete`, or with an `open_check`, where something is left.
        """
        facts = await asyncio.to_thread(self.open)
        while (planned := await asyncio.to_thread(self.due, facts)) is not None:
            try:
                outcome = await judge_run(planned, take, stopping=stopping, say=say)
            finally:
                if isinstance(planned.cases, ListedCases):
                    planned.cases.close()
            if not outcome.whole:
                break
            facts = await asyncio.to_thread(self.record, facts)
        return facts

    @contextmanager
    def reading(self) -> Iterator[EventStore]:
        """The store, open for reading meanwhile."""
        with closing(open_store(self._url, write=False)) as store:
            yield store

    def read(self) -> DriftRecord:
        """The baseline, and what decides its next check."""
        try:
            with self.reading() as store:
                return intact_drift(store, self._drift_id)
        except StoreMissing as error:
            raise DebateNotFound(f"there is no baseline {self._drift_id!r}: {error}") from error

    def append(self, version: int, event: DriftEvent) -> DriftFacts:
        """Record an event after the one of that version; the facts with it."""
        encoded = encode(event, recorded_at=time.time_ns() // 1000)
        opened = partial(open_writer, run=self._drift_id, wait=WRITER_WAIT)
        with closing(open_or_create(self._url, opened)) as store:
            refusal = first_refusal(store.append([Append(drift_stream(self._drift_id), (encoded,), version)]))
        if refusal is not None:
            raise refusal
        return self.read().facts

    def votes(
        self, facts: DriftFacts, debates: Sequence[str], further: Sequence[str] = ()
    ) -> tuple[list[str | None], tuple[SeatAnswers, ...]]:
        """As `judged`, of debates all of which are over: those that end first would not be a fair part."""
        with self.reading() as store:
            if left := len(debates) - len(store.ended_positions(debates)):
                name = visible_line(facts.opened.drift_id, 60)
                raise RunRefused(f"{pluralize(left, 'debate')} of the baseline {name} go on: judge them to their end")
            return judged(store, facts.opened, debates, further)

    def stored_plan(self, facts: DriftFacts, settings: RunSettings, wanted: frozenset[str] | None = None) -> RunPlan:
        """A run over the anchors as the store has them; closing its cases closes the store.

        Args:
            wanted: the ids of those that are judged; None: all.
        """
        opened, source = facts.opened, facts.opened.run_id
        with ExitStack() as opened_here:
            store = open_store(self._url, write=False)
            opened_here.callback(store.close)
            cases = _Some(store, source, wanted)
            if cases.facts is None or not cases.facts.complete:
                raise SettingsRefused("the first session did not list all anchors: name their files again")
            if self._loaded is None and cases.facts.imports:
                # Another store's people chose where the cases of such a run are sent.
                raise RunRefused(
                    f"the baseline {visible_line(opened.drift_id, 60)} was imported: name the panel file that says how "
                    "its models are reached here, with --panel FILE"
                )
            loaded = self._loaded or own_panel(cases.facts, cases.first)
            check_panel(opened, loaded.resolved)
            planned = RunPlan(cases, settings, loaded=loaded, environ=self._environ)
            opened_here.pop_all()
        return planned


class _Some(ListedCases):
    """Some of the cases of a run."""

    def __init__(self, store: EventStore, source: str, wanted: frozenset[str] | None) -> None:
        self._wanted = wanted
        super().__init__(store, source)

    def _rows(self) -> Iterator[DebateRow]:
        return (row for row in super()._rows() if self._wanted is None or row.case_id in self._wanted)


def digest_of(resolved: ResolvedPanel) -> str:
    """The digest of all that a panel judges by."""
    return judged_by(resolved.panel, resolved.custom)


def check_panel(opened: DriftOpened, resolved: ResolvedPanel) -> None:
    """Refuse another panel than that of the baseline."""
    if digest_of(resolved) != opened.panel:
        raise SettingsRefused(
            f"{{panel_name}}: seats, models, rules or prompts differ from those of the baseline "
            f"{visible_line(opened.drift_id, 60)}: drift is of one panel; make a baseline of the new one"
        )


def check_stream(store: EventStore, run_id: str, panel: str) -> None:
    """Refuse a run that another panel judged than that of the digest."""
    facts = run_facts(store.read_stream(run_stream(run_id)))
    if facts is None:
        raise SettingsRefused(f"{{stream_run}}: there is no run {visible_line(run_id, 100)!r} in this store")
    if judged_by(facts.opened.panel, facts.opened.custom) != panel:
        raise SettingsRefused(f"{{stream_run}}: another panel judged the run {visible_line(run_id, 100)}")
