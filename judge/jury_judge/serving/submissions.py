"""Evaluations and runs submitted over HTTP, which a `Jury` runs in this process.

What they give is stored only in the log. At shutdown they stop; where they are kept on disk, `resume` goes on with them
after a restart, and the same request resumes them anyway.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from jury_actors.failing import has_failed
from jury_cases.errors import CaseFileError
from jury_events.case import Case
from jury_events.errors import InputError, JuryError
from jury_events.ids import debate_id as id_of
from jury_events.ids import debate_stream
from jury_events.nearest import did_you_mean
from jury_events.text.visible_text import visible_line
from jury_judge.errors import JuryClosed, PanelNotServed, RunUnfinished, TooManySubmissions
from jury_judge.jury import Jury
from jury_judge.live.feed import Feed, Opening
from jury_judge.runs.run import fresh_debate_id, fresh_run_id
from jury_judge.serving.kept_submissions import KeptSubmission, KeptSubmissions
from jury_judge.serving.submission_claims import Kind, SubmissionClaim, submission_claim
from jury_store.event_store import EventStore

MAX_RUNNING = 500
"""Evaluations and runs that may run at once."""

_REMEMBERED = 1000
"""Finished submissions whose errors are still reported."""

MAX_CASE_BYTES = 256 * 1024 * 1024
"""Of the cases of running submissions; a single submission may be larger."""

_START_SECONDS = 2.0
"""How long a request waits for the first debate to open or for an error, before it is answered."""

_RESUME_SECONDS = 0.3
"""The same for what was opened before, and will not open again."""

_RESUMED_AT_ONCE = 32
"""Kept submissions that are begun at once."""

_log = logging.getLogger(__name__)

MakeJury = Callable[[Callable[[str, str], None]], Jury]
"""Makes a Jury that passes on what final judges write: debate id and text."""


@dataclass(kw_only=True)
class Submission:
    """One evaluation, or one run. `problem` is the error that stopped it."""

    kind: Kind
    id: str
    task: asyncio.Task[None]
    problem: BaseException | None = None

    @property
    def running(self) -> bool:
        """Whether its task has not ended."""
        return not self.task.done()


class Submissions:
    """The submissions of this process, in one event loop.

    Args:
        panels: makes the Jury of each panel, by the name in requests; the first is the default.
        store: open for reading.
        feed: receives what final judges write, and reports debates that open.
        max_running: submissions that may run at once.
        kept: keeps submissions until they are over; None: a restarted server knows none.
    """

    def __init__(
        self,
        panels: Mapping[str, MakeJury],
        store: EventStore,
        feed: Feed,
        *,
        max_running: int = MAX_RUNNING,
        kept: KeptSubmissions | None = None,
    ) -> None:
        self._kept = kept
        self.panels = tuple(panels)
        self._make = dict(panels)
        self._store = store
        self._feed = feed
        self._max_running = max_running
        self._juries: dict[str, asyncio.Task[Jury]] = {}
        self._open = AsyncExitStack()
        self._claims: set[SubmissionClaim] = set()
        self._known: OrderedDict[tuple[str, str], Submission] = OrderedDict()

    def find(self, kind: Kind, name: str) -> Submission | None:
        """The submission of that debate or run; None where this process does not know it."""
        return self._known.get((kind, name))

    @property
    def running(self) -> int:
        """How many are running."""
        return sum(one.running for one in self._known.values())

    async def evaluate(
        self, case: Case, *, panel: str | None, run_id: str | None, submission_id: str | None
    ) -> Submission:
        """Start or resume one debate; returns once it is open or running.

        Raises:
            PanelNotServed: unknown panel, or a read-only server.
            TooManySubmissions: too many are running.
            RunRefused: another submission runs under that name.
            JuryError: see `Jury.evaluate`.
        """
        debate_id = fresh_debate_id(case) if run_id is None else id_of(run_id, case.case_id)
        return await self._evaluate(
            KeptSubmission("evaluation", debate_id, self._panel(panel), (case,), run_id, submission_id)
        )

    async def _evaluate(self, wanted: KeptSubmission) -> Submission:
        debate_id, run_id, (case,) = wanted.name, wanted.run_id, wanted.cases
        claim = await asyncio.to_thread(submission_claim, "evaluation", debate_id, wanted.panel, {debate_id: case})
        if (running := self._running_or_claim(claim)) is not None:
            return running

        async def execute(jury: Jury) -> None:
            await jury.evaluate(case, run_id=run_id, debate_id=debate_id, submission_id=wanted.submission_id)

        def is_known() -> bool:
            stream = debate_stream(debate_id)
            return stream in self._store.heads([stream])

        return await self._begin(claim, wanted, execute, lambda opening: opening.debate_id == debate_id, is_known)

    async def run(
        self, cases: Sequence[Case], *, panel: str | None, run_id: str | None, concurrency: int | None
    ) -> Submission:
        """Start or resume a run; returns once its first debate is open or it is running.

        Raises:
            PanelNotServed, TooManySubmissions, RunRefused, JuryError: see `evaluate`.
        """
        name = run_id or fresh_run_id()
        wanted = KeptSubmission("run", name, self._panel(panel), tuple(cases), name, concurrency=concurrency)
        return await self._run(wanted)

    async def _run(self, wanted: KeptSubmission) -> Submission:
        name, cases = wanted.name, wanted.cases
        debates = {id_of(name, case.case_id): case for case in cases}
        claim = await asyncio.to_thread(submission_claim, "run", name, wanted.panel, debates)
        if (running := self._running_or_claim(claim)) is not None:
            return running

        async def execute(jury: Jury) -> None:
            async for _ in jury.evaluate_many(cases, run_id=name, concurrency=wanted.concurrency):
                pass

        def is_known() -> bool:
            return bool(self._store.debates(run_id=name, limit=1))

        return await self._begin(claim, wanted, execute, lambda opening: opening.run_id == name, is_known)

    async def resume(self) -> int:
        """Go on with the submissions that an earlier server kept; returns how many. Problems are logged."""
        if self._kept is None or not self.panels:
            return 0
        found = await asyncio.to_thread(list, self._kept.all())
        slots = asyncio.Semaphore(_RESUMED_AT_ONCE)

        async def resume_one(wanted: KeptSubmission) -> bool:
            async with slots:
                try:
                    self._panel(wanted.panel)
                    await (self._evaluate(wanted) if wanted.kind == "evaluation" else self._run(wanted))
                except JuryError as error:
                    _log.warning("%s %s could not be resumed: %s", wanted.kind, wanted.name, error)
                    return False
                return True

        return sum(await asyncio.gather(*map(resume_one, found)))

    async def close(self) -> None:
        """Stop running submissions, and close the juries."""
        tasks = [one.task for one in self._known.values() if one.running]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._open.aclose()

    def _panel(self, name: str | None) -> str:
        if not self.panels:
            raise PanelNotServed("this server is read-only; start jury serve without --read-only")
        if name is None:
            return self.panels[0]
        if name not in self._make:
            shown = f"{visible_line(name, 80)!r} here{did_you_mean(name, self.panels)}"
            raise PanelNotServed(f"there is no panel {shown}; panels are {', '.join(self.panels)}")
        return name

    def _running_or_claim(self, claim: SubmissionClaim) -> Submission | None:
        """The running submission of the same claim; None: the claim is registered now."""
        claim.check(self._claims)
        running = self.find(claim.kind, claim.name)
        if running is not None and running.running:
            return running
        size = sum(one.size for one in self._claims)
        if len(self._claims) >= self._max_running or (self._claims and size + claim.size > MAX_CASE_BYTES):
            raise TooManySubmissions(
                f"{len(self._claims)} evaluations and runs are running here; try again in a minute"
            )
        self._claims.add(claim)
        return None

    async def _jury(self, panel: str) -> Jury:
        """The Jury of a panel, opened once."""
        opening = self._juries.get(panel)
        if opening is None or has_failed(opening):
            entered = self._open.enter_async_context(self._make[panel](self._feed.add_chunk))
            opening = self._juries[panel] = asyncio.create_task(entered)
        return await asyncio.shield(opening)

    async def _begin(
        self,
        claim: SubmissionClaim,
        wanted: KeptSubmission,
        execute: Callable[[Jury], Coroutine[Any, Any, None]],
        opens: Callable[[Opening], bool],
        is_known: Callable[[], bool],
    ) -> Submission:
        opened = asyncio.Event()
        task = None

        def check(opening: Opening) -> None:
            if opens(opening):
                opened.set()

        try:
            jury = await self._jury(claim.panel)
            await self._keep(wanted)
            within = _RESUME_SECONDS if await asyncio.to_thread(is_known) else _START_SECONDS
            async with self._feed.openings(check):
                task = asyncio.create_task(execute(jury))
                submission = self._register(Submission(kind=claim.kind, id=claim.name, task=task), claim)
                seen = asyncio.create_task(opened.wait())
                await asyncio.wait({task, seen}, timeout=within, return_when=asyncio.FIRST_COMPLETED)
                seen.cancel()
        finally:
            if task is None:
                self._claims.discard(claim)
        if task.done() and submission.problem is not None:
            if self._kept is not None:
                self._kept.drop(claim.kind, claim.name)  # the answer to the request is the problem
            raise submission.problem
        return submission

    async def _keep(self, wanted: KeptSubmission) -> None:
        try:
            if self._kept is not None:
                await asyncio.to_thread(self._kept.keep, wanted)
        except OSError as error:  # it can run without that
            _log.warning(
                "%s %s is not kept for a restarted server (%s); the same request would resume it",
                wanted.kind,
                wanted.name,
                error.strerror,
            )

    def _register(self, submission: Submission, claim: SubmissionClaim) -> Submission:
        key = (submission.kind, submission.id)
        self._known[key] = submission
        self._known.move_to_end(key)
        for old in [key for key, one in self._known.items() if not one.running][: -_REMEMBERED or None]:
            del self._known[old]

        def ended(task: asyncio.Task[None]) -> None:
            self._claims.discard(claim)
            if task.cancelled():
                return
            problem = submission.problem = task.exception()
            if self._kept is not None and not _may_go_on(problem):
                self._kept.drop(submission.kind, submission.id)
            if problem is not None:
                expected = isinstance(problem, JuryError)
                _log.log(
                    logging.INFO if expected else logging.ERROR,
                    "%s %s stopped: %s",
                    submission.kind,
                    submission.id,
                    problem,
                    exc_info=None if expected else problem,
                )

        submission.task.add_done_callback(ended)
        return submission


def _may_go_on(problem: BaseException | None) -> bool:
    """Whether a submission that ended with this problem may come further after a restart."""
    if isinstance(problem, InputError):
        return isinstance(problem, RunUnfinished | JuryClosed)
    return problem is not None


def refuse_uris(cases: Sequence[Case]) -> None:
    """Refuse URIs in cases from the network, which would make this process read files or connect to other hosts.

    Raises:
        CaseFileError: a case has a URI.
    """
    for case in cases:
        for name in ("security_gate_uri", "agent_card_uri"):
            if getattr(case, name) is not None:
                records = name.replace("_uri", "_records")
                raise CaseFileError(
                    f"case {visible_line(case.case_id, 80)!r}: {name} is not accepted over HTTP; send {records}"
                )
