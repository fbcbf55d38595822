"""Every fault at every place of a debate, through one provider's real SDK against simulated models over HTTP.

One debate a row. The model that a row troubles has the fault's name in its id, which is how the server's script knows
it; the other seat and the spare model have no faults.
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from jury_actors import Backoff, Finished, Job, RunContext, RuntimeConfig, drive, in_process_runtime
from jury_debate import PanelSpec, ResolvedPanel, resolve
from jury_events import CallOutcome, ExchangeRecorded, calls_stream, debate_stream, decode
from jury_providers import WIRE_FAULTS, WireScript, simulation_server
from jury_providers.simulated.script import FAULTS
from jury_store import open_store
from support.runtime_harness import a_case_with_records

CANARY = "sk-canary-0123456789abcdef0123456789abcdef"
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")

PROVIDERS = ("openai", "openai-responses", "anthropic", "google")
PLACES = ("initial", "round-1", "final")
TROUBLES = tuple(fault for fault in (*FAULTS, *WIRE_FAULTS) if fault != "answered")
COURSES = ("once", "lasting", "spared")
"""The fault strikes the first call of the step; every call of it; every call, and the seat has a spare model."""

TRIES = 2
REPAIRS = 1
_OFTEN = 20
_PATIENCE = 10.0
"""The timeout of a call, in seconds, for the faults without an answer."""


class Row(NamedTuple):
    """A fault at a place, and its course."""

    place: str
    fault: str
    course: str

    @property
    def debate_id(self) -> str:
        return f"matrix~{self.place}.{self.fault}.{self.course}"

    @property
    def model(self) -> str:
        return f"m.{self.place}.{self.fault}.{self.course}"

    @property
    def step(self) -> str:
        return self.place if self.place == "final" else f"{self.place}/troubled"

    def panel(self, provider: str) -> ResolvedPanel:
        """The troubled seat, or judge, and one seat without faults; every round runs."""
        settings: dict[str, Any] = {"tries": TRIES}
        if self.fault == "timeout":
            settings["timeout_seconds"] = _PATIENCE
        place = {
            "model": f"{provider}/{self.model}",
            "fallbacks": [f"{provider}/spare"] if self.course == "spared" else [],
            "settings": settings,
        }
        peace = {"model": f"{provider}/peace", "fallbacks": []}
        seat, judge = (peace, place) if self.place == "final" else (place, peace)
        return resolve(
            PanelSpec.model_validate(
                {
                    "seats": [{**seat, "juror_id": "troubled"}, {**peace, "juror_id": "calm"}],
                    "discussion": {"max_rounds": 1},
                    "final": {"judge": judge, "quorum": 1},
                    "answers": {"repairs": REPAIRS},
                }
            )
        )


ROWS = tuple(Row(place, fault, course) for place in PLACES for fault in TROUBLES for course in COURSES)


class Share(NamedTuple):
    """The rows of a provider that run: all of them, or a third."""

    provider: str
    whole: bool

    @property
    def rows(self) -> tuple[Row, ...]:
        """Of a third: every fault at every place in one course; the providers together have every row."""
        if self.whole:
            return ROWS
        first = PROVIDERS.index(self.provider)
        turns = (
            (place, fault, COURSES[(first + number + PLACES.index(place)) % len(COURSES)])
            for place in PLACES
            for number, fault in enumerate(TROUBLES)
        )
        return tuple(Row(*turn) for turn in turns)

    def __str__(self) -> str:
        return f"{self.provider} whole" if self.whole else self.provider


SHARES = (
    *(Share(provider, whole=False) for provider in PROVIDERS),
    *(Share(provider, whole=True) for provider in PROVIDERS),
)
"""The thirds, then the whole: `-m long`."""


def _script() -> WireScript:
    scripted = {}
    for row in ROWS:
        faults = (row.fault,) if row.course == "once" else (row.fault,) * _OFTEN
        scripted[f"*/{row.place}*/{row.model}/*"] = faults
    return WireScript(scripted=scripted)


class Ended(NamedTuple):
    """How a row's debate ended: the driver's result, its events, and the exchanges of the troubled step."""

    finished: Finished
    events: list[Any]
    exchanges: list[ExchangeRecorded]
    texts: dict[str, bytes]

    def of(self, kind: type) -> list[Any]:
        """Its events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]


class Matrix(NamedTuple):
    """All rows of a provider, and those that went on once the key was taken; requests served, exchanges recorded."""

    rows: dict[Row, Ended]
    resumed: dict[Row, Ended]
    served: int
    recorded: int
    timed_out: int


@contextmanager
def canary_keys(variables: dict[str, str]) -> Iterator[None]:
    """An environment whose provider keys are the canary, and whose base URLs are these."""
    with patch.dict(os.environ, {**dict.fromkeys(KEYS, CANARY), **variables}):
        yield


async def execute_matrix(share: Share, store_url: str) -> Matrix:
    """Run all rows of a share concurrently, then resume those that were halted."""
    reader = open_store(store_url, write=False)
    try:
        async with simulation_server(_script()) as simulation:
            with canary_keys(simulation.variables):
                found = await _execute(share.provider, share.rows, store_url)
                halted = [row for row in share.rows if found[row].problem is not None]
                first = {row: _ended(reader, row, found[row]) for row in share.rows}
                again = await _execute(share.provider, [row for row in halted if row.course == "once"], store_url)
            events = [decode(event) for event in reader.read_all(limit=1_000_000)]
            return Matrix(
                rows=first,
                resumed={row: _ended(reader, row, finished) for row, finished in again.items()},
                served=simulation.served.requests,
                recorded=sum(isinstance(event, ExchangeRecorded) for event in events),
                timed_out=sum(
                    isinstance(event, ExchangeRecorded) and event.outcome is CallOutcome.TIMEOUT for event in events
                ),
            )
    finally:
        reader.close()


async def _execute(provider: str, rows: Any, store_url: str) -> dict[Row, Finished]:
    """Rows that a key halts run one by one in separate runtimes: the key halts every other debate of a runtime."""
    rows = list(rows)
    halting = [row for row in rows if row.fault in {"authentication", "quota"}]
    found = await _execute_together(provider, [row for row in rows if row not in halting], store_url)
    for row in halting:
        found |= await _execute_together(provider, [row], store_url)
    return found


async def _execute_together(provider: str, rows: list[Row], store_url: str) -> dict[Row, Finished]:
    if not rows:
        return {}
    by_debate = {row.debate_id: row for row in rows}
    panels = {row: row.panel(provider) for row in rows}
    jobs = [
        Job(
            row.debate_id,
            a_case_with_records(row.debate_id[7:]).model_dump_json().encode(),
            RunContext("matrix", panel),
        )
        for row, panel in panels.items()
    ]
    plan = RuntimeConfig((panels[rows[0]].panel,), store_url, "matrix")
    entered = in_process_runtime(
        plan, lambda: open_store(store_url, write=True, run="matrix", wait=300), backoff=Backoff(base=0.0, cap=0.0)
    )
    async with entered as runtime, asyncio.timeout(350):
        return {by_debate[one.debate_id]: one async for one in drive(runtime, iter(jobs), concurrency=40)}


def _ended(reader: Any, row: Row, finished: Finished) -> Ended:
    events = [decode(event) for event in reader.read_stream(debate_stream(row.debate_id))]
    exchanges = [decode(event) for event in reader.read_stream(calls_stream(row.debate_id))]
    return Ended(
        finished,
        events,
        [one for one in exchanges if isinstance(one, ExchangeRecorded) and one.step == row.step],
        {part.ref.part: part.content for part in reader.parts(row.debate_id).values()},
    )


def files_of(store_url: str) -> dict[str, bytes]:
    """The database's files, its write-ahead log too."""
    database = Path(store_url.removeprefix("sqlite:///"))
    return {path.name: path.read_bytes() for path in database.parent.glob(f"{database.name}*")}
