"""A client of an admission service: waits for permits and releases them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from jury_actors.admission.permit import Acquire, Departed, Grant, PermitRequest, Release, Settlement
from jury_actors.admission.service import AdmissionInterface, Message
from jury_actors.errors import Halted
from jury_actors.mailbox import MailboxClient


class Permit:
    """Permission for one call; `settlement` is its result, None until it was made.

    Args:
        depart: called right before the call is made.
    """

    def __init__(self, depart: Callable[[], None]) -> None:
        self.settlement: Settlement | None = None
        self.depart = depart


class AdmissionClient:
    """One client of a service. After a loss the successor is sent every request that waits or is in use.

    Args:
        service: here or in another process.
        client: a name that no other client has.
    """

    def __init__(self, service: AdmissionInterface, client: str) -> None:
        self._last = 0
        self._waiting: dict[int, tuple[PermitRequest, asyncio.Future[None]]] = {}
        self._used: dict[int, PermitRequest] = {}
        self._departed: set[int] = set()
        self._mailbox: MailboxClient[Message, Grant] = MailboxClient(
            partial(service.submit, client),
            partial(service.poll, client),
            on_item=self._take,
            on_loss=self._outstanding,
            on_error=self._fail,
        )

    @property
    def waiting(self) -> int:
        """How many calls wait for a permit."""
        return len(self._waiting)

    @asynccontextmanager
    async def permit(self, request: PermitRequest) -> AsyncIterator[Permit]:
        """Wait until the call may be made; on leaving, the permit is released with its settlement.

        Raises:
            Halted: it never may.
        """
        if self._mailbox.problem is not None:
            raise self._mailbox.problem
        self._last += 1
        number = self._last
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (request, future)
        self._mailbox.send(Acquire(number, request))
        permit = Permit(partial(self._depart, number, request))
        try:
            await future
            yield permit
        finally:
            self._waiting.pop(number, None)
            self._used.pop(number, None)
            self._departed.discard(number)
            self._mailbox.send(Release(number, permit.settlement))

    def refuse(self, provider: str, problem: Halted) -> None:
        """Fail every request that waits for this provider."""
        for request, future in self._waiting.values():
            if request.model_class.provider == provider and not future.done():
                future.set_exception(problem)

    async def close(self) -> None:
        """Stop sending and receiving."""
        await self._mailbox.close()

    def _depart(self, number: int, request: PermitRequest) -> None:
        limits = request.limits
        if limits.requests_per_minute is not None or limits.tokens_per_minute is not None:
            self._departed.add(number)
            self._mailbox.send(Departed(number))

    def _take(self, grant: Grant) -> None:
        request, future = self._waiting.pop(grant.number, (None, None))
        if request is None or future is None or future.done():
            return
        if grant.problem is not None:
            future.set_exception(grant.problem)
        else:
            self._used[grant.number] = request
            future.set_result(None)

    def _outstanding(self, unconfirmed: list[Message]) -> list[Message]:
        """For a service that knows nothing; one that knows a number ignores its repetition."""
        return [
            *(Acquire(number, request, granted=True) for number, request in self._used.items()),
            *map(Departed, self._departed),
            *(Acquire(number, request) for number, (request, _) in self._waiting.items()),
            *(message for message in unconfirmed if isinstance(message, Release)),
        ]

    def _fail(self, error: Exception) -> None:
        for _, future in self._waiting.values():
            if not future.done():
                future.set_exception(error)
