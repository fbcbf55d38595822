"""Batches with the lives that they have at providers: by account and clock, cancelled, expired, late, lost."""

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp

from jury_providers import (
    Ask,
    BatchJob,
    BatchJobs,
    EndOfItem,
    FileStore,
    InvalidRequest,
    ItemAnswer,
    ProviderErrors,
    ResultFormat,
    SimulatedFile,
    SimulationBackend,
    encoded,
)
from support.vendors.batch_calls import FaultyCall
from support.vendors.batch_script import BatchScript

DAY = 86_400.0
KEPT = {"batches/": 2 * DAY, "batch_": 29 * DAY, "msgbatch_": 29 * DAY}
"""For how long results are kept, by the prefix of a provider's ids."""

_OVERDUE = 50 * 3600.0
_BEGINS = 0.1
"""The part of a batch's time for which it waits."""

_UNLISTED_SECONDS = 600.0
_MISSING_EVERY = 7
_ACCOUNT_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")


@dataclass
class ScriptedJob(BatchJob):
    """A batch; when each item is answered follows from the clock alone. `faults` as in `BatchScript`."""

    faults: frozenset[str] = frozenset()
    cancel_seconds: float = 0.0
    bodies: tuple[str, ...] = ()
    """Digests of the bodies that were answered."""

    @property
    def finishes(self) -> float:
        """When its last item would be answered if nothing ended it before."""
        if "stuck" in self.faults:
            return math.inf
        if "expired" in self.faults:
            return self.created + 2 * self.lifetime
        return self.created + (_OVERDUE if "overdue" in self.faults else self.seconds)

    @property
    def stops(self) -> float:
        """When no further item is begun."""
        found = [self.finishes]
        if self.cancelled_at is not None:
            found.append(self.cancelled_at)
        if "cancelled" in self.faults:
            found.append(self.created + self.seconds / 2)
        if not {"overdue", "stuck"} & self.faults:
            found.append(self.expires)
        return min(found)

    @property
    def ended_at(self) -> float:
        if self.refusal is not None:
            return self.created
        if "stuck" in self.faults:
            return math.inf
        cancelled = self.cancelled_at is not None and self.stops == self.cancelled_at
        return self.stops + (self.cancel_seconds if cancelled else 0.0)

    def state(self, now: float) -> str:
        if now >= self.ended_at:
            return self._end()
        if self.cancelled_at is not None:
            return "cancelling"
        begins = self.created + _BEGINS * (min(self.finishes, self.expires) - self.created)
        return "running" if now >= begins else "waiting"

    def end_of(self, index: int) -> EndOfItem:
        answered = self.created + (self.finishes - self.created) * (index + 1) / max(1, len(self.items))
        if answered <= self.stops:
            return EndOfItem.ANSWERED
        return EndOfItem.EXPIRED if self._end() == "expired" else EndOfItem.CANCELLED

    def _end(self) -> str:
        if self.refusal is not None:
            return "failed"
        if self.stops == self.finishes:
            return "completed"
        return "cancelled" if self.stops == self.cancelled_at or "cancelled" in self.faults else "expired"


class KeptFiles(FileStore):
    """Files as long as the providers keep them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock

    def find(self, identity: str, account: str) -> SimulatedFile | None:
        found = super().find(identity, account)
        kept = KEPT["batches/" if identity.startswith("files/") else "batch_"]
        return None if found is None or self._clock() >= found.created + kept else found


class ScriptedJobs(BatchJobs):
    """The batches of a server. Keys that are equal up to their last dot are one account's: `acme.1` and `acme.2`.

    `submitted` counts the batches, `calls` the calls by name; `left_hanging` is set when one is left without an answer.
    """

    def __init__(self, backend: SimulationBackend, script: BatchScript, clock: Callable[[], float]) -> None:
        super().__init__(backend, clock=clock)
        self.script = script
        self.files = KeptFiles(clock)
        self.submitted = 0
        self.calls: Counter[str] = Counter()
        self.left_hanging = asyncio.Event()
        self._endless: set[Path] = set()

    def route(self, call: str, errors: Callable[[Request], ProviderErrors], ask: Ask) -> ASGIApp:
        return FaultyCall(errors, ask, lambda: self._fault(call), self.left_hanging)

    def _fault(self, call: str) -> str | None:
        fault = self.script.call_fault(call, self.calls[call])
        self.calls[call] += 1
        return fault

    def account_of(self, request: Request) -> str:
        found = next((request.headers[name] for name in _ACCOUNT_HEADERS if name in request.headers), "")
        key = found.removeprefix("Bearer ").strip()
        return key.rpartition(".")[0] or key

    def new_job(self, *given: Any, **named: Any) -> ScriptedJob:
        plain = super().new_job(*given, **named)
        job = ScriptedJob(**{name: value for name, value in vars(plain).items() if name != "seconds"}, seconds=0.0)
        job.seconds, job.cancel_seconds = self.script.seconds, self.script.cancel_seconds
        job.faults = self.script.job_faults(self.submitted)
        self.submitted += 1
        return job

    def submit(self, job: BatchJob, form: ResultFormat) -> BatchJob:
        assert isinstance(job, ScriptedJob)
        if "bad_line" in job.faults:
            job.refusal, job.refused_line = "This line is not a valid request.", len(job.items) // 2 + 1
        elif "failed" in job.faults:
            job.refusal = "The batch failed for a reason of the provider's own."
        if job.refusal is not None and job.identity.startswith("msgbatch_"):
            raise InvalidRequest(f"requests.{len(job.items) // 2}.params", "this is not a valid request")
        return super().submit(job, form)

    def listed(self, account: str, prefix: str) -> list[BatchJob]:
        early = self.clock() - _UNLISTED_SECONDS
        return [
            job
            for job in super().listed(account, prefix)
            if not (isinstance(job, ScriptedJob) and "unlisted" in job.faults and early < job.created)
        ]

    def is_kept(self, job: BatchJob) -> bool:
        kept = next(seconds for prefix, seconds in KEPT.items() if job.identity.startswith(prefix))
        return self.clock() < job.ended_at + kept

    async def content(self, path: Path) -> AsyncIterator[bytes]:
        while True:
            async for piece in super().content(path):
                yield piece
            if path not in self._endless:
                return
            await asyncio.sleep(0)

    def written(self, job: BatchJob, form: ResultFormat, output: Path) -> None:
        """With the faults of lines: missing, not of this batch, named before, cut."""
        assert isinstance(job, ScriptedJob)
        with job.spool.open("rb") as spool:
            calls = [form.call(line, job) for line in spool if line.strip()]
        job.bodies = tuple(
            sha256(encoded(call.body)).hexdigest()[:24]
            for index, call in enumerate(calls)
            if job.end_of(index) is EndOfItem.ANSWERED
        )
        lines = output.read_bytes().splitlines(keepends=True)
        if "missing" in job.faults:
            gone = [f'"{call.custom_id}"'.encode() for call in calls[::_MISSING_EVERY]]
            lines = [line for line in lines if not any(one in line for one in gone)]
        invented = ItemAnswer(400, b'{"error":{"type":"invalid_request_error","message":"Not of this batch."}}', "r")
        strangers = [f"not-of-this-batch-{number}" for number in (1, 2)] if "unknown_ids" in job.faults else []
        if "doubled_ids" in job.faults:
            strangers.append(calls[0].custom_id)
        lines += [encoded(form.line(name, invented, EndOfItem.ERRORED)) + b"\n" for name in strangers]
        if "truncated_lines" in job.faults and lines:
            last = lines.pop()
            lines = [lines[0][: len(lines[0]) // 2] + b"\n", *lines[1:]] if lines else lines
            lines.append(last[: len(last) // 2])
        if "endless" in job.faults:
            self._endless.add(output)
        output.write_bytes(b"".join(lines))

    @property
    def lives(self) -> list[ScriptedJob]:
        """All batches, the oldest first."""
        return [job for job in self.jobs.values() if isinstance(job, ScriptedJob)]

    def described(self) -> list[dict[str, Any]]:
        """Every batch, for those who check what a client did."""
        return [{"items": len(job.items), "answered_bodies": list(job.bodies)} for job in self.lives]
