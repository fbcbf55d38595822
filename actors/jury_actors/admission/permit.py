"""What a call asks for before it is made, and what is told of it afterwards. Plain tuples: they travel in batches."""

from typing import NamedTuple

from jury_actors.errors import Halted
from jury_actors.providers.endpoints import Limits
from jury_events.outcome import CallOutcome


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
        input_tokens: what it is likely to send.
        cost: what it can cost at most, in US dollars.
        term: seconds after which it is surely over.
    """

    run: str
    model_class: ModelClass
    limits: Limits
    input_tokens: int
    cost: float
    term: float


class Settlement(NamedTuple):
    """How the call ended. `tokens` None: the provider did not say; `cost` None: not known, so what it could cost."""

    outcome: CallOutcome
    input_tokens: int | None = None
    output_tokens: int | None = None
    retry_after: float | None = None
    cost: float | None = None


class Acquire(NamedTuple):
    """A claim under a number of its holder's. `held`: an earlier desk has granted it already."""

    number: int
    claim: PermitRequest
    held: bool = False


class Release(NamedTuple):
    """A claim that is given back; without a settlement the call was never made."""

    number: int
    settlement: Settlement | None = None


class Departed(NamedTuple):
    """The call that was granted is being made."""

    number: int


class Granted(NamedTuple):
    """The call may be made, or, with a `problem`, never."""

    number: int
    problem: Halted | None = None


class Holder(NamedTuple):
    """Whose claim it is: a client of the desk, and the client's number for it."""

    client: str
    number: int
