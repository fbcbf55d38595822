"""Messages of admission: a request before a call, its settlement afterwards. Plain tuples: they travel in batches."""

from typing import NamedTuple

from jury_actors.errors import Halted
from jury_events.outcome import CallOutcome
from jury_providers.endpoints import Limits


class ModelClass(NamedTuple):
    """Models that share one grant of a provider: its name, a digest of key and address, a pattern or a model's id."""

    provider: str
    key: str
    models: str


class PermitRequest(NamedTuple):
    """One call that is about to be made.

    Args:
        run: calls of different runs take turns.
        model_class: whose limits it counts against.
        limits: of that class.
        input_tokens: the estimate of what it sends.
        cost: the most that it can cost, in US dollars.
        term: seconds after which it is certainly over.
    """

    run: str
    model_class: ModelClass
    limits: Limits
    input_tokens: int
    cost: float
    term: float


class Settlement(NamedTuple):
    """How the call ended. `…_tokens` None: not reported; `cost` None: unknown, the request's cost is assumed."""

    outcome: CallOutcome
    input_tokens: int | None = None
    output_tokens: int | None = None
    retry_after: float | None = None
    cost: float | None = None


class Acquire(NamedTuple):
    """A request under a number of its client's. `granted`: by an earlier incarnation of the service."""

    number: int
    request: PermitRequest
    granted: bool = False


class Release(NamedTuple):
    """The end of a request; without a settlement the call was never made."""

    number: int
    settlement: Settlement | None = None


class Departed(NamedTuple):
    """The call that was granted is being made."""

    number: int


class Grant(NamedTuple):
    """The call may be made, or, with a `problem`, never."""

    number: int
    problem: Halted | None = None


class PermitHolder(NamedTuple):
    """The client that made a request, and the client's number for it."""

    client: str
    number: int
