"""What the actors are doing now, read from memory and never recorded, and what the log says of a model's last calls.

The log is looked at where a call failed, so that jurors of other processes, and of earlier ones, count as those of this
one: when the model was answered last, how many of its calls failed since.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from jury_actors.background import has_failed
from jury_events.envelope import StoredEvent
from jury_events.outcome import ANSWERS
from jury_store.event_store import EventStore


class ModelLoad(NamedTuple):
    """Calls of one model (`openai/gpt-5`), at least one.

    `calling` are being answered, the oldest one for `seconds`; `waiting` wait for a permit.
    """

    model: str
    calling: int
    waiting: int
    seconds: float = 0.0

    @property
    def provider(self) -> str:
        """The model's provider."""
        return self.model.partition("/")[0]


JurorLoad = tuple[ModelLoad, ...]
"""The calls of one juror that are not over, in the order of the models' names."""


class SeatLoad(NamedTuple):
    """One seat; `juror_id` is None for the final judge.

    `steps` were requested and have no result yet; `queued` messages wait to be sent to its jurors. `calls` is None
    where a juror does not answer now.
    """

    juror_id: str | None
    steps: int
    queued: int
    calls: JurorLoad | None

    def plus(self, other: "SeatLoad") -> "SeatLoad":
        """The same seat over two coordinators."""
        calls = None if self.calls is None or other.calls is None else merged([self.calls, other.calls])
        return SeatLoad(self.juror_id, self.steps + other.steps, self.queued + other.queued, calls)


class RuntimeLoad(NamedTuple):
    """A run, or all, in a runtime: `debates` that are being run, seats, and how many `appends` wait to be stored.

    `queued` and `appends` include those of other runs of the same runtime.
    """

    debates: int
    seats: tuple[SeatLoad, ...]
    appends: int

    def plus(self, other: "RuntimeLoad") -> "RuntimeLoad":
        """The sum over two coordinators, which have the same seats."""
        seats = tuple(one.plus(same) for one, same in zip(self.seats, other.seats, strict=True))
        return RuntimeLoad(self.debates + other.debates, seats, self.appends + other.appends)


@dataclass(eq=False)
class OpenCall:
    """A call while it waits and is made, for who waits for its step (`reply_to`): the context in which it does."""

    calls: "OpenCalls"
    debate_id: str
    step_id: str
    model: str
    reply_to: str
    departed_at: float | None = None

    def depart(self) -> None:
        """It is being made from now on."""
        self.departed_at = self.calls.clock()

    def __enter__(self) -> Self:
        self.calls.open.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.calls.open.discard(self)


@dataclass
class OpenCalls:
    """The calls of one juror that are not over.

    Args:
        clock: seconds.
    """

    clock: Callable[[], float] = time.monotonic
    open: set[OpenCall] = field(default_factory=set)

    def departed(self, debate_id: str) -> frozenset[str]:
        """The steps of a debate whose calls are being made."""
        return frozenset(one.step_id for one in self.open if one.departed_at is not None and one.debate_id == debate_id)

    def load(self, reply_to: str, run_id: str | None) -> JurorLoad:
        """The calls for `reply_to` of a run, whose id begins the ids of its debates; None: of all runs."""
        now, start = self.clock(), "" if run_id is None else f"{run_id}~"
        return merged(
            [
                (ModelLoad(one.model, 0, 1),)
                if one.departed_at is None
                else (ModelLoad(one.model, 1, 0, now - one.departed_at),)
                for one in self.open
                if one.reply_to == reply_to and one.debate_id.startswith(start)
            ]
        )


def merged(loads: Iterable[JurorLoad]) -> JurorLoad:
    """The sum over several jurors."""
    by_model: dict[str, ModelLoad] = {}
    for one in (one for load in loads for one in load):
        sofar = by_model.get(one.model, ModelLoad(one.model, 0, 0))
        by_model[one.model] = ModelLoad(
            one.model,
            sofar.calling + one.calling,
            sofar.waiting + one.waiting,
            max(sofar.seconds, one.seconds),
        )
    return tuple(by_model[model] for model in sorted(by_model))


MOST_UNANSWERED = 10
"""Calls without an answer before the run stops."""

_PAGE = 5_000
_KEPT = 1_000_000
"""Microseconds for which an answer of the log is taken again, since many steps ask; a step waits longer."""

_MARGIN = 15 * 60 * 1_000_000
"""Microseconds by which what earlier processes did is read further back than one step asks, for the others."""


class CalledModel(NamedTuple):
    """A model at a host; None: no host was reached, or it is not known."""

    model: str
    host: str | None


class LoggedCalls(NamedTuple):
    """The newest part of the log.

    `answered_at`: when its last answered call was made, in microseconds since 1970; None: there is none. `failed`: how
    many calls failed since, up to `MOST_UNANSWERED`.
    """

    answered_at: int | None = None
    failed: int = 0

    def answered_after(self, moment: int) -> bool:
        """Whether a call was answered that was made after this time."""
        return self.answered_at is not None and self.answered_at > moment


def logged_calls(store: EventStore, called: CalledModel, since: int, until: int | None = None) -> LoggedCalls:
    """What the log says of a model: read from its end, until a call is found that was made after `since` and answered.

    Else back to `since` (microseconds since 1970), and as far as failed calls are to be counted; what was recorded
    after `until` is passed over.
    """
    events = (event for event in _newest_first(store) if until is None or event.recorded_at <= until)
    return _logged(events, called, since)


def _newest_first(store: EventStore) -> Iterator[StoredEvent]:
    last = store.last_position()
    while last > 0:
        page = store.read_all(after=max(0, last - _PAGE), limit=_PAGE)
        yield from (event for event in reversed(page) if event.position <= last)
        last -= _PAGE


def _logged(events: Iterable[StoredEvent], called: CalledModel, since: int) -> LoggedCalls:
    answered_at, failed, counting = None, 0, True
    name = json.dumps(called.model, ensure_ascii=False).encode()
    for event in events:
        if event.recorded_at <= since and not (counting and failed < MOST_UNANSWERED):
            break
        if event.type != "exchange_recorded" or name not in event.body:
            continue
        try:
            body = json.loads(event.body)
            if (body["model"], body.get("host")) != called:
                continue
            if body["outcome"] not in ANSWERS:
                failed += counting and failed < MOST_UNANSWERED
                continue
            took_ms = body["latency_ms"] if body.get("via") is None else body["via"]["waited_ms"]
            made_at = event.recorded_at - int(took_ms * 1000)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            continue  # jury verify reports an event that cannot be read
        counting, answered_at = False, max(made_at, made_at if answered_at is None else answered_at)
        if answered_at > since:
            break
    return LoggedCalls(answered_at, failed)


class CallLog:
    """The log as jurors ask it.

    Args:
        look: reads it, as `logged_calls`.
        clock: microseconds since 1970; now, this process begins.
    """

    def __init__(
        self, look: Callable[[CalledModel, int, int | None], Awaitable[LoggedCalls]], clock: Callable[[], int]
    ) -> None:
        self._look = look
        self._clock = clock
        self._began = clock()
        self._looked: dict[tuple[CalledModel, bool], tuple[int, int, asyncio.Future[LoggedCalls]]] = {}

    async def of(self, called: CalledModel, since: int, *, earlier: bool = False) -> LoggedCalls:
        """See `logged_calls`; `earlier`: what was recorded before this process began."""
        now = self._clock()
        at, reached, looked = self._looked.get((called, earlier), (0, 0, None))
        if looked is None or has_failed(looked) or reached > since or (now - at > _KEPT and not earlier):
            reached = max(0, since - _MARGIN) if earlier else since
            looked = asyncio.ensure_future(self._look(called, reached, self._began if earlier else None))
            self._looked[called, earlier] = now, reached, looked
        return await asyncio.shield(looked)
