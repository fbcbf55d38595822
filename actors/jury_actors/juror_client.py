"""The jurors that a coordinator asks: the client of one, the pool of a seat, and who is asked for a debate."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Protocol

from jury_actors.effects import Backoff
from jury_actors.load import JurorLoad
from jury_actors.mailbox import AWAY, Delivery, MailboxClient
from jury_actors.messages import AnswerBegan, Chunk, ForgetDebate, StepRequest, StepResult


class JurorInterface(Protocol):
    """What a juror does for the coordinator; calls raise `IncarnationLost` when its process died."""

    async def submit(self, messages: Sequence[StepRequest | ForgetDebate]) -> None:
        """Take steps to execute; forget debates that are over."""
        ...

    async def poll(self, reply_to: str, incarnation: str, ack: int) -> Delivery[StepResult | Chunk | AnswerBegan]:
        """Results of the steps with this `reply_to`, pieces of watched answers, and which awaited ones began."""
        ...

    async def load(self, reply_to: str, run_id: str | None) -> JurorLoad:
        """The calls of a run (None: of all) that are not over, of steps with this `reply_to`."""
        ...


class JurorClient:
    """Knows which steps a juror is executing and which texts it was sent.

    Args:
        on_loss: called once a loss, with the (debate, step) ids whose results were outstanding.
        reply_to: names the outbox that the juror keeps for this client.
        linger: seconds that requests wait for more.
        away: backoff between probes for a lost juror's successor.
    """

    def __init__(
        self,
        juror: JurorInterface,
        deliver: Callable[[StepResult], None],
        on_loss: Callable[[list[tuple[str, str]]], None],
        on_chunk: Callable[[Chunk], None] = lambda _chunk: None,
        on_began: Callable[[AnswerBegan], None] = lambda _began: None,
        *,
        reply_to: str = "",
        linger: float = 0.0,
        away: Backoff = AWAY,
    ) -> None:
        self.reply_to = reply_to
        self._deliver = deliver
        self._on_loss = on_loss
        self._on_chunk = on_chunk
        self._on_began = on_began
        self._juror = juror
        self._outstanding: set[tuple[str, str]] = set()
        self._sent: dict[str, set[str]] = {}
        self._mailbox: MailboxClient[StepRequest | ForgetDebate, StepResult | Chunk | AnswerBegan] = MailboxClient(
            juror.submit,
            partial(juror.poll, reply_to),
            on_item=self._take,
            on_loss=self._lose,
            on_error=self._fail,
            size=attrgetter("size"),
            linger=linger,
            away=away,
        )

    def unsent(self, debate_id: str, refs: Iterable[str], content: Callable[[str], bytes]) -> dict[str, bytes]:
        """Those texts of `refs` that this juror was not sent yet; they count as sent from now on."""
        sent = self._sent.setdefault(debate_id, set())
        fresh = {}
        for ref in refs:
            if ref not in sent:
                sent.add(ref)
                fresh[ref] = content(ref)
        return fresh

    def resend(self, debate_id: str) -> None:
        """No text of the debate counts as sent any more."""
        self._sent.pop(debate_id, None)

    def request(self, request: StepRequest) -> None:
        """Have a step executed."""
        key = request.assignment.debate_id, request.assignment.step.id
        if self._mailbox.problem is not None:
            self._deliver(StepResult(*key, None, self._mailbox.problem))
            return
        self._outstanding.add(key)
        self._mailbox.send(request)

    def release(self, debate_id: str, *, stop: bool = False) -> None:
        """The debate is over: the juror may forget it; `stop` as of `ForgetDebate`."""
        if self._sent.pop(debate_id, None) is not None:
            self._mailbox.send(ForgetDebate(debate_id, stop))

    def outstanding(self, run_id: str | None) -> int:
        """Steps of a run's debates (None: of all) that have no result yet."""
        start = "" if run_id is None else f"{run_id}~"
        return sum(debate_id.startswith(start) for debate_id, _ in self._outstanding)

    @property
    def queued(self) -> int:
        """Messages that wait to be sent."""
        return self._mailbox.queued

    async def load(self, run_id: str | None) -> JurorLoad:
        """See `JurorInterface`."""
        return await self._juror.load(self.reply_to, run_id)

    async def close(self) -> None:
        """Stop sending and receiving."""
        await self._mailbox.close()

    def _take(self, item: StepResult | Chunk | AnswerBegan) -> None:
        key = item.debate_id, item.step_id
        if key not in self._outstanding:
            return
        if isinstance(item, Chunk):
            self._on_chunk(item)
        elif isinstance(item, AnswerBegan):
            self._on_began(item)
        else:
            self._outstanding.discard(key)
            self._deliver(item)

    def _lose(self, _unconfirmed: list[StepRequest | ForgetDebate]) -> list[StepRequest | ForgetDebate]:
        """The successor knows nothing: texts must be sent again, and the debates decide which steps are repeated."""
        self._sent.clear()
        lost, self._outstanding = sorted(self._outstanding), set()
        if lost:
            self._on_loss(lost)
        return []

    def _fail(self, error: Exception) -> None:
        """There is no successor: every step fails with the error, now and later."""
        failed, self._outstanding = sorted(self._outstanding), set()
        for debate_id, step_id in failed:
            self._deliver(StepResult(debate_id, step_id, None, error))


def place_of(debate_id: str, places: int) -> int:
    """A number below `places`, always the same for a debate.

    Coordinators and replicas share this rule on purpose: with as many of the one as of the other, or a multiple, a
    coordinator sends its steps to fewer replicas, so more of them travel in a message.
    """
    return int.from_bytes(hashlib.blake2b(debate_id.encode(), digest_size=4).digest()) % places


Replicas = Mapping[str | None, Sequence[str]]
"""The names of the replicas of each seat, by juror id; under None those of the final judge."""


class JurorPool:
    """Clients of the replicas that are used, and of those that still serve debates.

    A seat's steps in a debate go to one replica, so that texts are sent to it once.

    Args:
        replicas: at least one a seat.
    """

    def __init__(self, replicas: Replicas, connect: Callable[[str], JurorClient]) -> None:
        self._connect = connect
        self._replicas = dict(replicas)
        self._clients: dict[str, JurorClient] = {}
        for name in chain.from_iterable(replicas.values()):
            self._clients[name] = connect(name)
        self._serving: dict[str, dict[str | None, str]] = {}

    @property
    def clients(self) -> tuple[JurorClient, ...]:
        """The clients of all replicas."""
        return tuple(self._clients.values())

    def juror(self, debate_id: str, juror_id: str | None) -> JurorClient:
        """The client of the replica that serves a seat in a debate, the same until the debate is released."""
        serving = self._serving.setdefault(debate_id, {})
        if juror_id not in serving:
            names = self._replicas[juror_id]
            serving[juror_id] = names[0] if len(names) == 1 else names[place_of(debate_id, len(names))]
        return self._clients[serving[juror_id]]

    def by_seat(self) -> list[tuple[str | None, list[JurorClient]]]:
        """The clients of each seat's replicas, those included that are drained."""
        names = {seat: dict.fromkeys(used) for seat, used in self._replicas.items()}
        for serving in self._serving.values():
            for seat, name in serving.items():
                names[seat][name] = None
        return [(seat, [self._clients[name] for name in found]) for seat, found in names.items()]

    def stop_steps(self, debate_id: str) -> None:
        """The debate is cancelled: steps of it that no model is answering now end at once, without a call."""
        for name in self._serving.get(debate_id, {}).values():
            self._clients[name].release(debate_id, stop=True)

    def release(self, debate_id: str) -> None:
        """The debate is over: its replicas may forget it."""
        for name in self._serving.pop(debate_id, {}).values():
            self._clients[name].release(debate_id)

    async def use(self, replicas: Replicas) -> frozenset[str]:
        """Use these replicas for debates that begin from now on.

        Others are drained: they serve their debates to the end.

        Args:
            replicas: at least one a seat.

        Returns:
            The names of the replicas that are used or still serve a debate; all others may be ended.
        """
        self._replicas = dict(replicas)
        used = set(chain.from_iterable(replicas.values()))
        for name in used - set(self._clients):
            self._clients[name] = self._connect(name)
        used |= {name for serving in self._serving.values() for name in serving.values()}
        for name in set(self._clients) - used:
            await self._clients.pop(name).close()
        return frozenset(used)


def replica_name(seat: int, number: int) -> str:
    """The name of a juror process: the `number`-th replica of the seat with this index."""
    return f"juror-{seat}-{number}"


def replicas_among(names: Iterable[str], seats: Sequence[str | None]) -> dict[str | None, list[str]]:
    """The replicas of each seat among the names of a runtime's processes, in the order of their numbers."""
    found: dict[int, list[int]] = {}
    for name in names:
        kind, _, rest = name.partition("-")
        if kind == "juror":
            seat, _, number = rest.partition("-")
            found.setdefault(int(seat), []).append(int(number))
    return {
        seat: [replica_name(index, number) for number in sorted(found.get(index, ()))]
        for index, seat in enumerate(seats)
    }
