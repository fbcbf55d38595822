"""The batches of a simulation server, answered by its models."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.types import ASGIApp

from jury_providers.simulated.http.backend import SimulationBackend
from jury_providers.simulated.http.batches.files import FileStore
from jury_providers.simulated.http.batches.http import Ask, BatchCall
from jury_providers.simulated.http.batches.job import BatchJob, EndOfItem
from jury_providers.simulated.http.delivery import Transmission
from jury_providers.simulated.http.fields import InvalidRequest, encoded
from jury_providers.simulated.http.protocol import ProtocolHandler
from jury_providers.simulated.http.provider_errors import ProviderErrors

_PATIENCE = 20.0
"""Seconds for which a question about a batch waits for its results to be written, once its time is over."""

_PAUSE_EVERY = 20


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
        seconds: from the submission of a batch to its end.
        clock: seconds since 1970.
    """

    def __init__(
        self, backend: SimulationBackend, *, seconds: float = 0.0, clock: Callable[[], float] = time.time
    ) -> None:
        self.clock = clock
        self.files = FileStore()
        self.jobs: dict[str, BatchJob] = {}
        self._backend = backend
        self._seconds = seconds
        self._writing: dict[str, asyncio.Task[None]] = {}

    def route(self, call: str, errors: Callable[[Request], ProviderErrors], ask: Ask) -> ASGIApp:  # noqa: ARG002
        """The route of a call: `upload`, `submit`, `list`, `state`, `results` or `cancel`."""
        return BatchCall(errors, ask)

    def account_of(self, request: Request) -> str:  # noqa: ARG002  (any key is accepted)
        """Whose files and batches a request is about."""
        return ""

    def submit(self, job: BatchJob, form: ResultFormat) -> BatchJob:
        """Take a batch that is submitted now."""
        with job.spool.open("rb") as spool:
            for number, line in enumerate(spool, 1):
                try:
                    form.call(line, job)
                except (ValueError, KeyError, TypeError):
                    raise InvalidRequest(f"line {number}", "this is no item of a batch") from None
        self.jobs[job.identity] = job
        return job

    def new_job(
        self, account: str, spool: Path, *, prefix: str, label: str = "", model: str = "", endpoint: str
    ) -> BatchJob:
        """A batch that is submitted now."""
        return BatchJob(
            f"{prefix}{token_hex(12)}",
            account,
            label,
            model,
            endpoint,
            self.clock(),
            self._seconds,
            spool,
            tuple(_beginnings(spool)),
        )

    def find(self, identity: str, account: str) -> BatchJob | None:
        """A batch of an account; None: there is none."""
        job = self.jobs.get(identity)
        return job if job is not None and job.account == account else None

    def listed(self, account: str, prefix: str) -> list[BatchJob]:
        """The batches of an account at one provider, newest first."""
        return [
            job for job in reversed(self.jobs.values()) if job.account == account and job.identity.startswith(prefix)
        ]

    def is_kept(self, job: BatchJob) -> bool:  # noqa: ARG002  (until the server ends)
        """Whether the results of a batch can still be read."""
        return True

    def cancel(self, job: BatchJob) -> None:
        """End a batch."""
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

    async def content(self, path: Path) -> AsyncIterator[bytes]:
        """A file by pieces."""
        with path.open("rb") as file:
            while piece := file.read(1 << 18):
                yield piece

    async def close(self) -> None:
        """Stop writing, and delete every file."""
        for task in self._writing.values():
            task.cancel()
        await asyncio.gather(*self._writing.values(), return_exceptions=True)
        self.files.close()

    def written(self, job: BatchJob, form: ResultFormat, output: Path) -> None:
        """The results of a batch are written."""

    async def _write(self, job: BatchJob, form: ResultFormat) -> None:
        output, errors = self.files.new_path(), self.files.new_path()
        order = list(range(len(job.items)))
        if form.shuffled:
            random.Random(job.identity).shuffle(order)  # noqa: S311  (an order, no secret)
        ends: Counter[str] = Counter()
        with job.spool.open("rb") as spool, output.open("wb") as good, errors.open("wb") as bad:
            for done, index in enumerate(order):
                spool.seek(job.items[index])
                call = form.call(spool.readline(), job)
                end, answer = job.end_of(index), None
                if end is EndOfItem.ANSWERED:
                    answer = await self._answer(call)
                    if not 200 <= answer.status < 300:  # noqa: PLR2004  (HTTP)
                        end = EndOfItem.ERRORED
                ends[end] += 1
                line = form.line(call.custom_id, answer, end)
                if line is not None:
                    (bad if form.apart and end is not EndOfItem.ANSWERED else good).write(encoded(line) + b"\n")
                if done % _PAUSE_EVERY == 0:
                    await asyncio.sleep(0)
        self.written(job, form, output)
        job.output, job.errors = output, errors if errors.stat().st_size else None
        job.ends = dict(ends)

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


def json_body(answer: ItemAnswer) -> Any:
    """The JSON of an answer; an error of the server where it is none."""
    try:
        return json.loads(answer.body)
    except ValueError:
        return {"error": {"type": "server_error", "message": "The server had an error while processing the request."}}
