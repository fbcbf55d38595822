"""The spools of a wave: due calls of many debates, written to a file a provider and model, until a batch is full."""

import asyncio
import hashlib
from base64 import b32encode
from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from jury_actors.admission.budget import BudgetService
from jury_actors.effects import Effects, date_of
from jury_actors.messages import StepRequest
from jury_actors.step_execution import StepExecution
from jury_debate.conversation import Call
from jury_events.codec import decode
from jury_events.exchange import ExchangeRecorded
from jury_events.parts import SALT_BYTES, PartBuffer
from jury_providers.batches.provider import BatchProvider
from jury_providers.prices import Prices
from jury_providers.provider import ModelRequest, request_bytes, request_pictures, token_upper_bound

MOST_ITEMS = 5_000
"""Of a batch, whatever its provider takes: the items of one batch are in memory while its results are recorded."""

_NONCE_BYTES = 16

BatchProviders = Callable[[str], BatchProvider | None]
"""The batches of a provider by its name; None: it has none."""


class SpooledCall(NamedTuple):
    """An item that is written. `digest`: the SHA-256 of its line, in hexadecimal."""

    debate_id: str
    exchange: str
    digest: str


@dataclass(eq=False)
class FilledSpool:
    """A file with the lines of a batch. `most`: what they can cost at most in US dollars; None: not known."""

    provider: str
    model: str
    nonce: str
    path: Path
    calls: list[SpooledCall] = field(default_factory=list)
    size: int = 0
    most: float | None = 0.0


def a_nonce(effects: Effects) -> str:
    """26 letters and digits."""
    return b32encode(effects.entropy(_NONCE_BYTES)).decode().rstrip("=").lower()


class WaveSpool:
    """Takes the due calls of steps; see `StepSpool`.

    Args:
        launch: called with each full spool, whose file may be deleted when it returns. Others wait meanwhile.
        asked_live: exchanges, as (debate, exchange), that batches failed to answer often enough.
        interrupted: see `StepSpool`.
        budget: of the run; None: it has none.
    """

    def __init__(
        self,
        folder: Path,
        providers: BatchProviders,
        launch: Callable[[FilledSpool], Awaitable[object]],
        *,
        asked_live: Container[tuple[str, str]] = frozenset(),
        interrupted: bool = False,
        prices: Prices = Prices(),
        budget: BudgetService | None = None,
        effects: Effects = Effects(),
    ) -> None:
        self._budget = budget
        self.interrupted = interrupted
        self.taken = 0
        self._folder = folder
        self._providers = providers
        self._launch = launch
        self._asked_live = asked_live
        self._prices = prices
        self._effects = effects
        self._filling: dict[tuple[str, str], _Filling] = {}
        self._writing = asyncio.Lock()

    async def take(self, request: StepRequest) -> bool:
        """See `StepSpool`. A step goes into batches with all of its due calls, or with none."""
        if _used_a_tool(request):  # each further turn would cost a wave
            return False
        async with self._writing:  # of many debates, one has its requests in memory
            execution = StepExecution(request, request.texts, PartBuffer(lambda: bytes(SALT_BYTES)))
            due = [self._planned(request, execution, call) for call in execution.conversation.calls]
            wanted = [one for one in due if one is not None]
            if not wanted or len(wanted) < len(due):
                return False
            for one in wanted:
                await self._write(one)
        return True

    async def flush(self) -> None:
        """Send what is left, full or not."""
        async with self._writing:
            for key in list(self._filling):
                await self._send(key)

    def discard(self) -> None:
        """Delete what was not sent."""
        for filling in self._filling.values():
            filling.file.close()
            filling.spool.path.unlink(missing_ok=True)
        self._filling.clear()

    def _planned(self, request: StepRequest, execution: StepExecution, call: Call) -> "_PlannedItem | None":
        """None: the call has to be made live."""
        name, _, model = call.model.partition("/")
        provider = self._providers(name)
        debate_id = request.assignment.debate_id
        exchange = call.exchange_id(request.assignment.step.id)
        if provider is None or (debate_id, exchange) in self._asked_live:
            return None
        asked = execution.request(call, request.caching_of(call.model))
        size = request_bytes(asked)
        if provider.supports(asked) is not None or (
            size > provider.limits.size // 8 and len(provider.item("0" * 64, asked).line) >= provider.limits.size
        ):
            return None
        most = token_upper_bound(size, request_pictures(asked), asked.model)
        cost = self._prices.upper_bound(call.model, most, asked.settings, date_of(self._effects.clock()), batch=True)
        return _PlannedItem(provider, name, model, debate_id, exchange, asked, cost)

    async def _write(self, planned: "_PlannedItem") -> None:
        if self._budget is not None and (problem := self._budget.take(planned.most or 0.0)) is not None:
            raise problem
        limits = planned.provider.limits
        key = (planned.name, "" if limits.models_mix else planned.model)
        filling = self._filling.get(key) or self._begin(key, planned)
        spool = filling.spool
        line = _line(planned, spool)
        if spool.calls and spool.size + len(line) > limits.size:
            await self._send(key)
            filling = self._begin(key, planned)
            spool = filling.spool
            line = _line(planned, spool)
        filling.file.write(line)
        digest = hashlib.sha256(line[:-1]).hexdigest()
        spool.calls.append(SpooledCall(planned.debate_id, planned.exchange, digest))
        spool.size += len(line)
        spool.most = None if planned.most is None or spool.most is None else spool.most + planned.most
        self.taken += 1
        if len(spool.calls) >= min(limits.items, MOST_ITEMS):
            await self._send(key)

    def _begin(self, key: tuple[str, str], planned: "_PlannedItem") -> "_Filling":
        nonce = a_nonce(self._effects)
        path = self._folder / f"{nonce}.jsonl"
        filling = _Filling(FilledSpool(planned.name, planned.model, nonce, path), path.open("xb"))
        self._filling[key] = filling
        return filling

    async def _send(self, key: tuple[str, str]) -> None:
        filling = self._filling.pop(key)
        filling.file.close()
        try:
            await self._launch(filling.spool)
        finally:
            filling.spool.path.unlink(missing_ok=True)


class _PlannedItem(NamedTuple):
    provider: BatchProvider
    name: str
    model: str
    debate_id: str
    exchange: str
    request: ModelRequest
    most: float | None


class _Filling(NamedTuple):
    spool: FilledSpool
    file: BinaryIO


def _line(planned: _PlannedItem, spool: FilledSpool) -> bytes:
    item = planned.provider.item(custom_id(spool.nonce, len(spool.calls) + 1), planned.request)
    return item.line + b"\n"


def custom_id(nonce: str, number: int) -> str:
    """The id of an item at its provider."""
    return f"{nonce}-{number}"


def item_number(nonce: str, found: str | None, items: int) -> int | None:
    """The number of the item with this id; None: the batch has none."""
    start, _, number = (found or "").partition("-")
    if start != nonce or not number.isascii() or not number.isdecimal() or custom_id(nonce, int(number)) != found:
        return None
    return int(number) if 1 <= int(number) <= items else None


def _used_a_tool(request: StepRequest) -> bool:
    if not request.prior:
        return False
    last = decode(request.prior[-1])
    return isinstance(last, ExchangeRecorded) and bool(last.tool_calls)
