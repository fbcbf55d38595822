"""What the actors are doing now: figures for people who watch a run, read from memory and never recorded."""

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple, Self


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


class OpenCall:
    """A call that waits to be made, as the context in which it does."""

    def __init__(self, calls: "OpenCalls", debate_id: str, step_id: str, model: str, reply_to: str) -> None:
        self._calls = calls
        self.debate_id = debate_id
        self.step_id = step_id
        self.model = model
        self.reply_to = reply_to
        self.departed_at: float | None = None

    def depart(self) -> None:
        """It is being made from now on."""
        self.departed_at = self._calls.clock()

    def __enter__(self) -> Self:
        self._calls.open.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._calls.open.discard(self)


class OpenCalls:
    """The calls of one juror that are not over.

    Args:
        clock: seconds.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.open: set[OpenCall] = set()

    def call(self, debate_id: str, step_id: str, model: str, reply_to: str) -> OpenCall:
        """A context that counts a call while it waits and is made, for who waits for its step (`reply_to`)."""
        return OpenCall(self, debate_id, step_id, model, reply_to)

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
