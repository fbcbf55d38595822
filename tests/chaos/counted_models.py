"""A server of simulated models in a thread of this process, which counts every request by debate and exchange."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from jury_events import exchange_id
from jury_providers import (
    NoResponse,
    ProtocolHandler,
    Script,
    SimulatedReader,
    SimulationBackend,
    Transmission,
)
from support.simulation_thread import simulation_thread

RUN = "r"
"""The run of every store."""

CASE = re.compile("(?<![A-Za-z0-9])s[0-9]+c[0-9]+(?![A-Za-z0-9])")
"""The id of a case, which stands in its question: of which debate a request is."""

SEATS = {"one": "openai/one", "two": "anthropic/two"}
"""Jurors and their models: of which seat a request is."""

LATENCY = 0.05

_READER = SimulatedReader()
"""Reads of which step a request is; the answers are made by one that does not read."""


class ServedCalls:
    """Which requests were served: `by_debate`, each a count by exchange id. `in_flight` are not answered yet."""

    def __init__(self) -> None:
        self.by_debate: dict[str, Counter[str]] = {}
        self.in_flight = 0
        self.variables: dict[str, str] = {}


class CountingBackend(SimulationBackend):
    """Answers without reading the case, and counts."""

    def __init__(self, script: Script, seed: int, *, served_calls: ServedCalls, **options: Any) -> None:
        super().__init__(script, seed, **options)
        self._calls = served_calls

    async def answer(self, protocol: ProtocolHandler, raw: bytes, path: dict[str, object]) -> Transmission | NoResponse:
        request = protocol.read({**json.loads(raw), **path}).request
        [case, *_] = (found[0] for one in request.messages if (found := CASE.search(one.text)))
        phase = _READER.read_prompt(request).step.partition("/")[0]
        exchange = exchange_id(f"{phase}/{request.model}", SEATS[request.model], 1, 1)
        self._calls.by_debate.setdefault(f"{RUN}~{case}", Counter())[exchange] += 1
        self._calls.in_flight += 1
        try:
            return await super().answer(protocol, raw, path)
        finally:
            self._calls.in_flight -= 1


@contextmanager
def counted_models() -> Iterator[ServedCalls]:
    """Served for as long as the context lasts; `variables` lead the SDKs there."""
    calls = ServedCalls()
    backend = partial(CountingBackend, served_calls=calls)
    with ExitStack() as ends:
        with patch("jury_providers.simulated.http.server.SimulationBackend", backend):  # of this server alone
            simulation = ends.enter_context(simulation_thread(Script(answers="scripted", latency=LATENCY)))
        keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "of-no-provider")
        calls.variables = {**simulation.variables, **keys}
        yield calls
