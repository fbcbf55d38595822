"""Evaluations and runs that were asked for over HTTP: begun here, held by a `Jury`, known by their ids.

Nothing of them is kept but in the log. What runs when the server ends stops where it is; the same request goes on.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from jury_actors.failing import has_failed
from jury_events.case import Case
from jury_events.errors import JuryError
from jury_events.ids import debate_id as id_of
from jury_events.ids import debate_stream
from jury_events.nearest import did_you_mean
from jury_judge.errors import CaseFileError, NotHeldHere, TooManySubmissions
from jury_judge.jury import Jury
from jury_judge.live.feed import Feed, Opening
from jury_judge.runs import fresh_debate_id, fresh_run_id
from jury_judge.views.visible_text import visible_line
from jury_judge.web.submission_claims import Kind, SubmissionClaim, claim
from jury_store.event_store import EventStore

MOST = 500
"""Evaluations and runs under way at once."""

_TOLD_OF = 1000
"""Submissions that are over and whose problem is still told."""

MOST_BYTES = 256 * 1024 * 1024
"""Of their cases; one submission is always let in."""

_ANSWER_WITHIN = 2.0
"""Seconds in which a submission shows what is wrong with it, or is taken to be on its way."""

_GOES_ON_WITHIN = 0.3
"""The same for what was opened before, and so shows no opening."""

_log = logging.getLogger(__name__)

MakeJury = Callable[[Callable[[str, str], None]], Jury]
"""Makes a Jury that tells what final judges write."""


@dataclass(kw_only=True)
class Submission:
    """One evaluation, or one run.

    `problem` is why it could not go on; None while it runs, and when it is over.
    """

    kind: Kind
    id: str
    task: asyncio.Task[None]
    problem: BaseException | None = None

    @property
    def running(self) -> bool:
        """Whether it is under way."""
        return not self.task.done()


class Submissions:
    """What this process holds, in one event loop.

    Args:
        panels: how to make the Jury of each panel, by the name that requests use; the first is the default.
        store: where debates are, open for reading.
        feed: is told what final judges write, and tells which debates open.
        most: under way at once.
    """

    def __init__(self, panels: Mapping[str, MakeJury], store: EventStore, feed: Feed, *, most: int = MOST) -> None:
        self.panels = tuple(panels)
        self._make = dict(panels)
        self._store = store
        self._feed = feed
        self._most = most
        self._juries: dict[str, asyncio.Task[Jury]] = {}
        self._open = AsyncExitStack()
        self._claims: set[SubmissionClaim] = set()
        self._known: OrderedDict[tuple[str, str], Submission] = OrderedDict()

    def find(self, kind: Kind, name: str) -> Submission | None:
        """What is known here of a debate or a run that was asked for."""
        return self._known.get((kind, name))

    @property
    def running(self) -> int:
        """How many are under way."""
        return sum(one.running for one in self._known.values())

    async def evaluate(
        self, case: Case, *, panel: str | None, run_id: str | None, submission_id: str | None
    ) -> Submission:
        """Begin one debate, or go on with it; returns once it was opened, or shown to be under way.

        Raises:
            NotHeldHere: no such panel.
            TooManySubmissions: too many are under way.
            RunRefused: what is under way by that name is not the same.
            JuryError: it cannot be held, as `Jury.evaluate` says.
        """
        debate_id = fresh_debate_id(case) if run_id is None else id_of(run_id, case.case_id)
        asked = await asyncio.to_thread(claim, "evaluation", debate_id, self._panel(panel), {debate_id: case})
        if (there := self._under_way(asked)) is not None:
            return there

        async def hold(jury: Jury) -> None:
            await jury.evaluate(case, run_id=run_id, debate_id=debate_id, submission_id=submission_id)

        def known() -> bool:
            stream = debate_stream(debate_id)
            return stream in self._store.heads([stream])

        return await self._begin(asked, hold, lambda opening: opening.debate_id == debate_id, known)

    async def run(
        self, cases: Sequence[Case], *, panel: str | None, run_id: str | None, concurrency: int | None
    ) -> Submission:
        """Begin a run, or go on with it; returns once its first debate was opened, or it was shown to be under way.

        Raises:
            NotHeldHere, TooManySubmissions, JuryError: as `evaluate`.
        """
        name = run_id or fresh_run_id()
        debates = {id_of(name, case.case_id): case for case in cases}
        asked = await asyncio.to_thread(claim, "run", name, self._panel(panel), debates)
        if (there := self._under_way(asked)) is not None:
            return there

        async def hold(jury: Jury) -> None:
            async for _ in jury.evaluate_many(cases, run_id=name, concurrency=concurrency):
                pass

        def known() -> bool:
            return bool(self._store.debates(run_id=name, limit=1))

        return await self._begin(asked, hold, lambda opening: opening.run_id == name, known)

    async def close(self) -> None:
        """Stop what runs where it is, and let the juries go."""
        tasks = [one.task for one in self._known.values() if one.running]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._open.aclose()

    def _panel(self, name: str | None) -> str:
        if not self.panels:
            raise NotHeldHere("this server shows debates and holds none; start jury serve without --read-only")
        if name is None:
            return self.panels[0]
        if name not in self._make:
            shown = f"{visible_line(name, 80)!r} here{did_you_mean(name, self.panels)}"
            raise NotHeldHere(f"there is no panel {shown}; panels are {', '.join(self.panels)}")
        return name

    def _under_way(self, asked: SubmissionClaim) -> Submission | None:
        """What does it already; else it is under way from now on."""
        asked.check(self._claims)
        there = self.find(asked.kind, asked.name)
        if there is not None and there.running:
            return there
        size = sum(one.size for one in self._claims)
        if len(self._claims) >= self._most or (self._claims and size + asked.size > MOST_BYTES):
            raise TooManySubmissions(
                f"{len(self._claims)} evaluations and runs are under way here; come back in a minute"
            )
        self._claims.add(asked)
        return None

    async def _jury(self, panel: str) -> Jury:
        """The Jury of a panel, entered once."""
        opening = self._juries.get(panel)
        if opening is None or has_failed(opening):
            entered = self._open.enter_async_context(self._make[panel](self._feed.hear))
            opening = self._juries[panel] = asyncio.create_task(entered)
        return await asyncio.shield(opening)

    async def _begin(
        self,
        asked: SubmissionClaim,
        hold: Callable[[Jury], Coroutine[Any, Any, None]],
        opens: Callable[[Opening], bool],
        is_known: Callable[[], bool],
    ) -> Submission:
        opened = asyncio.Event()
        task = None

        def tell(opening: Opening) -> None:
            if opens(opening):
                opened.set()

        try:
            jury = await self._jury(asked.panel)
            within = _GOES_ON_WITHIN if await asyncio.to_thread(is_known) else _ANSWER_WITHIN
            async with self._feed.openings(tell):
                task = asyncio.create_task(hold(jury))
                submission = self._keep(Submission(kind=asked.kind, id=asked.name, task=task), asked)
                seen = asyncio.create_task(opened.wait())
                await asyncio.wait({task, seen}, timeout=within, return_when=asyncio.FIRST_COMPLETED)
                seen.cancel()
        finally:
            if task is None:
                self._claims.discard(asked)
        if task.done() and submission.problem is not None:
            raise submission.problem
        return submission

    def _keep(self, submission: Submission, asked: SubmissionClaim) -> Submission:
        key = (submission.kind, submission.id)
        self._known[key] = submission
        self._known.move_to_end(key)
        for old in [key for key, one in self._known.items() if not one.running][: -_TOLD_OF or None]:
            del self._known[old]

        def ended(task: asyncio.Task[None]) -> None:
            self._claims.discard(asked)
            if task.cancelled():
                return
            problem = submission.problem = task.exception()
            if problem is not None:
                expected = isinstance(problem, JuryError)
                _log.log(
                    logging.INFO if expected else logging.ERROR,
                    "%s %s could not go on: %s",
                    submission.kind,
                    submission.id,
                    problem,
                    exc_info=None if expected else problem,
                )

        submission.task.add_done_callback(ended)
        return submission


def refuse_uris(cases: Sequence[Case]) -> None:
    """A case that comes over the network may not make this process read files, or ask other hosts.

    Raises:
        CaseFileError: a case names where its records are.
    """
    for case in cases:
        for name in ("security_gate_uri", "agent_card_uri"):
            if getattr(case, name) is not None:
                records = name.replace("_uri", "_records")
                raise CaseFileError(f"case {visible_line(case.case_id, 80)!r}: {name} is not read here; send {records}")
