"""The batches of a simulation server, answered by its models."""

import asyncio
import json
import random
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from jury_providers.simulated.http.backend import SimulationBackend, Transmission
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, encoded
from jury_providers.simulated.http.protocol import ProtocolHandler, ProviderErrors

Answer = JsonObject | AsyncIterator[bytes] | Response
"""Of a call: a JSON object, a file by pieces, or a response as it is."""

Ask = Callable[[Request], Awaitable[Answer]]

_JSON = "application/json"


class NotFoundHere(InvalidRequest):
    """There is no such file or batch."""

    status = 404


class BatchCall:
    """A route for one call about batches, as an ASGI application.

    Args:
        answer: does what is asked.
    """

    def __init__(self, errors: Callable[[Request], ProviderErrors], answer: Ask) -> None:
        self.errors = errors
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self.send(await self.response(Request(scope, receive)), scope, receive, send)

    async def response(self, request: Request) -> Response:
        """Do what is asked."""
        try:
            answer = await self._answer(request)
        except InvalidRequest as error:
            await read_whole(request)
            failure = self.errors(request).refusal(error.status, str(error))
            return Response(encoded(failure.body), error.status, None, _JSON)
        if isinstance(answer, Response):
            return answer
        if isinstance(answer, dict):
            return Response(encoded(answer), 200, None, _JSON)
        return StreamingResponse(answer, media_type="application/x-jsonlines")

    async def send(self, response: Response, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, and close the file that it reads."""
        try:
            await response(scope, receive, send)
        finally:
            if isinstance(response, StreamingResponse) and isinstance(response.body_iterator, AsyncGenerator):
                await response.body_iterator.aclose()


async def read_whole(request: Request) -> None:
    """Read what is left of a request, so that the client sees the answer and no broken connection."""
    if not request._stream_consumed:  # noqa: SLF001  (Starlette has no other word for it)
        async for _ in request.stream():
            pass


DAY = 86_400.0
_MOST = 1000
"""Batches on a page."""


class EndOfItem(StrEnum):
    """How the server ended one item."""

    ANSWERED = "answered"
    ERRORED = "errored"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


@dataclass
class BatchJob:
    """A batch.

    Args:
        label: what the client wrote to find it by; "" where there is no place for it.
        model: of the path or the file; "" where models mix.
        created: seconds since 1970.
        items: where each line begins, in bytes.
        lifetime: seconds until it expires.
        source: the file that it was submitted with; "" where the items came with it.
        refusal: why it failed before it began; None: it did not.
        refused_line: the line because of which.
    """

    identity: str
    account: str
    label: str
    model: str
    endpoint: str
    created: float
    seconds: float
    spool: Path
    items: Sequence[int]
    lifetime: float = DAY
    source: str = ""
    refusal: str | None = None
    refused_line: int | None = None
    cancelled_at: float | None = None
    ends: dict[str, int] = field(default_factory=dict)
    """How many items ended in which way, once the results are written."""

    output: Path | None = None
    errors: Path | None = None

    @property
    def expires(self) -> float:
        """Seconds since 1970."""
        return self.created + self.lifetime

    @property
    def ended_at(self) -> float:
        """When it ends."""
        return self.created + self.seconds if self.cancelled_at is None else self.cancelled_at

    def state(self, now: float) -> str:
        """`waiting`, `running`, `cancelling`, or `failed`, `expired`, `cancelled`, `completed`."""
        if now < self.ended_at:
            return "running"
        return "completed" if self.cancelled_at is None else "cancelled"

    def end_of(self, index: int) -> EndOfItem:  # noqa: ARG002  (all of them end alike)
        """How the item at `index` ends, if it is no error of its own."""
        return EndOfItem.ANSWERED if self.cancelled_at is None else EndOfItem.CANCELLED


@dataclass(frozen=True)
class SimulatedFile:
    """A file of an account; `created`: seconds since 1970."""

    identity: str
    account: str
    path: Path
    name: str
    created: float


class FileStore:
    """Files in a temporary folder, which is made when it is needed."""

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None
        self._files: dict[str, SimulatedFile] = {}

    def new_path(self) -> Path:
        """Where a file may be written."""
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="jury-simulate-")
        return Path(self._folder.name) / token_hex(8)

    def keep(self, file: SimulatedFile) -> SimulatedFile:
        self._files[file.identity] = file
        return file

    def find(self, identity: str, account: str) -> SimulatedFile | None:
        """A file of an account; None: it has none of that id."""
        found = self._files.get(identity)
        return found if found is not None and found.account == account else None

    def close(self) -> None:
        """Delete everything."""
        if self._folder is not None:
            self._folder.cleanup()


async def write_stream(stream: AsyncIterator[bytes], path: Path) -> None:
    """Write a request's body to the end of a file."""
    with path.open("ab") as file:
        async for piece in stream:
            file.write(piece)


def file_of_form(path: Path, content_type: str, file_path: Path) -> bool:
    """Write the file in a multipart form on disk to `file_path`; False: the form has none."""
    found = re.search(r'boundary="?([^";]+)"?', content_type)
    if found is None:
        return False
    data = b"\r\n" + path.read_bytes()
    for part in data.split(b"\r\n--" + found[1].encode())[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        if b'filename="' in head:
            file_path.write_bytes(content)
            return True
    return False


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


def page_of(found: Sequence[BatchJob], after: str | None, limit: str) -> Sequence[BatchJob]:
    """A page of a list, which begins after a batch."""
    if not limit.isdecimal() or not 1 <= int(limit) <= _MOST:
        raise InvalidRequest("limit", f"expected a number from 1 to {_MOST}")
    names = [job.identity for job in found]
    if after is not None and after not in names:
        raise InvalidRequest("after", "no such batch")
    start = 0 if after is None else names.index(after) + 1
    return found[start : start + int(limit)]
