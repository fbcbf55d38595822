"""The coordinator's end of a juror: asks go out in batches, one long poll brings back what they came to."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from jury_actors.backoff import Backoff
from jury_actors.messages import Chunk, Delivery, StepRequest, StepResult

_BATCH_BYTES = 1024 * 1024
_BATCH_ITEMS = 500

_AWAY = Backoff(base=0.1, cap=5.0)
"""Seconds between looks whether a juror is back; they grow as long as it answers nothing."""


class JurorInterface(Protocol):
    """What a juror does for the coordinator, wherever it lives."""

    async def submit(self, asks: Sequence[StepRequest], release: Sequence[str]) -> None:
        """Take steps to do; forget the debates in `release`."""
        ...

    async def poll(self, life: str, ack: int) -> Delivery[StepResult | Chunk]:
        """What steps came to, after those acknowledged, and what is being written of those that are watched."""
        ...


class JurorLost(Exception):
    """The juror's process died; whatever it was doing is not known."""


class JurorClient:
    """One juror as the coordinator sees it.

    Args:
        port: the juror. A call that raises `JurorLost` means that its process died and another takes its place. Until
            an empty message reaches that one, nothing else is sent, however long it takes: what is lost is told once.
        deliver: called with each outcome.
        heard: called with each piece of a watched answer.
        lost: called with the (debate, step) ids that were on their way when the juror died.
        linger: seconds that asks wait for company.
        away: how long to wait between looks whether a juror that was lost is back.
    """

    def __init__(
        self,
        port: JurorInterface,
        deliver: Callable[[StepResult], None],
        lost: Callable[[list[tuple[str, str]]], None],
        heard: Callable[[Chunk], None] = lambda _chunk: None,
        *,
        linger: float = 0.0,
        away: Backoff = _AWAY,
    ) -> None:
        self._port = port
        self._deliver = deliver
        self._lost = lost
        self._heard = heard
        self._linger = linger
        self._asks: list[StepRequest] = []
        self._release: list[str] = []
        self._filled = asyncio.Event()
        self._away = away
        self._losses = self._failures = 0
        self._there = asyncio.Event()
        self._there.set()
        self._broken: Exception | None = None
        self._out: set[tuple[str, str]] = set()
        self._sent: dict[str, set[str]] = {}
        self._tasks = [asyncio.create_task(self._send()), asyncio.create_task(self._receive())]

    def unsent(self, debate_id: str, refs: Sequence[str]) -> list[str]:
        """Which of `refs` this juror was not sent yet; they count as sent from now on."""
        sent = self._sent.setdefault(debate_id, set())
        fresh = [ref for ref in dict.fromkeys(refs) if ref not in sent]
        sent.update(fresh)
        return fresh

    def resend(self, debate_id: str) -> None:
        """No text of the debate counts as sent any more."""
        self._sent.pop(debate_id, None)

    def ask(self, ask: StepRequest) -> None:
        """Send a step on its way."""
        if self._broken is not None:
            self._deliver(StepResult(ask.assignment.debate_id, ask.assignment.step.id, None, self._broken))
            return
        self._asks.append(ask)
        self._out.add((ask.assignment.debate_id, ask.assignment.step.id))
        self._filled.set()

    def release(self, debate_id: str) -> None:
        """The debate is over: the juror may forget it."""
        if self._sent.pop(debate_id, None) is not None:
            self._release.append(debate_id)
            self._filled.set()

    async def close(self) -> None:
        """Stop sending and receiving."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _send(self) -> None:
        while True:
            await self._filled.wait()
            if self._linger:
                await asyncio.sleep(self._linger)
            met = self._losses
            try:
                if not self._there.is_set():
                    await self._port.submit([], [])
                    self._there.set()
                await self._port.submit(*self._take())
            except JurorLost:
                self._lose(met)
                self._failures += 1
                await asyncio.sleep(self._away.delay(self._failures + 1, jitter=1.0, retry_after=None))
            except Exception as error:  # noqa: BLE001  (a juror that cannot come back fails its debates, not the rest)
                self._break(error)

    def _take(self) -> tuple[list[StepRequest], list[str]]:
        size = count = 0
        for ask in self._asks[:_BATCH_ITEMS]:
            size += ask.size
            count += 1
            if size > _BATCH_BYTES:
                break
        batch, self._asks = self._asks[:count], self._asks[count:]
        release, self._release = self._release, []
        if not self._asks and self._there.is_set():
            self._filled.clear()
        return batch, release

    async def _receive(self) -> None:
        life, ack = "", 0
        while True:
            await self._there.wait()
            met = self._losses
            try:
                delivery = await self._port.poll(life, ack)
            except JurorLost:
                life, ack = "", 0
                self._lose(met)
                continue
            except Exception as error:  # noqa: BLE001  (see above)
                self._break(error)
                return
            if life and delivery.life != life:
                self._forget()
            life, ack = delivery.life, delivery.upto
            for item in delivery.items:
                self._failures = 0
                key = (item.debate_id, item.step_id)
                if key not in self._out:
                    continue
                if isinstance(item, Chunk):
                    self._heard(item)
                else:
                    self._out.discard(key)
                    self._deliver(item)

    def _lose(self, met: int) -> None:
        """A call failed that began after `met` losses; the first one to fail tells of the loss, the others meet it."""
        if met != self._losses or not self._there.is_set():
            return
        self._there.clear()
        self._forget()
        self._filled.set()

    def _break(self, error: Exception) -> None:
        """Nobody takes over: whatever this juror was to do has that problem, now and from now on."""
        self._broken = error
        for debate_id, step_id in sorted(self._out):
            self._deliver(StepResult(debate_id, step_id, None, error))
        self._out.clear()
        self._asks.clear()

    def _forget(self) -> None:
        """The juror that takes over knows nothing: all texts must travel again, all steps must be asked again."""
        self._losses += 1
        self._sent.clear()
        self._asks.clear()
        self._release.clear()
        self._filled.clear()
        lost, self._out = sorted(self._out), set()
        if lost:
            self._lost(lost)
