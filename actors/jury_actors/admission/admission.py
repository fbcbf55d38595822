"""Admission of a juror's calls: permits of the budget, then of the limiter, and their settlement."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import date

from jury_actors.admission.client import AdmissionClient, Permit
from jury_actors.admission.model_class import ModelClasses
from jury_actors.admission.permit import PermitRequest, Settlement
from jury_actors.errors import Halted
from jury_actors.observation.metric_list import QUEUE_LENGTH
from jury_actors.observation.observer import UNOBSERVED, Observer
from jury_events.outcome import CallOutcome
from jury_providers.prices import Prices
from jury_providers.provider import ModelReply, ModelRequest
from jury_providers.tokens import estimated_tokens, request_bytes, request_pictures, token_upper_bound

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
        run_id: whose calls they are.
        classes: of models that share limits.
        prices: for the highest cost of a call.
        limiter: None where no provider of the run is limited.
        budget: None where the run is unbounded.
        observer: gets reports of permits.
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
            model: that is called.
            request: the call.
            limited: its provider is rate-limited.
            on: the day of the prices.
            keeps_limit: no answer is longer than the call says.

        Raises:
            Halted: it never may.
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
