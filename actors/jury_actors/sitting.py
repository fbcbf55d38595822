"""One debate being held: the rules say what follows, the clerk keeps it, the jurors are asked, until the end."""

import asyncio
import hashlib
import json
from collections import deque
from collections.abc import Iterable
from typing import NoReturn, Protocol

from jury_actors.clerk import ClerkLink, ClerkPort, Recollection
from jury_actors.errors import Halted, HeldElsewhere, OtherPanel, Released, TextMissing
from jury_actors.juror_link import JurorLink
from jury_actors.messages import Ask, Finished, Job, Told
from jury_actors.sources import Sources
from jury_debate.debate import Debate
from jury_debate.panel_spec import ResolvedPanel
from jury_debate.recorded_panel import IMAGES_SINCE, panel_differences
from jury_debate.rules import LATEST
from jury_debate.rules_v1.opening import SECRET_BYTES
from jury_events.case import Case
from jury_events.codec import DebateEvent, decode, encode
from jury_events.debate_events import CoordinatorResumed, DebateOpened
from jury_events.envelope import StoredEvent
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step, debate_stream
from jury_events.local_facts import local_facts
from jury_events.parts import SALT_BYTES, PartPen, refs_in
from jury_store.errors import EventConflict
from jury_store.event_store import Append, Appended


class Bench(Protocol):
    """What a sitting needs of its coordinator."""

    epoch: int
    clerk: ClerkPort
    writer: ClerkLink
    sources: Sources

    def link(self, debate_id: str, juror_id: str | None) -> JurorLink:
        """The juror that does the steps of a seat (None: the final judge) in a debate: always the same one."""
        ...

    @property
    def links(self) -> Iterable[JurorLink]:
        """Every juror."""
        ...


class Sitting:
    """Holds one debate. Everything that reaches it from outside goes through its inbox, one thing at a time."""

    def __init__(self, bench: Bench, job: Job) -> None:
        self._bench = bench
        self._job = job
        self._pen = PartPen(lambda: bench.sources.entropy(SALT_BYTES))
        self._inbox: deque[Told | list[str]] = deque()
        self._filled = asyncio.Event()
        self._asked: set[str] = set()
        self._out: set[str] = set()
        self._halted: Halted | None = None
        self._again: set[str] = set()
        self._prior: dict[str, tuple[StoredEvent, ...]] = {}
        self._debate: Debate

    def tell(self, told: Told) -> None:
        """A juror says what a step came to."""
        self._inbox.append(told)
        self._filled.set()

    def juror_lost(self, step_ids: list[str]) -> None:
        """A juror died while it was doing these steps."""
        self._inbox.append(step_ids)
        self._filled.set()

    async def hold(self, known: Recollection | None) -> Finished:
        """Open the debate, or go on where the log says it stands, and see it through.

        Raises:
            StoreError: the log cannot be written, or another coordinator took over.
            IllegalEvent: what the log holds was not written under the rules that it names.
            UnknownPart: a text that is needed to go on is not in the log; the debate cannot be resumed.
        """
        if known is None:
            await self._open()
        elif await self._resume(known):
            return self._finished()
        while True:
            await self._record(self._debate.advance())
            if self._debate.state.ended:
                break
            self._ask()
            await self._hear()
            if self._halted is not None:
                await self._drain(self._halted)
        return self._finished()

    async def _drain(self, halted: Halted) -> NoReturn:
        """What is asked already may be answered yet, and is recorded then: nothing that was paid for is lost."""
        while self._out:
            await self._hear()
        raise halted

    def _finished(self) -> Finished:
        return Finished(self._job.debate_id, self._debate.state.phase.value)

    async def _open(self) -> None:
        job = self._job
        case = Case.model_validate_json(job.case)
        resolved = job.docket.resolved
        secret = self._bench.sources.entropy(SECRET_BYTES)
        opened = LATEST.open_debate(
            case,
            resolved.panel,
            debate_id=job.debate_id,
            run_id=job.docket.run_id,
            secret=secret,
            parts=self._pen,
            charges=resolved.charges,
            judge_charge=resolved.judge_charge,
            submission_id=job.submission_id,
        )
        appended = await self._append([opened], expected=0)
        if appended.repeated:
            # Somebody else, or we before the clerk was lost, opened it: what was asked since is in the log.
            raise EventConflict(f"debate {job.debate_id} was opened before; read it again")
        self._debate = Debate(opened, secret, self._pen)

    async def _resume(self, known: Recollection) -> bool:
        """Fold the log; gives whether the debate is over. Steps that may have been in flight are named in an event."""
        self._check_held_here(known)
        self._pen.know(known.parts)
        opened, *events = (decode(stored) for stored in known.events)
        assert isinstance(opened, DebateOpened)
        if not self._is_ours(opened, known.events[0].schema):
            raise OtherPanel(
                f"debate {self._job.debate_id} was opened with another panel, by another run of the same id; "
                "give this run another id"
            )
        self._debate = Debate(opened, self._pen.text(opened.secret), self._pen)
        self._debate.fold(event for event in events if not isinstance(event, ExchangeRecorded))
        if self._debate.state.ended:
            return True
        self._learn(known.exchanges)
        state = self._debate.state
        # Whoever takes a debate up says so before anybody is asked: of a branch without a word of it, nobody was.
        new_branch = state.forked is not None and not state.resumed
        await self._say_resumed("coordinator", [] if new_branch else [step.id for step in self._debate.asked_for()])
        return False

    def _check_held_here(self, known: Recollection) -> None:
        """Whoever can have a cassette imported must not decide what a run comes to.

        Raises:
            HeldElsewhere: the debate came in one, or was set aside.
        """
        facts = local_facts(known.local)
        debate = self._job.debate_id
        if facts.quarantine is not None:
            raise HeldElsewhere(
                f"debate {debate} is in quarantine ({facts.quarantine.reason}): take it back with: "
                f"jury db release {debate}; or judge the case under another run id"
            )
        if facts.imports and not self._job.adopted:
            raise HeldElsewhere(
                f"debate {debate} came in a cassette and was not held here, so it does not go on as this run's own; "
                "give the run another id"
            )

    def _is_ours(self, opened: DebateOpened, schema: int) -> bool:
        """Whether it was opened with this run's panel; one that was opened before pictures goes on without them."""
        panel = self._job.docket.resolved.panel
        recorded, ours = (ResolvedPanel(one, {}, None) for one in (opened.panel, panel))
        return opened.panel == panel or not panel_differences(recorded, ours, images=schema >= IMAGES_SINCE)

    def _learn(self, exchanges: list[StoredEvent]) -> None:
        """Recorded exchanges of due steps are outcomes already, or the beginning of one."""
        by_step: dict[str, list[StoredEvent]] = {}
        for stored in exchanges:
            exchange = decode(stored)
            assert isinstance(exchange, ExchangeRecorded)
            by_step.setdefault(exchange.step, []).append(stored)
        for step in self._debate.asked_for():
            recorded = by_step.get(step.id, [])
            # What would be said next is the juror's to write, and is thrown away here.
            scratch = PartPen(lambda: bytes(SALT_BYTES))
            conversation = self._debate.rules.converse(self._debate.assign(step), scratch)
            for stored in recorded:
                exchange = decode(stored)
                assert isinstance(exchange, ExchangeRecorded)
                conversation.hear(self._debate.rules.recall(exchange, self._pen.text))
            if conversation.outcome is not None:
                self._debate.learn(step.id, conversation.outcome)
            elif recorded:
                self._prior[step.id] = tuple(recorded)

    async def _say_resumed(self, cause: str, steps: list[str]) -> None:
        self._again.update(steps)
        event = CoordinatorResumed(
            epoch=self._bench.epoch,
            cause="juror" if cause == "juror" else "coordinator",
            nth=self._debate.state.resumed + 1,
            asked_again=tuple(steps),
        )
        version = self._debate.state.version
        self._debate.fold([event])
        await self._append([event], expected=version)

    async def _record(self, events: list[DebateEvent]) -> None:
        if events:
            await self._append(events, expected=self._debate.state.version - len(events))

    async def _append(self, events: list[DebateEvent], *, expected: int) -> Appended:
        now = self._bench.sources.clock()
        fresh = self._pen.take()
        last = len(events) - 1
        new = tuple(
            encode(event, recorded_at=now, parts=fresh if index == last else ()) for index, event in enumerate(events)
        )
        stream = debate_stream(self._job.debate_id)
        return await self._bench.writer.append(Append(stream, new, expected_version=expected, epoch=self._bench.epoch))

    def _ask(self) -> None:
        for step in self._debate.asked_for():
            if step.id not in self._asked:
                self._asked.add(step.id)
                self._out.add(step.id)
                self._send(step)

    def _send(self, step: Step) -> None:
        assignment = self._debate.assign(step)
        link = self._bench.link(self._job.debate_id, step.juror_id)
        prior = self._prior.pop(step.id, ())
        refs = [ref.part for message in assignment.messages for ref in message.texts]
        refs += [opinion.shown.part for opinion in assignment.opinions or ()]
        refs += [ref for stored in prior for ref in _refs(stored)]
        case = self._debate.state.debate.case if assignment.tools else None
        refs += [] if case is None else [case.part]
        texts = {ref: self._pen.content(ref) for ref in link.unsent(self._job.debate_id, refs)}
        watched = step.juror_id is None and self._job.docket.watched
        link.ask(Ask(assignment, texts, case, prior, watched, again=step.id in self._again))

    async def _hear(self) -> None:
        """Wait until something arrives, and take all that did."""
        while not self._inbox:
            self._filled.clear()
            await self._filled.wait()
        while self._inbox:
            message = self._inbox.popleft()
            if isinstance(message, Told):
                self._out.discard(message.step_id)
            if isinstance(message, list) and self._halted is not None:
                self._out.difference_update(message)
            elif isinstance(message, list):
                await self._ask_again(message)
            elif message.outcome is not None:
                self._debate.learn(message.step_id, message.outcome)
            elif isinstance(message.problem, EventConflict | TextMissing | Released):
                # An earlier incarnation of the juror recorded this exchange after the log was read: read it again.
                # Or the ask reached another incarnation than the one that its texts were sent to. Or the debate was
                # let go while the juror was at this step, and taken up again before the juror told of it.
                await self._ask_again([message.step_id])
            elif isinstance(message.problem, Halted):
                self._halted = message.problem
            elif message.problem is not None:
                raise message.problem

    async def _ask_again(self, step_ids: list[str]) -> None:
        known = await self._bench.clerk.recall([self._job.debate_id])
        recollection = known[self._job.debate_id]
        self._pen.know(recollection.parts)
        self._learn(recollection.exchanges)
        steps = [step for step in self._debate.asked_for() if step.id in step_ids]
        for step in steps:
            self._bench.link(self._job.debate_id, step.juror_id).resend(self._job.debate_id)
        again = [step.id for step in steps]
        self._asked.difference_update(again)
        if again:
            await self._say_resumed("juror", again)


def _refs(stored: StoredEvent) -> Iterable[str]:
    return refs_in(json.loads(stored.body))


def replica(debate_id: str, replicas: int) -> int:
    """Which of a seat's replicas serves a debate."""
    return int.from_bytes(hashlib.blake2b(debate_id.encode(), digest_size=4).digest()) % replicas
