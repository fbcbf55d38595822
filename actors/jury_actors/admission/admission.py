"""What a call waits for before it is sent: permits of the limiter, asked for in batches."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import date
from functools import partial

from jury_actors.admission.permit import Acquire, Departed, Grant, ModelClasses, PermitRequest, Release, Settlement
from jury_actors.admission.service import AdmissionInterface, Message
from jury_actors.errors import Halted
from jury_actors.mailbox import MailboxClient
from jury_actors.observation.observer import UNOBSERVED, Observer
from jury_actors.observation.tallies import QUEUE_LENGTH
from jury_events.outcome import CallOutcome
from jury_providers.prices import Prices
from jury_providers.provider import (
    ModelReply,
    ModelRequest,
    estimated_tokens,
    request_bytes,
    request_pictures,
    token_upper_bound,
)


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
        """Wait until the call may be made; on leaving, the permit is released with its settlement."""
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


_LATER = 60.0
"""Seconds beyond twice its timeout after which a call with a permit is certainly over."""


class Admitted:
    """A call that may be made: `depart` right before it, `settle` after it."""

    def __init__(self, permits: list[Permit]) -> None:
        self._permits = permits

    def depart(self) -> None:
        """The call is being made; without a settlement it is assumed to have cost what it can cost."""
        for permit in self._permits:
            permit.settlement = Settlement(CallOutcome.CONNECTION)
            permit.depart()

    def settle(self, reply: ModelReply, cost: float | None) -> None:
        """The call was made; `cost` in US dollars, None: unknown."""
        usage = reply.usage
        settlement = Settlement(reply.outcome, usage.input_tokens, usage.output_tokens, reply.retry_after, cost)
        for permit in self._permits:
            permit.settlement = settlement


class Admission:
    """Requests permits for calls.

    Args:
        limiter: None where no provider of the run is limited.
        budget: None where the run is unbounded.
    """

    def __init__(
        self,
        run_id: str,
        classes: ModelClasses,
        prices: Prices,
        *,
        limiter: AdmissionClient | None = None,
        budget: AdmissionClient | None = None,
        observer: Observer = UNOBSERVED,
    ) -> None:
        self._observer = observer
        self._run_id = run_id
        self._classes = classes
        self._prices = prices
        self._limiter = limiter
        self._budget = budget
        self._beyond: dict[str, int] = {}
        """By how many tokens answers went beyond their limit, by model; 0: one was within it."""
        self._alone: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        observer.gauge(QUEUE_LENGTH, lambda: [(("permits",), sum(one.waiting for one in self._services))])

    @asynccontextmanager
    async def admit(
        self, model: str, request: ModelRequest, *, limited: bool, on: date, keeps_limit: bool = True
    ) -> AsyncIterator[Admitted]:
        """Wait until the call may be made.

        Where the budget has a bound and answers may be longer than a call says, calls of the model are made one by one
        until one was answered: so one call alone can cost more than was reserved for it.

        Args:
            keeps_limit: no answer is longer than the call says.
        """
        services = [one for one in (self._budget, self._limiter if limited else None) if one is not None]
        if not services:
            yield Admitted([])
            return
        began = time.perf_counter()
        async with AsyncExitStack() as stack:
            if not keeps_limit and self._budget is not None and model not in self._beyond:
                await stack.enter_async_context(self._measured(model))
            wanted = self._permit_request(model, request, on)
            permits = [await stack.enter_async_context(one.permit(wanted)) for one in services]
            self._observer.permit_granted(model, time.perf_counter() - began)
            yield Admitted(permits)
            self._note_length(model, request, permits[0].settlement)

    @asynccontextmanager
    async def _measured(self, model: str) -> AsyncIterator[None]:
        """Alone, unless an answer of the model came while this waited."""
        async with self._alone[model]:
            if model not in self._beyond:
                yield
                return
        yield

    def refuse(self, provider: str, problem: Halted) -> None:
        """Fail the calls that wait for the provider."""
        for service in self._services:
            service.refuse(provider, problem)

    async def close(self) -> None:
        """Close the clients."""
        for service in self._services:
            await service.close()

    def _note_length(self, model: str, request: ModelRequest, settlement: Settlement | None) -> None:
        """Remember how far an answer went beyond its limit: some providers do not count thoughts against it."""
        if settlement is not None and settlement.output_tokens is not None:
            beyond = settlement.output_tokens - request.settings.max_output_tokens
            self._beyond[model] = max(beyond, self._beyond.get(model, 0))

    @property
    def _services(self) -> list[AdmissionClient]:
        return [one for one in (self._budget, self._limiter) if one is not None]

    def _permit_request(self, model: str, request: ModelRequest, on: date) -> PermitRequest:
        size, pictures = request_bytes(request), request_pictures(request)
        most = token_upper_bound(size, pictures, request.model)
        model_class, limits = self._classes.of(model)
        settings, beyond = request.settings, self._beyond.get(model, 0)
        if beyond:
            settings = settings.changed(max_output_tokens=settings.max_output_tokens + beyond)
        return PermitRequest(
            run=self._run_id,
            model_class=model_class,
            limits=limits,
            input_tokens=estimated_tokens(size, pictures),
            cost=self._prices.upper_bound(model, most, settings, on) or 0.0,
            term=2 * request.settings.attempt_seconds + _LATER,
        )
