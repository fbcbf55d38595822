"""A juror's way to its calls: the budget first, then the provider's limits; afterwards what the call came to."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import date

from jury_actors.admission.client import AdmissionClient, Permit
from jury_actors.admission.model_class import ModelClasses
from jury_actors.admission.permit import PermitRequest, Settlement
from jury_actors.errors import Halted
from jury_actors.prices import Prices
from jury_actors.providers.provider import ModelReply, ModelRequest
from jury_actors.tokens import likely_tokens, most_tokens, request_bytes, request_pictures
from jury_events.outcome import CallOutcome

_LATER = 60.0
"""Seconds beyond twice its timeout after which a call that has its permit is surely over."""


class Admitted:
    """A call that may be made: `leave` tells that it is being made, `settle` what it came to."""

    def __init__(self, permits: list[Permit]) -> None:
        self._permits = permits

    def leave(self) -> None:
        """The call is being made: should nobody hear what it came to, it may have cost what it can cost."""
        for permit in self._permits:
            permit.settlement = Settlement(CallOutcome.CONNECTION)
            permit.leave()

    def settle(self, reply: ModelReply, cost: float | None) -> None:
        """The call was made; `cost` in US dollars, None: unknown."""
        usage = reply.usage
        settlement = Settlement(reply.outcome, usage.input_tokens, usage.output_tokens, reply.retry_after, cost)
        for permit in self._permits:
            permit.settlement = settlement


class Admission:
    """What a call needs before it is made.

    Args:
        run_id: whose calls they are.
        classes: which models share limits.
        prices: for what a call can cost.
        limiter: None: no provider of the run is limited.
        budget: None: the run may spend what it needs.
    """

    def __init__(
        self,
        run_id: str,
        classes: ModelClasses,
        prices: Prices,
        *,
        limiter: AdmissionClient | None = None,
        budget: AdmissionClient | None = None,
    ) -> None:
        self._run_id = run_id
        self._classes = classes
        self._prices = prices
        self._limiter = limiter
        self._budget = budget

    @asynccontextmanager
    async def admit(self, model: str, request: ModelRequest, *, limited: bool, on: date) -> AsyncIterator[Admitted]:
        """Wait until the call may be made; `limited` says whether its provider is.

        Raises:
            Halted: it never may.
        """
        desks = [desk for desk in (self._budget, self._limiter if limited else None) if desk is not None]
        if not desks:
            yield Admitted([])
            return
        claim = self._claim(model, request, on)
        async with AsyncExitStack() as stack:
            yield Admitted([await stack.enter_async_context(desk.permit(claim)) for desk in desks])

    def refuse(self, provider: str, problem: Halted) -> None:
        """No call to the provider that waits has to wait any more."""
        for desk in self._desks:
            desk.refuse(provider, problem)

    async def close(self) -> None:
        """Leave the desks."""
        for desk in self._desks:
            await desk.close()

    @property
    def _desks(self) -> list[AdmissionClient]:
        return [desk for desk in (self._budget, self._limiter) if desk is not None]

    def _claim(self, model: str, request: ModelRequest, on: date) -> PermitRequest:
        size, pictures = request_bytes(request), request_pictures(request)
        most = most_tokens(size, pictures, request.model)
        model_class, limits = self._classes.of(model)
        return PermitRequest(
            run=self._run_id,
            model_class=model_class,
            limits=limits,
            input_tokens=likely_tokens(size, pictures),
            cost=self._prices.most(model, most, request.settings, on) or 0.0,
            term=2 * request.settings.timeout_seconds + _LATER,
        )
