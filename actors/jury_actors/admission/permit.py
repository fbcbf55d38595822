"""A permit to call, and the class of models that share a limit."""

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from hashlib import blake2b
from typing import NamedTuple

from jury_actors.errors import Halted
from jury_events.outcome import CallOutcome
from jury_providers.endpoints import Endpoint, Endpoints, Limits, connection_of, endpoint_of
from jury_providers.registry import protocol_of


class ModelClass(NamedTuple):
    """Models that share one grant of a provider: its name, a digest of key and address, a pattern or a model's id."""

    provider: str
    key: str
    models: str


class PermitRequest(NamedTuple):
    """One call that is about to be made.

    Args:
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


_UNLIMITED = Limits()


class ModelClasses:
    """The classes of a run's models; used in the process that has the keys."""

    def __init__(self, endpoints: Endpoints, environ: Mapping[str, str] = os.environ) -> None:
        self._endpoints = endpoints
        self._environ = environ
        self._known: dict[str, tuple[ModelClass, Limits]] = {}

    def of(self, model: str) -> tuple[ModelClass, Limits]:
        """The class of `provider/model`, and its limits; a model without a pattern is its own class."""
        found = self._known.get(model)
        if found is None:
            found = self._known[model] = self._find(model)
        return found

    def _find(self, model: str) -> tuple[ModelClass, Limits]:
        provider, _, name = model.partition("/")
        endpoint = endpoint_of(provider, self._endpoints)
        pattern, limits = limits_of(endpoint, name)
        return ModelClass(provider, self._digest(provider, endpoint), pattern), limits

    def _digest(self, provider: str, endpoint: Endpoint) -> str:
        """Distinguishes keys and addresses without revealing a key."""
        protocol = protocol_of(provider, endpoint)
        if protocol is not None:
            connection = connection_of(provider, protocol, endpoint, self._environ)
            secret = f"{connection.base_url}\0{connection.key}"
        else:
            secret = f"{endpoint.base_url}\0{self._environ.get(endpoint.key_env or '', '')}"
        return blake2b(secret.encode(), digest_size=8, person=b"model class").hexdigest()


def limits_of(endpoint: Endpoint, name: str) -> tuple[str, Limits]:
    """The first pattern that a provider's model matches, with its limits; the name itself where none does."""
    matching = ((pattern, limits) for pattern, limits in endpoint.limits.items() if fnmatchcase(name, pattern))
    return next(matching, (name, _UNLIMITED))
