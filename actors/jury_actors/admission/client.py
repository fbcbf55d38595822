"""A client's end of a desk: a claim is waited for, a permit given back; what is said at one time travels together."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from jury_actors.admission.permit import Acquire, Departed, PermitRequest, Release, Settlement
from jury_actors.admission.service import AdmissionInterface, Message
from jury_actors.errors import Halted


class DeskLost(Exception):
    """The desk's process died and another takes its place; it knows nothing."""


class Permit:
    """Leave to make one call; `settlement` is how it went, None for as long as it was not made.

    Args:
        leave: called right before the call is made.
    """

    def __init__(self, leave: Callable[[], None]) -> None:
        self.settlement: Settlement | None = None
        self.leave = leave


class AdmissionClient:
    """One client of a desk. When the desk dies, the next one is told everything that waits or is in use.

    Args:
        port: the desk. A call that raises `DeskLost` means that another took its place.
        client: a name that no other client has.
    """

    def __init__(self, port: AdmissionInterface, client: str) -> None:
        self._port = port
        self._client = client
        self._last = 0
        self._waiting: dict[int, tuple[PermitRequest, asyncio.Future[None]]] = {}
        self._used: dict[int, PermitRequest] = {}
        self._sent: set[int] = set()
        self._messages: list[Message] = []
        self._filled = asyncio.Event()
        self._broken: Exception | None = None
        self._tasks = [asyncio.create_task(self._send()), asyncio.create_task(self._receive())]

    @asynccontextmanager
    async def permit(self, claim: PermitRequest) -> AsyncIterator[Permit]:
        """Wait until the call may be made; on leaving, it is given back with its settlement.

        Raises:
            Halted: it never may.
        """
        if self._broken is not None:
            raise self._broken
        self._last += 1
        number = self._last
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (claim, future)
        self._tell(Acquire(number, claim))
        permit = Permit(partial(self._leave, number, claim))
        try:
            await future
            yield permit
        finally:
            self._waiting.pop(number, None)
            self._used.pop(number, None)
            self._sent.discard(number)
            self._tell(Release(number, permit.settlement))

    def refuse(self, provider: str, problem: Halted) -> None:
        """Nothing that waits for this provider has to wait any more."""
        for claim, future in self._waiting.values():
            if claim.model_class.provider == provider and not future.done():
                future.set_exception(problem)

    async def close(self) -> None:
        """Stop sending and receiving."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _leave(self, number: int, claim: PermitRequest) -> None:
        limits = claim.limits
        if limits.requests_per_minute is not None or limits.tokens_per_minute is not None:
            self._sent.add(number)
            self._tell(Departed(number))

    def _tell(self, message: Message) -> None:
        self._messages.append(message)
        self._filled.set()

    async def _send(self) -> None:
        while True:
            await self._filled.wait()
            self._filled.clear()
            messages, self._messages = self._messages, []
            try:
                await self._port.submit(self._client, messages)
            except DeskLost:
                self._tell_all()
                # Whether these arrived is not known; a desk that does not know the number passes over them.
                self._messages += [message for message in messages if isinstance(message, Release)]
            except Exception as error:  # noqa: BLE001  (everyone who waits gets it)
                self._break(error)

    async def _receive(self) -> None:
        life, ack = "", 0
        while True:
            try:
                delivery = await self._port.poll(self._client, life, ack)
            except DeskLost:
                life, ack = "", 0
                self._tell_all()
                continue
            except Exception as error:  # noqa: BLE001  (see above)
                self._break(error)
                return
            if life and delivery.life != life:
                self._tell_all()
            life, ack = delivery.life, delivery.upto
            for granted in delivery.items:
                claim, future = self._waiting.pop(granted.number, (None, None))
                if claim is None or future is None or future.done():
                    continue
                if granted.problem is not None:
                    future.set_exception(granted.problem)
                else:
                    self._used[granted.number] = claim
                    future.set_result(None)

    def _tell_all(self) -> None:
        """To a desk that knows nothing; one that knows some of it takes the rest."""
        backs = [message for message in self._messages if isinstance(message, Release)]
        self._messages = [Acquire(number, claim, held=True) for number, claim in self._used.items()]
        self._messages += map(Departed, self._sent)
        self._messages += [Acquire(number, claim) for number, (claim, _) in self._waiting.items()]
        self._messages += backs
        self._filled.set()

    def _break(self, error: Exception) -> None:
        self._broken = error
        for _, future in self._waiting.values():
            if not future.done():
                future.set_exception(error)
