"""Providers that are not called any more before a person acts: the key is refused, the quota is used up, no answer."""

from collections import Counter

from jury_actors.errors import Halted
from jury_events.outcome import CallOutcome
from jury_providers.provider import ModelReply

_HALTS = {
    CallOutcome.AUTHENTICATION: "the provider refuses the key; set one that it accepts",
    CallOutcome.QUOTA: "the provider's quota is used up; raise it, or wait until it is renewed",
}

_UNANSWERED = frozenset({CallOutcome.CONNECTION, CallOutcome.TIMEOUT, CallOutcome.MALFORMED_RESPONSE})

_MOST_UNANSWERED = 10
"""Calls without an answer before a provider's first one; then its address is taken to be wrong."""


class ProviderHalts:
    """What one juror process learned of its providers."""

    def __init__(self) -> None:
        self._halted: dict[str, Halted] = {}
        self._absent: dict[str, Halted] = {}
        self._unanswered: Counter[str] = Counter()
        self._answered: set[str] = set()

    def check(self, provider: str) -> None:
        """Raises `Halted` where the provider is not called any more."""
        if (halted := self._halted.get(provider)) is not None:
            raise halted

    def check_present(self, model: str) -> None:
        """Raises `Halted` where the model's provider never answered; for calls that have no fallback model left."""
        if (absent := self._absent.get(model.partition("/")[0])) is not None:
            raise absent

    def note(self, model: str, reply: ModelReply, *, simulated: bool) -> Halted | None:
        """Learn from a reply; returns the problem where the provider is halted from now on."""
        provider = model.partition("/")[0]
        if not simulated:
            self._note_answer(provider, model, reply)
        if reply.outcome not in _HALTS or provider in self._halted:
            return None
        detail = f": {reply.error}" if reply.error else ""
        halted = self._halted[provider] = Halted(f"{model}: {_HALTS[reply.outcome]}{detail}", about=provider)
        return halted

    def clear(self) -> None:
        """Every debate that was stopped is over; the cause may be mended before the next one begins.

        A provider that never answered gets one more call, not ten.
        """
        self._halted.clear()
        for provider in self._absent:
            self._unanswered[provider] = _MOST_UNANSWERED - 1
        self._absent.clear()

    def _note_answer(self, provider: str, model: str, reply: ModelReply) -> None:
        if reply.outcome not in _UNANSWERED:
            self._answered.add(provider)
        if provider in self._answered:
            return
        self._unanswered[provider] += 1
        if self._unanswered[provider] >= _MOST_UNANSWERED:
            problem = f"{model}: the provider answered none of {_MOST_UNANSWERED} calls, the last: {reply.error}"
            self._absent.setdefault(provider, Halted(f"{problem}; check that it runs, and its address", about=provider))
