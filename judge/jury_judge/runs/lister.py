"""The list of a run: debates are opened page by page, ahead of their judgment, and recorded in `run/{id}`."""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from itertools import starmap

from jury_actors.clerk import ClerkInterface
from jury_actors.debate_process import opening_of
from jury_actors.effects import Effects
from jury_actors.messages import Job
from jury_cases.case_outlines import batches
from jury_debate.calibrated import judged_by
from jury_debate.resolved_panel import ResolvedPanel
from jury_debate.rules import SECRET_BYTES
from jury_events.codec import RunEvent, encode
from jury_events.debate_events import DebateReplaced
from jury_events.debate_history import DebateHistory
from jury_events.envelope import GENESIS, NewEvent, StoredEvent, chain_hash
from jury_events.ids import debate_stream, replaced_id, run_stream
from jury_events.parts import SALT_BYTES, PartBuffer
from jury_events.run_events import (
    BudgetBounds,
    BudgetChanged,
    CasesListed,
    ListCompleted,
    RunEnded,
    RunEndpoint,
    RunLadder,
    RunOpened,
    RunStage,
)
from jury_events.run_facts import ListedOpening, RunFacts, page_digest
from jury_events.scrubbing import known_scrubber
from jury_judge.errors import RunRefused
from jury_judge.panels.files import Ladder
from jury_judge.runs.cancelling import RunLog, requester
from jury_judge.runs.run import RunInput, RunProgress
from jury_providers.endpoints import Endpoint
from jury_store.appends import first_refusal
from jury_store.debate_rows import DebateFilter
from jury_store.errors import EventConflict, Fenced, StoreClosed, StoreError, WrongVersion
from jury_store.event_store import Append, EventStore

MOST_AHEAD = 1024
"""Debates that are listed ahead of those that begin."""

MOST_BYTES = 64 * 1024 * 1024
"""Bytes of their cases; one debate is always listed."""


_MOST_OF_PAGE = 128
"""Debates."""

_ATTEMPTS = 20
"""How often a page is made again because another process listed meanwhile."""

NO_EPOCH = 0
"""Who opens a debate decides nothing: a process that judges has a higher epoch."""


async def record_opened(clerk: ClerkInterface, appends: list[Append]) -> StoreError | None:
    """Record openings, with what belongs to them, in one transaction; returns why nothing of it is stored."""
    return first_refusal(await clerk.record(appends, atomic=True))


@dataclass(kw_only=True)
class CaseLister:
    """Lists the debates of one call; used in a thread, while the loop of its clerk runs.

    Attributes:
        run: the input.
        store: open for reading.
        clerk: writes the log.
        state: of the run: how many debates it is to have, once every case was counted, and whether all could be read.
        stopping: once set, no new debate begins.
        budget: what the run may spend.
        by: who asks for the run.
        log: of the run, where its stream is read already.
        loop: of the clerk.
        exhausted: whether every case that was given is listed; all that the run is to have are where it is `whole`.
    """

    run: RunInput
    store: EventStore
    clerk: ClerkInterface
    state: RunProgress
    stopping: asyncio.Event
    budget: BudgetBounds = field(default_factory=BudgetBounds)
    by: str = field(default_factory=requester)
    effects: Effects = field(default_factory=Effects)
    log: RunLog | None = None
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    exhausted: bool = False

    def __post_init__(self) -> None:
        self._log = self.log or RunLog(self.store, self.run.run_id)
        self._stream = run_stream(self.run.run_id)
        self._ahead: deque[Job] = deque()
        self._bytes = 0
        self._over = self._left = self._closed = False
        self._error: Exception | None = None
        self._changed = threading.Condition()

    def listed(self, jobs: Iterator[Job]) -> Iterator[Job]:
        """The same jobs, once their debates are opened: a thread lists ahead of those that begin.

        Pages grow, so that the first job does not wait for others. Once the run is stopping, nothing more is listed,
        and what is listed waits.
        """
        threading.Thread(target=self._list, args=(jobs,), name="lister", daemon=True).start()
        try:
            while True:
                with self._changed:
                    while not (self._ahead or self._over):
                        self._changed.wait()
                    if not self._ahead:
                        break
                    job = self._ahead.popleft()
                    self._bytes -= len(job.case)
                    self._changed.notify_all()
                if self.stopping.is_set():
                    return
                yield job
        finally:
            with self._changed:
                self._left = True
                self._changed.notify_all()
        if self._error is not None:
            raise self._error

    async def close(self) -> None:
        """Nothing is recorded any more, whatever the thread does: the writer may close."""
        with self._changed:
            self._left = self._closed = True
            self._changed.notify_all()
        await asyncio.sleep(0)  # what it handed over before is begun now

    def _list(self, jobs: Iterator[Job]) -> None:
        try:
            self._write(self._budget_changed)
            for page in batches(jobs, lambda job: len(job.case), first=1, most=_MOST_OF_PAGE):
                with self._changed:
                    while not self._left and (len(self._ahead) >= MOST_AHEAD or self._bytes >= MOST_BYTES):
                        self._changed.wait()
                if self._left:
                    return
                of_stages: dict[bool, list[Job]] = {}
                for job in page:
                    of_stages.setdefault(job.stage is not None and job.stage.number > 1, []).append(job)
                for later, found in sorted(of_stages.items()):
                    opened = self.page(found, later=later)
                    with self._changed:
                        for job in opened:
                            self._ahead.append(job)
                            self._bytes += len(job.case)
                        self._changed.notify_all()
            self.exhausted = not self.stopping.is_set() and self.state.unreadable is None
            if self.exhausted and self.run.whole:
                self._write(self._list_completed)
        except Exception as failed:  # noqa: BLE001  (who draws the jobs gets it)
            self._error = failed
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def ended(self, epoch: int) -> None:
        """Record the figures of the run, unless something of it is left, or nothing was listed since its last end.

        `epoch`: of who executes it. Raises as `listed`.
        """
        run_id = self.run.run_id
        totals, row = self.store.totals(DebateFilter(run_id, counted=None, waiting=None)), self.store.run(run_id)
        if row is None or totals.unfinished or totals.waiting:
            return

        def event(facts: RunFacts) -> RunEnded | None:
            if facts.ended is not None:
                return None
            return RunEnded(
                number=facts.ends + 1,
                epoch=epoch,
                debates=totals.opened,
                completed=row.completed,
                failed=row.failed,
                cancelled=row.cancelled,
                calls=totals.calls,
                cost=totals.cost,
                calls_at_most=row.calls_at_most,
                cost_at_most=row.cost_at_most,
            )

        self._write(event)

    def page(self, jobs: list[Job], *, later: bool) -> list[Job]:
        """The jobs, once their debates are opened; `later`: of later stages of listed cases. Raises as `listed`."""
        if not jobs:
            return []
        for _ in range(_ATTEMPTS):
            there = self.store.heads([debate_stream(job.debate_id) for job in jobs])
            opened: dict[str, DebateHistory] = {}
            for job in jobs:
                if debate_stream(job.debate_id) not in there:
                    opened[job.debate_id] = self._opened(job)
            with self.run.listing:
                if not opened or self._store_page(list(opened.values()), later=later):
                    return [job._replace(known=opened.get(job.debate_id)) for job in jobs]
                self._check_panel(self._log.look())
        raise EventConflict(f"run {self.run.run_id} is being listed by another process all the time; try again")

    def _store_page(self, opened: list[DebateHistory], *, later: bool) -> bool:
        """Store openings with their page; False where another process stored one of them meanwhile."""
        facts = self._log.look()
        listed, version_before = (0, 0) if facts is None else (facts.listed, facts.version)
        first = [] if facts is not None else [Append(self._stream, (self._encoded(self._run_opened()),), 0)]
        openings, lines = [], []
        for one in opened:
            (stored,) = one.stored_events
            parts = tuple(one.parts.values())
            new = NewEvent(stored.event_id, stored.type, stored.schema, stored.recorded_at, stored.body, parts)
            openings.append(Append(stored.stream, (new,), expected_version=0, epoch=NO_EPOCH))
            lines.append(ListedOpening(one.debate_id, stored.hash))
        page = CasesListed(
            number=1 if facts is None else facts.pages + 1,
            first=listed + 1,
            debates=len(opened),
            later=later,
            cases=self.state.size if self.run.whole and not later else None,
            digest=page_digest(listed + 1, lines),
        )
        last = Append(self._stream, (self._encoded(page),), version_before + len(first))
        replaced = self._replaced(opened) if self.run.replacing else []
        refusal = self._recorded([*first, *replaced, *openings, last])
        # Fenced: the debate was opened and begun meanwhile.
        if isinstance(refusal, EventConflict | WrongVersion | Fenced):
            return False
        if refusal is not None:
            raise refusal
        return True

    def _replaced(self, opened: list[DebateHistory]) -> list[Append]:
        """What is recorded of the debates whose cases these judge again."""
        successors = {old: one.debate_id for one in opened if (old := replaced_id(one.debate_id)) is not None}
        heads = self.store.heads([debate_stream(one) for one in successors]) if successors else {}
        return [
            Append(
                stream,
                (self._encoded(DebateReplaced(successor=successor, by=self.by)),),
                heads[stream].version,
                heads[stream].epoch,
            )
            for old, successor in successors.items()
            if (stream := debate_stream(old)) in heads
        ]

    def _check_panel(self, facts: RunFacts | None) -> None:
        """Refuse to list in a run that another process began meanwhile with another panel."""
        if facts is None:
            return
        there, here = facts.opened, self._run_opened()
        same = there.ladder is not None or is_judged_by(there, self.run.resolved)
        if there.ladder != here.ladder or not same:
            raise RunRefused(
                f"run {self.run.run_id!r} was begun with another panel; use the panel that it was begun with, or give "
                "the run another --run id"
            )

    def _list_completed(self, facts: RunFacts) -> ListCompleted | None:
        if facts.complete:
            return None
        size = self.state.size
        return ListCompleted(
            number=facts.completions + 1, debates=facts.listed, cases=facts.listed if size is None else size
        )

    def _budget_changed(self, facts: RunFacts) -> BudgetChanged | None:
        if facts.budget == self.budget:
            return None
        return BudgetChanged(number=facts.budgets + 1, budget=self.budget, by=self.by)

    def _opened(self, job: Job) -> DebateHistory:
        pen = PartBuffer(partial(self.effects.entropy, SALT_BYTES))
        opened = opening_of(job, self.effects.entropy(SECRET_BYTES), pen)
        new = encode(opened, recorded_at=self.effects.clock(), parts=pen.take())
        stream = debate_stream(job.debate_id)
        found = chain_hash(
            GENESIS,
            stream=stream,
            version=1,
            event_id=new.event_id,
            event_type=new.type,
            schema=new.schema,
            recorded_at=new.recorded_at,
            body=new.body,
        )
        stored = StoredEvent(0, stream, 1, new.event_id, new.type, new.schema, new.recorded_at, new.body, found)
        history = DebateHistory.of_events(job.debate_id, [stored], {part.digest: part for part in new.parts})
        history.events.know([opened])
        return history

    def _run_opened(self) -> RunOpened:
        run, resolved = self.run, self.run.resolved
        return RunOpened(
            run_id=run.run_id,
            panel=resolved.panel,
            prompts=resolved.prompts,
            custom=resolved.custom,
            endpoints=tuple(starmap(_endpoint, sorted(run.endpoints.items()))),
            ladder=None if run.ladder is None else _ladder(run.ladder),
            repeats=run.repeats,
            budget=self.budget,
            by=self.by,
            submitted=run.submitted,
            program=f"jury-judge {version('jury-judge')}",
        )

    def _write(self, event: Callable[[RunFacts], RunEvent | None]) -> None:
        """Append to the run's stream what follows from its facts, if anything does; read again where another wrote."""
        with self.run.listing:
            while (facts := self._log.look()) is not None and (new := event(facts)) is not None:
                refusal = self._recorded([Append(self._stream, (self._encoded(new),), facts.version)])
                if refusal is not None and not isinstance(refusal, EventConflict | WrongVersion):
                    raise refusal

    def _encoded(self, event: RunEvent | DebateReplaced) -> NewEvent:
        return encode(event, recorded_at=self.effects.clock())

    def _recorded(self, appends: list[Append]) -> StoreError | None:
        with self._changed:
            if self._closed:
                raise StoreClosed("the run was left: nothing of it is recorded any more")
            done = asyncio.run_coroutine_threadsafe(record_opened(self.clerk, appends), self.loop)
        return done.result()


def _endpoint(provider: str, endpoint: Endpoint) -> RunEndpoint:
    """What an endpoint says, without what a secret of this process stands in."""
    given = endpoint.model_dump(mode="json", exclude_defaults=True)
    scrub = known_scrubber().text
    said = {name: value for name, value in given.items() if scrub(text := json.dumps(value)) == text}
    return RunEndpoint(provider=provider, said=said, whole=said.keys() == given.keys())


def _ladder(ladder: Ladder) -> RunLadder:
    further = (one.resolved for one in ladder.stages[1:])
    return RunLadder(
        digest=ladder.digest,
        certificate=ladder.certificate,
        audit=ladder.audit,
        further=tuple(RunStage(panel=one.panel, prompts=one.prompts, custom=one.custom) for one in further),
    )


def is_judged_by(opened: RunOpened, resolved: ResolvedPanel) -> bool:
    """Whether a run without a ladder was opened with this panel and these prompts."""
    ours = judged_by(resolved.panel, resolved.custom)
    return opened.ladder is None and judged_by(opened.panel, opened.custom) == ours
