"""The batches of a simulation server: kept by account, answered by its models, ended by its clock."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, NamedTuple

from jury_providers.simulated.http.backend import SimulationBackend
from jury_providers.simulated.http.batches.files import FileStore
from jury_providers.simulated.http.batches.job import DAY, BatchJob, EndOfItem
from jury_providers.simulated.http.batches.script import BatchScript
from jury_providers.simulated.http.delivery import Transmission
from jury_providers.simulated.http.fields import encoded
from jury_providers.simulated.http.protocol import ProtocolHandler

_KEPT = 29 * DAY
_UNLISTED_SECONDS = 600.0
_PATIENCE = 20.0
"""Seconds for which a question about a batch waits for its results to be written, once its time is over."""

_PAUSE_EVERY = 20
_MISSING_EVERY = 7


class ItemAnswer(NamedTuple):
    """The response to one item: HTTP's status and the body; status 0: there was no response."""

    status: int
    body: bytes
    request_id: str


class BatchedCall(NamedTuple):
    """One item as its protocol reads it: its id, the handler of its body, the body, the fields of a URL's path."""

    custom_id: str
    handler: ProtocolHandler
    body: dict[str, Any]
    path: dict[str, object]


class ResultFormat(NamedTuple):
    """How a provider writes results.

    `call` reads an item's line; `line` writes a result: of an answer, or None, and how the item ended. `apart`: whether
    errors stand in a file of their own, `shuffled`: whether the order is any.
    """

    call: Callable[[bytes, BatchJob], BatchedCall]
    line: Callable[[str, ItemAnswer | None, EndOfItem], dict[str, Any] | None]
    apart: bool
    shuffled: bool


class BatchJobs:
    """All batches of one server.

    Args:
        backend: answers the items.
        script: may be changed.
        clock: seconds since 1970.

    `left_hanging` is set when a call is left without an answer.
    """

    def __init__(self, backend: SimulationBackend, script: BatchScript, clock: Callable[[], float] = time.time) -> None:
        self.script = script
        self.clock = clock
        self.files = FileStore()
        self.calls: Counter[str] = Counter()
        self.left_hanging = asyncio.Event()
        self._backend = backend
        self._submitted = 0
        self._jobs: dict[str, BatchJob] = {}
        self._writing: dict[str, asyncio.Task[None]] = {}

    def new_job(
        self, account: str, spool: Path, *, prefix: str, label: str, model: str, endpoint: str, lifetime: float
    ) -> BatchJob:
        """A batch that is submitted now."""
        job = BatchJob(
            identity=f"{prefix}{token_hex(12)}",
            account=account,
            label=label,
            model=model,
            endpoint=endpoint,
            created=self.clock(),
            lifetime=lifetime,
            seconds=self.script.seconds,
            cancel_seconds=self.script.cancel_seconds,
            faults=self.script.job_faults(self._submitted),
            spool=spool,
        )
        self._submitted += 1
        job.items = tuple(_beginnings(spool))
        self._jobs[job.identity] = job
        return job

    def discard(self, job: BatchJob) -> None:
        """Forget a batch that was refused after all."""
        del self._jobs[job.identity]

    def find(self, identity: str, account: str) -> BatchJob | None:
        """A batch of an account, as long as it is kept; None: there is none."""
        job = self._jobs.get(identity)
        return job if job is not None and job.account == account else None

    def is_kept(self, job: BatchJob) -> bool:
        """Whether its results can still be read."""
        return self.clock() < job.ended_at + _KEPT

    def listed(self, account: str, prefix: str) -> list[BatchJob]:
        """The batches of an account at one provider, newest first."""
        now = self.clock()
        return [
            job
            for job in reversed(self._jobs.values())
            if job.account == account
            and job.identity.startswith(prefix)
            and not ("unlisted" in job.faults and now < job.created + _UNLISTED_SECONDS)
        ]

    def cancel(self, job: BatchJob) -> None:
        """End a batch, as soon as it can be."""
        if job.cancelled_at is None and self.clock() < job.ended_at:
            job.cancelled_at = self.clock()

    async def state(self, job: BatchJob, form: ResultFormat) -> str:
        """The state of a batch; it has not ended before its results are written."""
        state = job.state(self.clock())
        if state not in {"completed", "expired", "cancelled"}:
            return state
        writing = self._writing.get(job.identity)
        if writing is None:
            writing = self._writing[job.identity] = asyncio.create_task(self._write(job, form))
        await asyncio.wait({writing}, timeout=_PATIENCE)
        if not writing.done():
            return "cancelling" if job.cancelled_at is not None else "running"
        writing.result()
        return state

    async def content(self, path: Path, *, endless: bool) -> AsyncIterator[bytes]:
        """A file of results by pieces; an endless one repeats itself."""
        while True:
            with path.open("rb") as file:
                while piece := file.read(1 << 18):
                    yield piece
            if not endless:
                return
            await asyncio.sleep(0)

    def described(self) -> list[dict[str, Any]]:
        """Every batch, for those who check what a client did; no content."""
        now = self.clock()
        return [
            {
                "id": job.identity,
                "account": sha256(job.account.encode()).hexdigest()[:12],
                "label": job.label,
                "model": job.model,
                "items": len(job.items),
                "state": job.state(now),
                "faults": sorted(job.faults),
                "ends": job.ends,
                "answered_bodies": list(job.bodies),
            }
            for job in self._jobs.values()
        ]

    async def close(self) -> None:
        """Stop writing, and delete every file."""
        for task in self._writing.values():
            task.cancel()
        await asyncio.gather(*self._writing.values(), return_exceptions=True)
        self.files.close()

    async def _write(self, job: BatchJob, form: ResultFormat) -> None:
        output, errors = self.files.new_path(), self.files.new_path()
        order = list(range(len(job.items)))
        if form.shuffled:
            random.Random(job.identity).shuffle(order)  # noqa: S311  (an order, no secret)
        ends: Counter[str] = Counter()
        bodies: list[str] = []
        with job.spool.open("rb") as spool, output.open("wb") as good, errors.open("wb") as bad:
            for done, index in enumerate(order):
                spool.seek(job.items[index])
                call = form.call(spool.readline(), job)
                end, answer = job.end_of(index), None
                if end is EndOfItem.ANSWERED:
                    answer = await self._answer(call)
                    bodies.append(sha256(encoded(call.body)).hexdigest()[:24])
                    if not 200 <= answer.status < 300:  # noqa: PLR2004  (HTTP)
                        end = EndOfItem.ERRORED
                ends[end] += 1
                line = form.line(call.custom_id, answer, end)
                if line is not None and not ("missing" in job.faults and index % _MISSING_EVERY == 0):
                    (bad if form.apart and end is not EndOfItem.ANSWERED else good).write(encoded(line) + b"\n")
                if done % _PAUSE_EVERY == 0:
                    await asyncio.sleep(0)
            _add_faults(job, form, good)
        if "truncated_lines" in job.faults:
            _cut_lines(output)
        job.output, job.errors = output, errors if errors.stat().st_size else None
        job.ends, job.bodies = dict(ends), tuple(bodies)

    async def _answer(self, call: BatchedCall) -> ItemAnswer:
        sent = await self._backend.answer(call.handler, encoded(call.body), call.path, in_batch=True)
        identity = f"req_{token_hex(12)}"
        if isinstance(sent, Transmission) and sent.complete:
            return ItemAnswer(sent.status, b"".join(sent.pieces), identity)
        return ItemAnswer(0, b"", identity)


def _beginnings(spool: Path) -> Iterator[int]:
    at = 0
    with spool.open("rb") as file:
        for line in file:
            if line.strip():
                yield at
            at += len(line)


def _add_faults(job: BatchJob, form: ResultFormat, into: IO[bytes]) -> None:
    """Lines that name no item, or one that was named before."""
    invented = ItemAnswer(400, b'{"error":{"type":"invalid_request_error","message":"Not of this batch."}}', "req_0")
    if "unknown_ids" in job.faults:
        for number in (1, 2):
            line = form.line(f"not-of-this-batch-{number}", invented, EndOfItem.ERRORED)
            into.write(encoded(line) + b"\n")
    if "doubled_ids" in job.faults and job.items:
        with job.spool.open("rb") as spool:
            spool.seek(job.items[0])
            custom_id = form.call(spool.readline(), job).custom_id
        into.write(encoded(form.line(custom_id, invented, EndOfItem.ERRORED)) + b"\n")


def _cut_lines(path: Path) -> None:
    """The first line is cut in the middle, the last one in the middle and without its end."""
    lines = path.read_bytes().splitlines(keepends=True)
    if lines:
        last = lines.pop()
        lines = [lines[0][: len(lines[0]) // 2] + b"\n", *lines[1:]] if lines else lines
        path.write_bytes(b"".join((*lines, last[: len(last) // 2])))


def json_body(answer: ItemAnswer) -> Any:
    """The JSON of an answer; an error of the server where it is none."""
    try:
        return json.loads(answer.body)
    except ValueError:
        return {"error": {"type": "server_error", "message": "The server had an error while processing the request."}}
