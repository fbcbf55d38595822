"""A server of simulated models in a thread, which answers so many calls and then lets the others wait."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from typing import Any
from unittest.mock import patch

from jury_providers import NO_FAULTS, NoResponse, ProtocolHandler, Script, SimulationBackend, Transmission
from support.simulation_thread import simulation_thread

PANEL = "preset: independent\nseats:\n" + "".join(
    f"  - {{model: openai/gpt-5.4-mini, juror_id: {name}}}\n" for name in ("a", "b", "c")
)
"""Three calls a case."""


class GatedModels:
    """Its calls, by the digest of the request: prompts of two debates are never equal.

    Attributes:
        asked: how often each was asked.
        held: the requests that wait, or waited when their client died.
        variables: the environment of a client.
    """

    def __init__(self, answers: int) -> None:
        self.asked: Counter[str] = Counter()
        self.held: set[str] = set()
        self.variables: dict[str, str] = {}
        self._left = answers
        self._open = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self) -> None:
        """Answer every call from now on."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._open.set)
        else:
            self._open.set()

    async def passed(self, digest: str) -> None:
        """Wait until this call may be answered."""
        self._loop = asyncio.get_running_loop()
        self.asked[digest] += 1
        if not self._open.is_set():
            self._left -= 1
            if self._left < 0:
                self.held.add(digest)
                await self._open.wait()


class _GatedBackend(SimulationBackend):
    def __init__(self, script: Script, seed: int, *, models: GatedModels, **options: Any) -> None:
        super().__init__(script, seed, **options)
        self._models = models

    async def answer(self, protocol: ProtocolHandler, raw: bytes, path: dict[str, object]) -> Transmission | NoResponse:
        await self._models.passed(sha256(raw).hexdigest())
        return await super().answer(protocol, raw, path)


@contextmanager
def gated_models(answers: int) -> Iterator[GatedModels]:
    """Served while the context lasts; so many calls are answered at first."""
    models = GatedModels(answers)
    backend = partial(_GatedBackend, models=models)
    with (
        patch("jury_providers.simulated.http.server.SimulationBackend", backend),
        simulation_thread(NO_FAULTS) as simulation,
    ):
        models.variables = simulation.variables | {"OPENAI_API_KEY": "for-a-test"}
        try:
            yield models
        finally:
            models.open()
