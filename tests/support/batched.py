"""Batches of simulated models: a server whose clock is moved, and clients of its four protocols."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from jury_events import CallSettings
from jury_providers import (
    NO_FAULTS,
    ApiProtocol,
    BatchJobs,
    BatchLine,
    BatchState,
    BatchStatus,
    ModelRequest,
    PreparedBatch,
    ProviderConnection,
    Script,
    SdkAdapter,
    SdkBatches,
    Simulation,
    SubmittedBatch,
    adapter_of,
    batches_of,
    simulation_server,
)
from support.dialects import MESSAGES, SCHEMA
from support.vendors.batch_lives import ScriptedJobs
from support.vendors.batch_script import BatchScript

START = 1_795_600_000.0
"""Seconds since 1970 at which the clock of a server begins."""

HOUR = 3600.0
KEY = "sk-test-acme-0123456789.1"


class BatchProtocol(NamedTuple):
    """One protocol: its path at the server, and a model."""

    name: ApiProtocol
    base: str
    model: str

    def batches(self, connection: ProviderConnection) -> SdkBatches:
        """The client of a connection's batches."""
        return batches_of(self.name, connection)

    def live(self, connection: ProviderConnection) -> SdkAdapter:
        """The client of a connection's live calls."""
        return adapter_of(self.name, connection)


PROTOCOLS: Mapping[str, BatchProtocol] = {
    one.name: one
    for one in (
        BatchProtocol("openai", "/v1", "gpt-6-sol"),
        BatchProtocol("openai-responses", "/v1", "gpt-6-sol"),
        BatchProtocol("anthropic", "", "claude-haiku-5-5"),
        BatchProtocol("google", "", "gemini-3.8-flash"),
    )
}


@dataclass
class BatchedModels:
    """A running server and a client of one of its protocols."""

    protocol: BatchProtocol
    server: Simulation
    jobs: BatchJobs
    folder: Path
    batches: SdkBatches
    now: list[float]
    prepared: list[PreparedBatch] = field(default_factory=list)

    @property
    def script(self) -> BatchScript:
        """Of the server; it may be changed."""
        return self.scripted.script

    @property
    def scripted(self) -> ScriptedJobs:
        """The batches of a server with a script."""
        assert isinstance(self.jobs, ScriptedJobs)
        return self.jobs

    def begins_anew(self) -> None:
        """Forget every batch, fault and call."""
        self.scripted.script = BatchScript()
        self.jobs.jobs.clear()
        self.scripted.calls.clear()
        self.scripted.submitted = 0
        self.now[0] = START
        self.batches.most_bytes = None

    def wait(self, seconds: float) -> None:
        """Move the server's clock."""
        self.now[0] += seconds

    def connection(self, key: str | None = KEY) -> ProviderConnection:
        """To the server."""
        return ProviderConnection(self.protocol.name, self.server.url + self.protocol.base, key)

    def request(self, number: int = 0, **settings: Any) -> ModelRequest:
        """A call; with the same number, the same."""
        said = MESSAGES[-1]._replace(text=f"Judge this, item {number}.")
        return ModelRequest(
            self.protocol.model, (MESSAGES[0], said), (), SCHEMA, CallSettings(**settings), f"d{number}/x"
        )

    def prepare(self, count: int = 5, nonce: str = "") -> PreparedBatch:
        """A batch of the calls 0 to `count` in a spool."""
        nonce = nonce or f"n{len(self.prepared):03}"
        lines = [self.batches.item(f"{nonce}-{number}", self.request(number)).line for number in range(count)]
        return self.spooled(nonce, lines)

    def spooled(self, nonce: str, lines: list[bytes]) -> PreparedBatch:
        """A batch of these lines."""
        spool = self.folder / nonce
        spool.write_bytes(b"".join(line + b"\n" for line in lines))
        at = datetime.fromtimestamp(self.now[0], UTC)
        batch = PreparedBatch(nonce, self.protocol.model, len(lines), spool.stat().st_size, spool, at)
        self.prepared.append(batch)
        return batch

    async def submit(self, prepared: PreparedBatch) -> SubmittedBatch:
        """Upload and submit."""
        return await self.batches.submit(prepared, await self.batches.upload(prepared))

    async def ended(self, batch_id: str) -> BatchState:
        """The state of a batch whose time is over, once its results are written."""
        while True:
            state = await self.batches.state(batch_id)
            if state.status is BatchStatus.ENDED:
                return state

    async def lines(self, batch_id: str) -> list[BatchLine]:
        """The results of a batch whose time is over."""
        return [line async for line in self.batches.results(batch_id, await self.ended(batch_id))]


@asynccontextmanager
async def batched_models(
    protocol: BatchProtocol,
    folder: Path,
    batches: BatchScript | None = None,
    *,
    script: Script = NO_FAULTS,
    key: str = KEY,
) -> AsyncIterator[BatchedModels]:
    """A server of batches and its client."""
    now = [START]
    scripted = partial(ScriptedJobs, script=batches or BatchScript(), clock=lambda: now[0])
    async with simulation_server(script, batches=scripted) as server:
        connection = ProviderConnection(protocol.name, server.url + protocol.base, key)
        client = protocol.batches(connection)
        try:
            yield BatchedModels(protocol, server, server.batches, folder, client, now)
        finally:
            await client.close()
