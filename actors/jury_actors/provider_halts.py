"""Providers that refuse every call: when to stop asking; what is assumed of models from recorded failures.

Laws. A step whose last model failed is concluded only after that model answered a call that was made after the failure:
so nothing that keeps a provider from answering at all decides a debate. Where the cause may pass, the model is asked
again first. Without such an answer the step waits while another step of that provider is under way; then its debate
stops unfinished, and after ten calls without one answer the run.

An assumption is made only where nothing that the provider reported is known to mean something else. A request
that is at least twice as long as the longest that was answered counts as too long, once a case: if a shorter one gets
the same, it was a bad request. A limit of which nothing was answered for 15 minutes is a quota. One request that is
forbidden after others were answered is blocked; before, the key is refused.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from jury_actors.errors import Halted, Unsettled
from jury_actors.load import MOST_UNANSWERED, LoggedCalls
from jury_debate.conversation import UnsettledFailure
from jury_events.exchange import ExchangeRecorded
from jury_events.outcome import ANSWERS, CallOutcome, FailureReason
from jury_providers.provider import ModelReply

FORBIDDEN = 403
_BAD_REQUEST = 400
_LONGER = 2
_LIMITED_SECONDS = 15 * 60
_SECOND = 1_000_000


def _taken(reply: ModelReply, outcome: CallOutcome, why: str) -> ModelReply:
    said = f"{reply.error or 'no reason given'} (taken for {outcome.value.replace('_', ' ')}: {why})"
    return reply._replace(outcome=outcome, error=said, understood=False)


_HALTS = {
    CallOutcome.AUTHENTICATION: "the provider refuses the key, or the account; set a key that it accepts",
    CallOutcome.QUOTA: "the provider's quota is used up; raise it, or wait until it is renewed",
}

_BUSY = frozenset({CallOutcome.RATE_LIMITED, CallOutcome.OVERLOADED})
"""The provider is there, and may answer the next try."""

_MAY_PASS = frozenset(
    {
        FailureReason.RATE_LIMITED,
        FailureReason.OVERLOADED,
        FailureReason.TIMEOUT,
        FailureReason.CONNECTION,
        FailureReason.MALFORMED_RESPONSE,
    }
)
"""After an answer to another call the same request may be answered too; other refusals are of the request."""

PATIENCE = 2.0
"""Between the end of debates and the beginning of the next ones the store is written."""


class FailedBefore(NamedTuple):
    """A failure that an earlier process left unsettled, with the last exchange of its calls, recorded at that time."""

    unsettled: UnsettledFailure
    exchange: ExchangeRecorded
    recorded_at: int


@dataclass
class AskedModel:
    """The calls of one model: whether any was answered; the last answered one, by the number of its departure; how many
    failed since; of these, how many found no server, which may be there at the next try.

    `longest`: bytes of the longest request that was answered; `limited_since`: µs since 1970; `too_long`: debates of
    which a request was taken for too long.
    """

    answered: bool = False
    last_answer: int = -1
    failed: int = 0
    unreached: int = 0
    said: str = "no reason given"
    longest: int = 0
    limited_since: int | None = None
    too_long: set[str] = field(default_factory=set)


class ProviderHalts:
    """What the jurors of one process learned, and what they assume of failures that are not understood.

    `departures`: how many calls they have made.

    Args:
        patience: seconds for which a debate may begin whose calls are answered, where no other is under way.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._debates: Counter[str] = Counter()
        self._unsettled: Counter[str] = Counter()
        self._halted: dict[str, Halted] = {}
        self._calls: defaultdict[str, AskedModel] = defaultdict(AskedModel)
        self._under_way: Counter[str] = Counter()
        self.departures = 0
        self._changed: asyncio.Event | None = None

    def calls_of(self, model: str) -> AskedModel:
        """What is known of a model's calls."""
        return self._calls[model]

    def check(self, model: str, *, last: bool = False) -> None:
        """Raises `Halted` where the model's provider is not called any more.

        `last`: no fallback model is left. Then also where the model never answered.
        """
        if self._halted and (halted := self._halted.get(_provider(model))) is not None:
            raise halted
        if last and not (calls := self._calls[model]).answered and calls.unreached >= MOST_UNANSWERED:
            raise _absent(model, calls)

    def depart(self) -> int:
        """The number of a call that is made now; calls that are made later have higher ones."""
        self.departures += 1
        return self.departures

    def note(self, model: str, reply: ModelReply, departed: int | None) -> Halted | None:
        """Learn from a reply; returns the problem where the provider is halted from now on.

        `departed`: the number of the call; None: no provider was asked.
        """
        calls, provider = self._calls[model], _provider(model)
        if departed is None:
            pass
        elif reply.outcome in ANSWERS or (reply.outcome is CallOutcome.BLOCKED and reply.status is None):
            calls.answered, calls.failed, calls.unreached = True, 0, 0
            calls.last_answer = max(calls.last_answer, departed)
        else:
            calls.failed += 1
            calls.unreached += reply.outcome not in _BUSY
            calls.said = reply.error or calls.said
        self._wake()
        if reply.outcome not in _HALTS or provider in self._halted:
            return None
        detail = f": {reply.error}" if reply.error else ""
        halted = self._halted[provider] = Halted(f"{model}: {_HALTS[reply.outcome]}{detail}", about=provider)
        return halted

    def taken_for(self, reply: ModelReply, model: str, *, length: int, debate_id: str, now: int) -> ModelReply:
        """The reply with the outcome that it is taken for.

        Args:
            length: bytes of the texts of the request.
            now: µs since 1970.
        """
        known, outcome = self._calls[model], reply.outcome
        if outcome in ANSWERS:
            known.longest, known.limited_since = max(known.longest, length), None
        elif outcome is CallOutcome.RATE_LIMITED:
            known.limited_since = now if known.limited_since is None else known.limited_since
            if now - known.limited_since >= _LIMITED_SECONDS * _SECOND:
                return _taken(reply, CallOutcome.QUOTA, "no answer for 15 minutes")
        elif reply.understood:
            pass
        elif outcome is CallOutcome.AUTHENTICATION and reply.status == FORBIDDEN and known.answered:
            return _taken(reply, CallOutcome.BLOCKED, "other requests were answered")
        elif outcome is CallOutcome.BAD_REQUEST and reply.status == _BAD_REQUEST:
            much_longer = known.longest and length >= _LONGER * known.longest
            if much_longer and debate_id not in known.too_long:
                known.too_long.add(debate_id)
                return _taken(reply, CallOutcome.CONTEXT_TOO_LONG, "no request half as long was refused")
        return reply

    def recall(self, failed: Sequence[ExchangeRecorded], debate_id: str) -> None:
        """Learn from the log of an earlier process; after ten recorded failures one more call is made, not ten."""
        for exchange in failed:
            calls = self._calls[exchange.model]
            if calls.last_answer < 0 and exchange.outcome not in ANSWERS:
                calls.failed = min(calls.failed + 1, MOST_UNANSWERED - 1)
            if exchange.outcome is CallOutcome.CONTEXT_TOO_LONG and exchange.failed and not exchange.failed.understood:
                calls.too_long.add(debate_id)

    def begin(self, providers: Iterable[str]) -> None:
        """A step is under way that may ask models of these providers, until `end`."""
        for provider in providers:
            self._under_way[provider] += 1

    def end(self, providers: Iterable[str]) -> None:
        """A step that may ask models of these providers is over."""
        for provider in providers:
            self._under_way[provider] -= 1
        self._wake()

    @contextmanager
    def _waiting(self, providers: Collection[str], debate_id: str) -> Iterator[None]:
        self._under_way.subtract(providers)
        self._unsettled[debate_id] += 1
        self._wake()
        try:
            yield
        finally:
            self._under_way.update(providers)
            _count_down(self._unsettled, debate_id)

    def _may_be_answered(self, provider: str) -> bool:
        """Whether a call to the provider is under way, or a debate that does not wait may make one."""
        return self._under_way[provider] > 0 or any(debate not in self._unsettled for debate in self._debates)

    async def _changes(self, provider: str, *, looks: bool) -> bool:
        """Wait until something changes; False where an answer cannot come, and no debate begins either.

        `looks`: something may change in other processes, too.
        """
        self._changed = self._changed or asyncio.Event()
        changed, comes = self._changed.wait(), self._may_be_answered(provider)
        if comes and not looks:
            return await changed
        with suppress(TimeoutError):
            return await asyncio.wait_for(changed, self._patience)
        return comes

    async def asks_again(
        self,
        unsettled: UnsettledFailure,
        since: int,
        providers: Collection[str],
        debate_id: str,
        *,
        asked_before: bool,
        elsewhere: Callable[[], Awaitable[LoggedCalls]] | None = None,
    ) -> bool:
        """Whether a step asks again, once its model answered a call that was made after `since`; or it concludes.

        Args:
            since: the number of the last departure before the failure.
            asked_before: it was asked again after such an answer already.
            elsewhere: looks at the log for calls that were made after the failure, where other processes make some.
        """
        calls, provider = self._calls[unsettled.model], _provider(unsettled.model)
        with self._waiting(providers, debate_id):
            waits = True
            while calls.last_answer <= since:
                self.check(unsettled.model)
                logged = LoggedCalls() if elsewhere is None else await elsewhere()
                if logged.answered_at is not None:
                    calls.answered = True
                    break
                if max(calls.failed, logged.failed) >= MOST_UNANSWERED:
                    raise _absent(unsettled.model, calls)
                if not waits:
                    raise Unsettled(unsettled.model, calls.said)
                waits = await self._changes(provider, looks=elsewhere is not None)
        return unsettled.reason in _MAY_PASS and not asked_before

    def enter(self, debate_id: str) -> None:
        """A juror begins with a debate.

        Where there is no other, those that were stopped are over, and the cause may be mended: a provider that was
        halted is called again, and a model that answered no call gets one more, not ten.
        """
        if not self._debates:
            self._halted.clear()
            for calls in self._calls.values():
                calls.failed = min(calls.failed, MOST_UNANSWERED - 1)
                calls.unreached = min(calls.unreached, MOST_UNANSWERED - 1)
        self._debates[debate_id] += 1

    def leave(self, debate_id: str) -> None:
        """A juror is through with a debate."""
        if not _count_down(self._debates, debate_id):
            for calls in self._calls.values():
                calls.too_long.discard(debate_id)
        self._wake()

    def _wake(self) -> None:
        """Have the steps that wait look again; most of the time there is none."""
        if self._changed is not None:
            self._changed.set()
            self._changed = None


def asks_again_after(before: FailedBefore, *, answered: bool) -> bool:
    """Whether a step that failed in an earlier process asks again, or concludes.

    It concludes if the log shows that the model answered a call that was made after the failure, and the cause is one
    that does not pass.
    """
    return not answered or before.unsettled.reason in _MAY_PASS


def _absent(model: str, calls: AskedModel) -> Halted:
    problem = f"{model}: the provider answered none of {MOST_UNANSWERED} calls, the last: {calls.said}"
    return Halted(f"{problem}; check that it runs, its address, and the panel's settings", about=_provider(model))


def _count_down(counts: Counter[str], name: str) -> int:
    counts[name] -= 1
    left = counts[name]
    if not left:
        del counts[name]
    return left


def _provider(model: str) -> str:
    return model.partition("/")[0]
