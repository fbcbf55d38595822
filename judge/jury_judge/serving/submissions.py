"""Evaluations and runs submitted over HTTP, which a `Jury` runs in this process.

What they give is stored only in the log. At shutdown they stop; where they are kept on disk, `resume` of the next
server, or of another one that runs, goes on with them, and the same request resumes them anyway.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from jury_actors.failing import has_failed
from jury_cases.errors import CaseFileError
from jury_events.case import Case
from jury_events.errors import JuryError
from jury_events.ids import debate_id as id_of
from jury_events.ids import debate_stream
from jury_events.nearest import did_you_mean
from jury_events.text.visible_text import visible_line
from jury_events.verdict_scale import VerdictScale
from jury_judge.errors import KeptFileRefused, PanelNotServed, RunUnfinished, TooManySubmissions
from jury_judge.jury import Jury
from jury_judge.live.feed import Feed
from jury_judge.runs.run import fresh_debate_id, fresh_run_id
from jury_judge.serving.kept_submissions import KeptFile, KeptSubmission, KeptSubmissions
from jury_judge.serving.submission_attempts import Order, Submission, SubmissionAttempts
from jury_judge.serving.submission_claims import Kind, SubmissionClaim, submission_claim
from jury_store.event_store import EventStore

MAX_RUNNING = 500
"""Evaluations and runs that may run at once."""

_REMEMBERED = 1000
"""Finished submissions whose errors are still reported."""

MAX_CASE_BYTES = 256 * 1024 * 1024
"""Of the cases of running submissions; a single submission may be larger."""

_START_SECONDS = 2.0
"""A request is answered when a debate of it moves, or it ends or waits; at the latest after so long, as accepted.

It may wait longer for a slot, or for Ray.
"""

LOOK_SECONDS = 2.0
"""Between two looks for submissions that a server left."""

_RESUMED_AT_ONCE = 32
"""Kept submissions that are begun at once."""

_log = logging.getLogger(__name__)

MakeJury = Callable[[Callable[[str, str], None]], Jury]
"""Makes a Jury that passes on what final judges write: debate id and text."""


class Submissions:
    """The submissions of this process, in one event loop.

    Args:
        panels: makes the Jury of each panel, by the name in requests; the first is the default.
        store: open for reading.
        feed: receives what final judges write, and reports debates that open.
        max_running: submissions that may run at once.
        kept: keeps submissions until they are over; None: a restarted server knows none.
        database: the file of a SQLite store.
    """

    def __init__(
        self,
        panels: Mapping[str, MakeJury],
        store: EventStore,
        feed: Feed,
        *,
        max_running: int = MAX_RUNNING,
        kept: KeptSubmissions | None = None,
        database: Path | None = None,
    ) -> None:
        self._kept = kept
        self._attempts = SubmissionAttempts(store, kept, database)
        self._passed: set[KeptFile] = set()
        self.panels = tuple(panels)
        self._make = dict(panels)
        self._store = store
        self._feed = feed
        self._max_running = max_running
        self._juries: dict[str, asyncio.Task[Jury]] = {}
        self._unopened: dict[str, Jury] = {}
        self._scales: dict[str, VerdictScale | None] = {}
        self._open = AsyncExitStack()
        self._claims: set[SubmissionClaim] = set()
        self._known: OrderedDict[tuple[str, str], Submission] = OrderedDict()

    def find(self, kind: Kind, name: str) -> Submission | None:
        """The submission of that debate or run; None where this process does not know it."""
        return self._known.get((kind, name))

    def scale(self, panel: str | None) -> VerdictScale | None:
        """The scale in whose words a panel judges; None: the three verdicts.

        Raises:
            PanelNotServed: unknown panel, or a read-only server.
            JuryError: the panel's Jury cannot be made.
        """
        name = self._panel(panel)
        if name not in self._scales:
            jury = self._unopened[name] = self._make[name](self._feed.add_chunk)
            self._scales[name] = jury.panel.scale
        return self._scales[name]

    @property
    def running(self) -> int:
        """How many are running."""
        return sum(one.running for one in self._known.values())

    async def evaluate(
        self, case: Case, *, panel: str | None, run_id: str | None, submission_id: str | None
    ) -> Submission:
        """Start or resume one debate; returns once it moves.

        Raises:
            PanelNotServed: unknown panel, or a read-only server.
            TooManySubmissions: too many are running.
            RunRefused: another submission runs under that name.
            OtherCase: another is kept under that name.
            JuryError: see `Jury.evaluate`. What waits for another process is accepted: see `Submission.waits_for`.
        """
        debate_id = fresh_debate_id(case) if run_id is None else id_of(run_id, case.case_id)
        wanted = KeptSubmission("evaluation", debate_id, self._panel(panel), (case,), run_id, submission_id)
        return await self._asked(wanted)

    async def run(
        self, cases: Sequence[Case], *, panel: str | None, run_id: str | None, concurrency: int | None
    ) -> Submission:
        """Start or resume a run; returns once one of its debates moves.

        Raises:
            PanelNotServed, TooManySubmissions, RunRefused, JuryError: see `evaluate`.
        """
        name = run_id or fresh_run_id()
        wanted = KeptSubmission("run", name, self._panel(panel), tuple(cases), name, concurrency=concurrency)
        return await self._asked(wanted)

    async def resume(self) -> int:
        """Go on with the submissions that no living server has; returns how many. Problems are logged, each once.

        Raises:
            OSError: the folder cannot be read.
        """
        kept = self._kept
        if kept is None or not self.panels:
            return 0
        waiting = {kept.find(one.kind, one.id) for one in self._known.values() if one.running and one.waits_for}
        found = await asyncio.to_thread(kept.left, self._passed | {file for file in waiting if file is not None})
        slots = asyncio.Semaphore(_RESUMED_AT_ONCE)

        async def resume_one(file: KeptFile) -> bool:
            async with slots:
                if len(self._claims) >= self._max_running:
                    return False
                try:
                    wanted = await asyncio.to_thread(kept.read, file)
                    self._panel(wanted.panel)
                    submission = await self._begun(wanted, since=file.written // 1000)
                except TooManySubmissions:
                    return False
                except KeptFileRefused as error:
                    _log.warning("%s", error) if kept.has(file) else None
                except JuryError as error:
                    _log.warning("%s %s could not be resumed: %s", wanted.kind, wanted.name, error)
                else:
                    return submission.waits_for is None
                self._passed.add(file)
                return False

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
            jury = self._unopened.pop(panel, None) or self._make[panel](self._feed.add_chunk)
            opening = self._juries[panel] = asyncio.create_task(self._open.enter_async_context(jury))
        return await asyncio.shield(opening)

    async def _asked(self, wanted: KeptSubmission) -> Submission:
        """Start or resume what a request asks for; raises the problem that stopped it at once."""
        submission = await self._begun(wanted)
        if not submission.running and submission.problem is not None:
            raise submission.problem
        return submission

    async def _begun(self, wanted: KeptSubmission, *, since: int | None = None) -> Submission:
        """Start or resume a submission, asked for now, or (`since`, in µs since 1970-01-01 UTC) kept by a server."""
        cases = wanted.debates
        claim = await asyncio.to_thread(submission_claim, wanted.kind, wanted.name, wanted.panel, cases)
        if (running := self._running_or_claim(claim)) is not None:
            return running
        submission = Submission(kind=claim.kind, id=claim.name, debates=frozenset(cases), answered=since is not None)
        task = None
        try:
            if since is None:
                await asyncio.to_thread(self._check_kept, claim)
            jury = await self._jury(claim.panel)
            order = self._order(wanted, jury, since)
            async with self._feed.moves(submission.debates, submission.moved.set):
                if any(one.running and one.debates & submission.debates for one in self._known.values()):
                    submission.moved.set()  # by another submission, which runs it already
                task = submission.task = asyncio.create_task(self._attempts.go_on(submission, order))
                self._register(submission, claim)
                seen = asyncio.create_task(submission.moved.wait())
                await asyncio.wait({task, seen}, timeout=_START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                seen.cancel()
        finally:
            submission.answered = True
            if task is None:
                self._claims.discard(claim)
        return submission

    def _order(self, wanted: KeptSubmission, jury: Jury, since: int | None) -> Order:
        async def evaluate() -> None:
            (case,) = wanted.cases
            await jury.evaluate(case, run_id=wanted.run_id, debate_id=wanted.name, submission_id=wanted.submission_id)

        async def run() -> None:
            try:
                async for _ in jury.evaluate_many(wanted.cases, run_id=wanted.name, concurrency=wanted.concurrency):
                    pass
            except RunUnfinished as unfinished:
                if unfinished.cancelled_by is None:
                    raise

        def is_known() -> bool:
            if wanted.kind == "run":
                return bool(self._store.debates(run_id=wanted.name, limit=1))
            stream = debate_stream(wanted.name)
            return stream in self._store.heads([stream])

        return Order(
            wanted=wanted,
            execute=evaluate if wanted.kind == "evaluation" else run,
            is_known=is_known,
            since=time.time_ns() // 1000 if since is None else since,
            to_keep=since is None,
            was_kept=since is not None,
        )

    def _check_kept(self, claim: SubmissionClaim) -> None:
        """Compare a claim with the submission that is kept under its name, here or by another server."""
        kept = self._kept
        file = None if kept is None else kept.find(claim.kind, claim.name)
        if kept is None or file is None:
            return
        try:
            other = kept.read(file)
        except KeptFileRefused:
            return  # what is asked for now takes its place
        claim.check([submission_claim(other.kind, other.name, other.panel, other.debates)])

    def _register(self, submission: Submission, claim: SubmissionClaim) -> None:
        key = (submission.kind, submission.id)
        self._known[key] = submission
        self._known.move_to_end(key)
        for old in [key for key, one in self._known.items() if not one.running][: -_REMEMBERED or None]:
            del self._known[old]

        def ended(task: asyncio.Task[None]) -> None:
            self._claims.discard(claim)
            submission.debates = frozenset()
            submission.waits_for = None
            if task.cancelled():
                return
            problem = submission.problem = task.exception()
            if problem is None:
                return
            file = None if self._kept is None else self._kept.find(submission.kind, submission.id)
            if file is not None:
                self._passed.add(file)
            expected = isinstance(problem, JuryError)
            _log.log(
                # A client that waits for the answer gets the problem; of any other nobody knows.
                (logging.WARNING if submission.answered else logging.INFO) if expected else logging.ERROR,
                "%s %s stopped%s: %s",
                submission.kind,
                submission.id,
                "" if file is None else ", and stays kept",
                problem,
                exc_info=None if expected else problem,
            )

        submission.task.add_done_callback(ended)


def refuse_uris(cases: Sequence[Case], over: str = "HTTP") -> None:
    """Refuse URIs in cases of clients, which would make this process read files or connect to other hosts.

    Args:
        cases: as they were sent.
        over: the protocol, for the message.

    Raises:
        CaseFileError: a case has a URI.
    """
    for case in cases:
        for name in ("security_gate_uri", "agent_card_uri"):
            if getattr(case, name) is not None:
                records = name.replace("_uri", "_records")
                raise CaseFileError(
                    f"case {visible_line(case.case_id, 80)!r}: {name} is not accepted over {over}; send {records}"
                )
