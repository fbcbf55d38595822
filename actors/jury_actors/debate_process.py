"""One debate: opened or resumed from its events, and driven by the rules to its end."""

import asyncio
import json
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from jury_actors.clerk import ClerkClient, ClerkInterface
from jury_actors.effects import Effects, date_of
from jury_actors.errors import Halted, NotResumable, OtherPanel, Released, TextMissing, Unsettled
from jury_actors.juror_client import JurorPool
from jury_actors.messages import AnswerBegan, Finished, Job, StepRequest, StepResult, StepSpool
from jury_actors.observation.observer import Observer, Subject
from jury_actors.prompt_caching import PlannedStep, PromptCaching
from jury_debate.assignment import Assignment, tools_offered
from jury_debate.debate import Debate
from jury_debate.recorded_panel import panel_differences
from jury_debate.resolved_panel import ResolvedPanel
from jury_debate.rules import SECRET_BYTES
from jury_debate.rules_registry import newest_rules
from jury_debate.shared_prompts import RoundsSeen
from jury_debate.state import Phase
from jury_events.case import Case
from jury_events.codec import DebateEvent, encode
from jury_events.debate_events import CoordinatorResumed, DebateCancelled, DebateOpened
from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.ids import debate_stream
from jury_events.parts import SALT_BYTES, BorrowedTexts, ImageRef, PartBuffer, PartMaker, PartRef, refs_in
from jury_providers.caching import CachePolicy
from jury_providers.provider import Caching
from jury_store.errors import EventConflict
from jury_store.event_store import Append, Appended


def opening_of(job: Job, secret: bytes, parts: PartMaker) -> DebateOpened:
    """The opening event of a debate under the newest rules; the case itself is free when it is made."""
    case = Case.model_validate_json(job.case)
    resolved = job.context.resolved
    opened = newest_rules().open_debate(
        case,
        resolved.panel,
        debate_id=job.debate_id,
        run_id=job.context.run_id,
        secret=secret,
        parts=parts,
        role_prompts=resolved.role_prompts,
        judge_prompt=resolved.judge_prompt,
        submission_id=job.submission_id,
        prompts_version=resolved.prompts,
        operator_policy=job.context.operator_policy,
    )
    if job.context.pictures and not opened.images:
        pictures = (ImageRef(media_type=one.media_type, content=parts.make(one.content)) for one in case.images)
        opened = opened.changed(images=tuple(pictures))
    return opened if job.stage is None else opened.changed(stage=job.stage)


def learned(debate: Debate, known: DebateHistory, pen: PartBuffer) -> dict[str, tuple[StoredEvent, ...]]:
    """Apply recorded exchanges of due steps: each has an outcome then, which the debate gets, or its first exchanges.

    Returns:
        the exchanges of the steps that have no outcome, by step.
    """
    by_step: dict[str, list[int]] = {}
    for index, exchange in enumerate(known.exchanges):
        by_step.setdefault(exchange.step, []).append(index)
    prior: dict[str, tuple[StoredEvent, ...]] = {}
    for step in debate.pending_steps():
        recorded = by_step.get(step.id, [])
        # The next request is written by the juror; the one made here is discarded.
        scratch = BorrowedTexts(PartBuffer(lambda: bytes(SALT_BYTES)), pen.text)
        conversation = debate.rules.conversation(debate.assign(step), scratch)
        for index in recorded:
            exchange = known.exchanges[index]
            conversation.apply_reply(debate.rules.reply_from_record(exchange, pen.text), exchange.window)
        if conversation.outcome is not None:
            debate.add_outcome(step.id, conversation.outcome)
        elif recorded:
            prior[step.id] = tuple(known.stored_exchanges[index] for index in recorded)
    return prior


def texts_of(assignment: Assignment, prior: Sequence[StoredEvent], case: PartRef | None) -> list[str]:
    """References to all texts that the step needs: what it is shown, what its tools return, what it said before."""
    refs = [ref.part for ref in assignment.texts]
    refs += [opinion.peer_text.part for opinion in assignment.opinions or ()]
    refs += [ref for stored in prior for ref in refs_in(json.loads(stored.body))]
    return refs if case is None else [*refs, case.part]


_PHASES = {Phase.EVALUATING: "evaluation", Phase.DISCUSSING: "discussion"}
"""By the state that a debate waits in; the final judge is asked in `DELIBERATED`."""


class RuntimeContext(Protocol):
    """What a debate process needs of its coordinator."""

    epoch: int
    clerk: ClerkInterface
    writer: ClerkClient
    effects: Effects
    observer: Observer
    cache_policy: CachePolicy
    warm_seconds: float
    jurors: JurorPool

    def rounds_seen(self, run_id: str | None) -> RoundsSeen:
        """The rounds that debates of a run took so far."""
        ...

    def stop_steps(self, debate_id: str) -> None:
        """Have the steps of a debate end that no model is answering now."""
        ...


class DebateProcess:
    """Runs one debate. All messages go through its inbox and are handled one at a time."""

    def __init__(self, context: RuntimeContext, job: Job) -> None:
        self._context = context
        self._job = job
        self.run_id = job.context.run_id
        self.subject = Subject(job.debate_id, self.run_id)
        """What reports about it are about."""
        self._pen = PartBuffer(partial(context.effects.entropy, SALT_BYTES))
        self._inbox: deque[StepResult | AnswerBegan | list[str]] = deque()
        self._filled = asyncio.Event()
        self._requested: set[str] = set()
        self._outstanding: set[str] = set()
        self._waiting: dict[str, list[PlannedStep]] = {}
        self._halted: Halted | Unsettled | None = None
        self._cancelled_by: str | None = None
        self._again: set[str] = set()
        self._prior: dict[str, tuple[StoredEvent, ...]] = {}
        self._left: frozenset[str] = frozenset()
        """Steps that were due when the debate was read: of these an earlier process may have asked jurors."""
        self._debate: Debate
        self._caching: PromptCaching | None = None
        """None: no provider keeps anything when it is asked to."""
        if context.cache_policy.protocols:
            seen = context.rounds_seen(self.run_id)
            pen = self._pen  # not this object, which would be in a cycle of references then
            self._caching = PromptCaching(context.cache_policy, seen, lambda ref: len(pen.content(ref.part)))

    @property
    def phase(self) -> str:
        """opening, evaluation, discussion or judgment."""
        return _PHASES.get(self._debate.state.phase, "judgment") if hasattr(self, "_debate") else "opening"

    def deliver(self, result: StepResult) -> None:
        """Take the result of a step."""
        self._inbox.append(result)
        self._filled.set()

    def begin(self, began: AnswerBegan) -> None:
        """A model began to answer a step that others wait for, or they have waited long enough."""
        self._inbox.append(began)
        self._filled.set()

    def lose(self, step_ids: list[str]) -> None:
        """A juror died while it was executing these steps."""
        self._inbox.append(step_ids)
        self._filled.set()

    def cancel(self, by: str) -> None:
        """End the debate for good, as soon as what was decided is recorded; the first caller counts."""
        if self._cancelled_by is None:
            self._cancelled_by = by
            self._filled.set()

    async def run(self, known: DebateHistory | None) -> Finished:
        """Open the debate, or resume it from the log, and run it to its end."""
        if known is None:
            await self._open()
        elif await self._resume(known):
            return self._finished()
        while True:
            if decided := self._debate.advance():
                await self._append(decided)
            if self._debate.state.ended:
                break
            if self._cancelled_by is not None:
                await self._record_cancelled(self._cancelled_by)
                break
            await self._request()
            if self._job.context.spool is not None and not self._outstanding and not self._inbox:
                return Finished(self._job.debate_id, "waiting")
            await self._handle_messages()
            if self._halted is not None:
                await self._stop()
        return self._finished()

    async def _stop(self) -> None:
        """Raise what halts the debate, unless it is cancelled. Answers under way are paid for: they are recorded."""
        while self._outstanding and self._cancelled_by is None:
            await self._handle_messages()
        if self._cancelled_by is None and self._halted is not None:
            raise self._halted

    def _finished(self) -> Finished:
        self._context.rounds_seen(self.run_id).add(self._debate.state.round)
        return Finished(self._job.debate_id, self._debate.state.phase.value)

    async def _open(self) -> None:
        # Of many debates that begin at once, few have their texts in memory before they are stored.
        await self._context.writer.room()
        secret = self._context.effects.entropy(SECRET_BYTES)
        opened = opening_of(self._job, secret, self._pen)
        self._debate = Debate(opened, secret, self._pen)
        await self._begin([opened, self._debate.begin()])

    async def _begin(self, events: list[DebateEvent]) -> None:
        """Append what lets models be asked; another process that did so before may have asked them."""
        appended = await self._append(events)
        if appended.repeated:
            # Another process, or this one before the clerk was lost: what was asked since is in the log.
            raise EventConflict(f"debate {self._job.debate_id} was begun before; read it again")
        opened = self._debate.state.debate
        by_tools = opened.reading is not None and any(seat.mode == "tools" for seat in opened.reading.seats)
        if not by_tools and not tools_offered(opened.panel, opened.security_gate_records + opened.agent_card_records):
            self._pen.forget(opened.case)

    async def _resume(self, known: DebateHistory) -> bool:
        """Fold the log; returns whether the debate is over. One that waits is begun.

        Of one that was begun an event names the steps that may have been in flight.
        """
        self._check(known)
        self._pen.know(known.parts.values())
        opened = known.opened
        self._debate = Debate(opened, self._pen.text(opened.secret), self._pen)
        self._debate.fold(known.events[1:])
        if self._debate.state.ended:
            return True
        state = self._debate.state
        if state.phase is Phase.WAITING:
            await self._begin([self._debate.begin()])
            return False
        self._prior.update(learned(self._debate, known, self._pen))
        if self._job.context.spool is not None:
            # A wave is no resumption. What jurors may be asked twice is recorded before they are asked.
            self._left = frozenset(step.id for step in self._debate.pending_steps())
            return False
        # A resumption is recorded before any request: in a branch without such an event, nothing was requested.
        new_branch = state.forked is not None and not state.resumed
        await self._record_resumed(
            "coordinator", [] if new_branch else [step.id for step in self._debate.pending_steps()]
        )
        return False

    def _check(self, known: DebateHistory) -> None:
        """Neither an imported cassette nor another panel must decide the results of a run."""
        facts = known.local
        debate = self._job.debate_id
        if facts.quarantine is not None:
            raise NotResumable(
                f"debate {debate} is in quarantine ({facts.quarantine.reason}): take it back with: "
                f"jury db release {debate}; or judge the case under another run id"
            )
        if facts.imports and not self._job.adopted:
            raise NotResumable(
                f"debate {debate} came in a cassette, so this run does not resume it; give the run another id"
            )
        panel, ours = known.opened.panel, self._job.context.resolved.panel
        if panel != ours and panel_differences(ResolvedPanel(panel, {}, None), ResolvedPanel(ours, {}, None)):
            raise OtherPanel(
                f"debate {debate} was opened with another panel, by another run of the same id; give this run another "
                "id"
            )

    async def _record_resumed(self, cause: str, steps: list[str]) -> None:
        self._again.update(steps)
        event = CoordinatorResumed(
            epoch=self._context.epoch,
            cause="juror" if cause == "juror" else "coordinator",
            number=self._debate.state.resumed + 1,
            repeated_steps=tuple(steps),
        )
        self._debate.fold([event])
        await self._append([event])

    async def _record_cancelled(self, by: str) -> None:
        """Record the end, then wait for the calls that are being made: their answers are paid for."""
        event = DebateCancelled(by=by, reason=None)
        self._debate.fold([event])
        await self._append([event])
        self._context.stop_steps(self._job.debate_id)
        while self._outstanding:
            await self._wait_for_messages()
            while self._inbox:
                self._outstanding.difference_update(_over(self._inbox.popleft()))

    async def _wait_for_messages(self) -> None:
        while not self._inbox:
            self._filled.clear()
            await self._filled.wait()

    async def _append(self, events: list[DebateEvent]) -> Appended:
        """Append events that the debate has taken in."""
        expected = self._debate.state.version - len(events)
        now = self._context.effects.clock()
        fresh = self._pen.take()
        last = len(events) - 1
        new = tuple(
            [encode(event, recorded_at=now, parts=fresh if index == last else ()) for index, event in enumerate(events)]
        )
        stream = debate_stream(self._job.debate_id)
        appended = await self._context.writer.append(
            Append(stream, new, expected_version=expected, epoch=self._context.epoch)
        )
        if not appended.repeated:
            self._context.observer.debate_recorded(self.subject, events)
        return appended

    async def _request(self) -> None:
        due = [step for step in self._debate.pending_steps() if step.id not in self._requested]
        if not due:
            return
        self._requested.update([step.id for step in due])
        assignments = [self._debate.assign(step) for step in due]
        if (spool := self._job.context.spool) is not None:
            assignments = [one for one in assignments if not await self._spooled(one, spool)]
            again = [one.step.id for one in assignments if one.step.id in self._left]
            if again and spool.interrupted:
                await self._record_resumed("coordinator", again)
        steps = [PlannedStep(one) for one in assignments]
        if self._caching is not None:
            steps = self._caching.plan(self._debate.state, assignments, date_of(self._context.effects.clock()))
        for planned in steps:
            if planned.waits_for is None:
                self._send(planned)
            else:
                self._waiting.setdefault(planned.waits_for, []).append(planned)

    async def _spooled(self, assignment: Assignment, spool: StepSpool) -> bool:
        prior = self._prior.get(assignment.step.id, ())
        case = self._debate.state.debate.case if assignment.tools else None
        texts = {ref: self._pen.content(ref) for ref in texts_of(assignment, prior, case)}
        caching: tuple[Caching, ...] = ()
        if self._caching is not None:
            on = date_of(self._context.effects.clock())
            caching = self._caching.in_batch(self._debate.state.panel, assignment, on)
        request = StepRequest(assignment, texts, case, prior, run_id=self.run_id, caching=caching)
        taken = await spool.take(request)
        if taken:
            self._prior.pop(assignment.step.id, None)
        return taken

    def _release(self, step_id: str) -> None:
        for planned in self._waiting.pop(step_id, ()):
            self._send(planned)

    def _send(self, planned: PlannedStep) -> None:
        assignment = planned.assignment
        step, step_id = assignment.step, assignment.step.id
        self._outstanding.add(step_id)
        if planned.awaited:
            began = AnswerBegan(self._job.debate_id, step_id)
            asyncio.get_running_loop().call_later(self._context.warm_seconds, self.begin, began)
        juror = self._context.jurors.juror(self._job.debate_id, step.juror_id)
        prior = self._prior.pop(step_id, ())
        case = self._debate.state.debate.case if assignment.tools else None
        refs = texts_of(assignment, prior, case)
        texts = juror.unsent(self._job.debate_id, refs, self._pen.content)
        watched = step.juror_id is None and self._job.context.watched
        juror.request(
            StepRequest(
                assignment,
                texts,
                case,
                prior,
                watched,
                again=step_id in self._again,
                run_id=self.run_id,
                reply_to=juror.reply_to,
                caching=planned.caching,
                awaited=planned.awaited,
            )
        )

    async def _handle_messages(self) -> None:
        """Wait until messages arrive, and handle all that did; returns too where the debate is cancelled meanwhile."""
        while not self._inbox and self._cancelled_by is None:
            self._filled.clear()
            await self._filled.wait()
        while self._inbox:
            await self._handle(self._inbox.popleft())

    async def _handle(self, message: StepResult | AnswerBegan | list[str]) -> None:
        # Nothing answers a lost step before it is requested again: if the debate is cancelled first, nobody waits.
        self._outstanding.difference_update(over := _over(message))
        if self._halted is None and self._cancelled_by is None:
            for step_id in [message.step_id] if isinstance(message, AnswerBegan) else over:
                self._release(step_id)
        if isinstance(message, list):
            if self._halted is None:
                await self._request_again(message)
        elif isinstance(message, StepResult):
            await self._take_result(message)

    async def _take_result(self, result: StepResult) -> None:
        if result.outcome is not None:
            self._debate.add_outcome(result.step_id, result.outcome)
        elif isinstance(result.problem, EventConflict | TextMissing | Released):
            # An earlier incarnation of the juror recorded this exchange after the log was read: read it again.
            # Or the request reached another incarnation than the one that its texts were sent to. Or the debate
            # was stopped during this step, and resumed before the juror sent the result.
            await self._request_again([result.step_id])
        elif isinstance(result.problem, Halted | Unsettled):
            self._halted = self._halted if isinstance(self._halted, Halted) else result.problem
        elif result.problem is not None:
            raise result.problem

    async def _request_again(self, step_ids: list[str]) -> None:
        known = await self._context.clerk.recall([self._job.debate_id])
        history = known[self._job.debate_id]
        self._pen.know(history.parts.values())
        self._prior.update(learned(self._debate, history, self._pen))
        steps = [step for step in self._debate.pending_steps() if step.id in step_ids]
        for step in steps:
            self._context.jurors.juror(self._job.debate_id, step.juror_id).resend(self._job.debate_id)
        again = [step.id for step in steps]
        self._requested.difference_update(again)
        if again:
            await self._record_resumed("juror", again)


def _over(message: StepResult | AnswerBegan | list[str]) -> list[str]:
    """The ids of steps that no juror executes any more."""
    if isinstance(message, list):
        return message
    return [] if isinstance(message, AnswerBegan) else [message.step_id]
