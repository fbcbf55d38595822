"""Calls to an actor on Ray, and what is lost when it dies.

Arguments and results are pickled here: for plain values Ray's cloudpickle takes three times as long.
"""

import asyncio
import pickle
import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, ParamSpec, TypeVar, cast

from ray.exceptions import ActorDiedError, ActorUnavailableError, OutOfMemoryError, RayError, RayTaskError

from jury_actors.effects import Backoff
from jury_actors.errors import ClusterLost
from jury_actors.mailbox import IncarnationLost
from jury_events.errors import JuryError

_NODE = re.compile(
    r"Memory on the node \(IP: (?P<ip>[^,]+), ID: (?P<id>\w{8})\w*\) was (?P<used>.+?) used / (?P<all>\S+)"
)
_LIMIT = re.compile(r"exceeded threshold of \S+ \((?P<share>[\d.]+%)")
_MOST = 300
"""Characters."""


def loss_reason(error: RayError) -> str:
    """What happened, and what to do where Ray ended the process because its node was short of memory."""
    text = str(error)
    if isinstance(error, OutOfMemoryError):
        return _short_of_memory(text)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("\t")]
    return " ".join(lines)[:_MOST] or type(error).__name__


def _short_of_memory(text: str) -> str:
    node, limit = _NODE.search(text), _LIMIT.search(text)
    where = f"on the node {node['ip']} ({node['id']})" if node else "on its node"
    share = f", the limit is {limit['share']}" if limit else ""
    used = f" ({node['used']} of {node['all']} used{share})" if node else ""
    return (
        f"Ray killed it because memory {where} was short{used}; run fewer debates at once there (--concurrency), end "
        "other processes, or raise the limit (RAY_memory_usage_threshold, before `ray start` on that node)"
    )


P = ParamSpec("P")
T = TypeVar("T")

_AWAY = Backoff(base=0.2, cap=2.0)
"""Seconds between calls of a process that cannot be reached."""


def pack(value: object) -> bytes:
    """Pickle arguments or a result."""
    return pickle.dumps(value, protocol=5)


def unpack(packed: bytes) -> Any:
    """The reverse of `pack`."""
    return pickle.loads(packed)


async def remotely(method: Any, *args: Any) -> Any:
    """Call an actor's method."""
    try:
        return await method.remote(*args)
    except RayTaskError as error:
        if isinstance(error.cause, JuryError):
            raise error.cause from None
        raise
    except ActorUnavailableError as error:
        raise IncarnationLost from error
    except RayError as error:
        raise ClusterLost(f"{type(error).__name__}: {loss_reason(error)}") from error


async def repeated(call: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call until no incarnation is lost meanwhile."""
    tries = 1
    while True:
        try:
            return await call(*args, **kwargs)
        except IncarnationLost:
            tries += 1
            await asyncio.sleep(_AWAY.delay(tries, jitter=1.0, retry_after=None))


async def unless_ended(ended: "asyncio.Future[None]", call: Awaitable[T]) -> T:
    """The result of a call; raises the exception of `ended` as soon as it has one."""
    answer = asyncio.ensure_future(call)
    either: list[asyncio.Future[Any]] = [answer, ended]
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if ended.done() and not ended.cancelled():
            ended.result()
        return await answer
    finally:
        answer.cancel()


def ray_proxy(
    interface: Callable[..., T],
    find: Callable[[], Any],
    *,
    repeats: bool = False,
    replaceable: bool = False,
    ended: "asyncio.Future[None] | None" = None,
) -> T:
    """An object whose methods are those of `interface`, called in an actor (see `ray_actors.ServiceActor`).

    Args:
        find: returns the actor's handle.
        repeats: calls wait for a successor and are repeated; else they raise `IncarnationLost`.
        replaceable: `find` is called again after the actor died for good.
        ended: calls raise its exception once it has one.
    """
    return cast("T", _Proxy(interface, find, repeats=repeats, replaceable=replaceable, ended=ended))


class _Proxy:
    def __init__(
        self,
        interface: Callable[..., Any],
        find: Callable[[], Any],
        *,
        repeats: bool,
        replaceable: bool,
        ended: "asyncio.Future[None] | None",
    ) -> None:
        self._interface = interface
        self._find = find
        self._repeats = repeats
        self._replaceable = replaceable
        self._ended = ended
        self._handle: Any = None

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        getattr(self._interface, method)
        call = partial(self._call, method)
        return partial(repeated, call) if self._repeats else call

    async def _call(self, method: str, *args: Any, **options: Any) -> Any:
        if self._handle is None:
            self._handle = self._find()
        call = remotely(self._handle.call, method, pack((args, options)))
        try:
            return unpack(await (call if self._ended is None else unless_ended(self._ended, call)))
        except ClusterLost as error:
            if not self._replaceable or not isinstance(error.__cause__, ActorDiedError):
                raise
            self._handle = None
            raise IncarnationLost from error
