"""What happened in a run during the last minute, from the newest events of the log."""

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from jury_events.envelope import StoredEvent
from jury_events.ids import CALLS_PREFIX, DEBATE_PREFIX, OF_NO_DEBATE, stream_debate
from jury_store.debate_rows import ENDED
from jury_store.event_store import EventStore
from jury_store.projection import opened_run

WINDOW = 60.0
"""Seconds."""

_MOST_EVENTS = 5000
"""Events that are read at once; where more came, the window begins with the oldest of them."""

_SECOND = 1_000_000
_ENDINGS = frozenset(f"debate_{status}" for status in ENDED)
_ANSWERED = "answered"


@dataclass(frozen=True, kw_only=True)
class ProviderCalls:
    """Recent calls of one provider; `failed` gave no answer. Latencies in seconds."""

    provider: str
    calls: int
    failed: int
    mean_latency: float
    longest_latency: float


@dataclass(frozen=True, kw_only=True)
class RecentCalls:
    """What was recorded of a run in the last `seconds` (at most `WINDOW`).

    `retries` are calls after a failed attempt. `cost` in US dollars, without the `unknown_cost` calls of unknown cost.
    `slowest_provider` has the largest mean latency; None without a call.
    """

    seconds: float
    debates_ended: int
    calls: int
    retries: int
    abstentions: int
    cost: float
    unknown_cost: int
    providers: tuple[ProviderCalls, ...]

    @property
    def debates_per_second(self) -> float | None:
        """None over no time."""
        return self.debates_ended / self.seconds if self.seconds > 0 else None

    @property
    def calls_per_second(self) -> float | None:
        """None over no time."""
        return self.calls / self.seconds if self.seconds > 0 else None

    @property
    def slowest_provider(self) -> str | None:
        """By mean latency, then by name."""
        slowest = min(self.providers, key=lambda one: (-one.mean_latency, one.provider), default=None)
        return None if slowest is None else slowest.provider


class _Call(NamedTuple):
    at: int
    provider: str
    answered: bool
    retry: bool
    latency: float | None
    cost: float | None


class _Turn(NamedTuple):
    at: int
    ended: bool


class RecentEvents:
    """Follows the log; each `look` reads only what is new.

    Args:
        run_id: the run; a fork of one of its debates is not of the run.
    """

    def __init__(self, store: EventStore, run_id: str) -> None:
        self._store = store
        self._run_id = run_id
        self._is_of_run: dict[str, bool] = {}
        self._position: int | None = None
        self._from = 0
        self._found: deque[_Call | _Turn] = deque()

    def look(self, now: int, began: int) -> RecentCalls:
        """The last minute before `now`, and not before `began`; both in µs since 1970-01-01 UTC."""
        self._read()
        begin = max(now - int(WINDOW * _SECOND), began, self._from)
        while self._found and self._found[0].at < now - WINDOW * _SECOND:
            self._found.popleft()
        inside = [one for one in self._found if one.at >= begin]
        return _summary(inside, max(0, now - begin) / _SECOND)

    def _read(self) -> None:
        last = self._store.last_position()
        first = self._position is None
        position = 0 if self._position is None else self._position
        skipped = last - position > _MOST_EVENTS
        if skipped:
            position = last - _MOST_EVENTS
            self._found.clear()
        events = self._store.read_all(after=position, limit=_MOST_EVENTS)
        if skipped and events:
            self._from = events[0].recorded_at
        if events or first:
            self._position = events[-1].position if events else position
        self._found += self._of_run(events)

    def _of_run(self, events: Iterable[StoredEvent]) -> Iterator[_Call | _Turn]:
        for event in events:
            if event.stream.startswith(OF_NO_DEBATE) or not self._of_this_run(event):
                continue
            if event.stream.startswith(CALLS_PREFIX) and event.type == "exchange_recorded":
                if (call := _call(event)) is not None:
                    yield call
            elif event.stream.startswith(DEBATE_PREFIX):
                if event.type in _ENDINGS:
                    yield _Turn(event.recorded_at, ended=True)
                elif event.type == "juror_abstained":
                    yield _Turn(event.recorded_at, ended=False)

    def _of_this_run(self, event: StoredEvent) -> bool:
        """Whether the debate was opened in the run; what opened before the first look is asked of the store."""
        debate_id = stream_debate(event.stream)
        if event.type == "debate_opened":
            self._is_of_run[debate_id] = opened_run(event) == self._run_id
        elif debate_id not in self._is_of_run:
            row = self._store.debate(debate_id)
            self._is_of_run[debate_id] = row is not None and row.run_id == self._run_id
        return self._is_of_run[debate_id]


def _call(event: StoredEvent) -> _Call | None:
    """A call; None where its body cannot be read, which `jury verify` reports."""
    try:
        body = json.loads(event.body)
        cost = body.get("cost")
        return _Call(
            event.recorded_at,
            str(body["model"]).partition("/")[0],
            body["outcome"] == _ANSWERED,
            int(body["attempt"]) > 1,
            None if "via" in body else float(body["latency_ms"]) / 1000,
            None if cost is None else float(cost),
        )
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def _summary(found: list[_Call | _Turn], seconds: float) -> RecentCalls:
    calls = [one for one in found if isinstance(one, _Call)]
    turns = [one for one in found if isinstance(one, _Turn)]
    by_provider = groupby(sorted(calls, key=lambda one: one.provider), key=lambda one: one.provider)
    return RecentCalls(
        seconds=seconds,
        debates_ended=sum(one.ended for one in turns),
        calls=len(calls),
        retries=sum(one.retry for one in calls),
        abstentions=sum(not one.ended for one in turns),
        cost=sum(one.cost for one in calls if one.cost is not None),
        unknown_cost=sum(one.cost is None for one in calls),
        providers=tuple(_of_provider(provider, list(some)) for provider, some in by_provider),
    )


def _of_provider(provider: str, calls: list[_Call]) -> ProviderCalls:
    # A call in a batch has none.
    latencies = [one.latency for one in calls if one.latency is not None] or [0.0]
    return ProviderCalls(
        provider=provider,
        calls=len(calls),
        failed=sum(not one.answered for one in calls),
        mean_latency=sum(latencies) / len(latencies),
        longest_latency=max(latencies),
    )
