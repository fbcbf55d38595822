"""The coordinator's client of a juror."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from jury_actors.backoff import Backoff
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
        juror: the juror, here or in another process.
        deliver: called with each result.
        on_loss: called once a loss, with the (debate, step) ids whose results were outstanding.
        on_chunk: called with each piece of a watched answer.
        on_began: called when an awaited answer begins.
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
        self._reply_to = reply_to
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
            size=lambda message: message.size,
            linger=linger,
            away=away,
        )

    def unsent(self, debate_id: str, refs: Sequence[str]) -> list[str]:
        """Which of `refs` this juror was not sent yet; they count as sent from now on."""
        sent = self._sent.setdefault(debate_id, set())
        fresh = [ref for ref in dict.fromkeys(refs) if ref not in sent]
        sent.update(fresh)
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
        self._mailbox.send(request._replace(reply_to=self._reply_to))

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
        return await self._juror.load(self._reply_to, run_id)

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
