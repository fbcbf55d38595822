"""Batches without a server: simulated models answer when a test says that a batch has ended."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from jury_events import CallOutcome
from jury_providers import (
    NO_FAULTS,
    BatchAccount,
    BatchFailure,
    BatchItem,
    BatchLimits,
    BatchLine,
    BatchNotFound,
    BatchProvider,
    BatchState,
    BatchStatus,
    ItemEnd,
    ModelReply,
    ModelRequest,
    PreparedBatch,
    RefusedLine,
    Script,
    SimulatedProvider,
    SubmittedBatch,
)


class SentBatch(NamedTuple):
    """A batch as the account has it: the lines of its spool, and when it was created, in seconds after `START`."""

    nonce: str
    lines: tuple[bytes, ...]
    created: float = 0.0


START = datetime(2026, 11, 25, 12, tzinfo=UTC)
"""Of the provider's clock."""


def _unchanged(lines: list[BatchLine]) -> list[BatchLine]:
    return lines


class BatchAccountDouble:
    """What the provider has, for as long as a test runs; processes come and go.

    `ends`: whether a batch has ended, by its id. `changes`: its result lines as the provider gives them. `fails`: by
    the name of a call the error that it raises, once. `stuck`: batches that go on though they were cancelled. `passed`:
    seconds of the provider's clock since `START`; None: it does not say. `unlisted`: batches that its list leaves out.
    `missing`: batches whose results are not there. `failed`: why a batch failed as a whole.
    """

    def __init__(self, script: Script = NO_FAULTS, *, found_by_nonce: bool = True) -> None:
        self.models = SimulatedProvider(script)
        self.batches: dict[str, SentBatch] = {}
        self.requests: dict[str, ModelRequest] = {}
        self.asked: Counter[str] = Counter()
        self.cancelled: set[str] = set()
        self.ends: Callable[[str], bool] = lambda _batch_id: True
        self.changes: Callable[[list[BatchLine]], list[BatchLine]] = _unchanged
        self.fails: dict[str, BatchFailure] = {}
        self.refused: dict[str, tuple[RefusedLine, ...]] = {}
        self.found_by_nonce = found_by_nonce
        self.account = BatchAccount("double https://batches.example", "key 1")
        self.limits = BatchLimits(1000, 50_000_000, True, found_by_nonce, 24, 24)
        self.stuck: set[str] = set()
        self.passed: float | None = 0.0
        self.unlisted: set[str] = set()
        self.missing: set[str] = set()
        self.failed: dict[str, str] = {}
        self.calls: list[tuple[str, str]] = []
        self.live: Callable[[ModelRequest], bool] = lambda _request: False

    def providers(self, _name: str) -> BatchProvider:
        """For `BatchPlan`."""
        return BatchDouble(self)


class BatchDouble(BatchProvider):
    """One process's view of the account."""

    def __init__(self, account: BatchAccountDouble) -> None:
        self._has = account
        self.limits = account.limits

    def account(self) -> BatchAccount:
        return self._has.account

    @property
    def time(self) -> datetime | None:
        return None if self._has.passed is None else START + timedelta(seconds=self._has.passed)

    async def ask_time(self) -> datetime | None:
        return self.time

    def supports(self, request: ModelRequest) -> str | None:
        return "this one goes live" if self._has.live(request) else None

    def item(self, custom_id: str, request: ModelRequest) -> BatchItem:
        asked = [[one.role, one.whole] for one in request.messages]
        said = {"custom_id": custom_id, "trace": request.trace, "asked": asked, "cache": request.cache}
        line = json.dumps(said).encode()
        self._has.requests[request.trace] = request
        return BatchItem(custom_id, line)

    async def upload(self, prepared: PreparedBatch) -> str | None:
        self._fail("upload")
        return f"file-{prepared.nonce}"

    async def submit(self, prepared: PreparedBatch, file_id: str | None) -> SubmittedBatch:
        assert file_id == f"file-{prepared.nonce}"
        lines = tuple(prepared.spool.read_bytes().splitlines())
        assert (prepared.items, prepared.size) == (len(lines), sum(len(one) + 1 for one in lines))
        name = f"sent-{len(self._has.batches) + 1}"
        self._fail("unsent")
        self._has.batches[name] = SentBatch(prepared.nonce, lines, self._has.passed or 0.0)
        self._fail("submit")
        return SubmittedBatch(name)

    async def find(self, prepared: PreparedBatch) -> list[SubmittedBatch]:
        self._fail("find")
        by_nonce = self._has.found_by_nonce
        return [
            SubmittedBatch(name, START + timedelta(seconds=sent.created), certain=by_nonce)
            for name, sent in reversed(self._has.batches.items())
            if name not in self._has.unlisted
            and (sent.nonce == prepared.nonce if by_nonce else len(sent.lines) == prepared.items)
        ]

    async def state(self, batch_id: str) -> BatchState:
        self._fail("state")
        if batch_id not in self._has.batches:
            raise BatchNotFound(f"no batch {batch_id}", CallOutcome.BAD_REQUEST)
        if batch_id in self._has.refused:
            return BatchState(BatchStatus.ENDED, "failed", refused_lines=self._has.refused[batch_id], failed=True)
        if batch_id in self._has.failed:
            return BatchState(BatchStatus.ENDED, "failed", error=self._has.failed[batch_id], failed=True)
        created = START + timedelta(seconds=self._has.batches[batch_id].created)
        if (batch_id in self._has.cancelled and batch_id not in self._has.stuck) or self._has.ends(batch_id):
            return BatchState(BatchStatus.ENDED, "completed", created_at=created)
        return BatchState(BatchStatus.RUNNING, "in_progress", created_at=created)

    async def results(self, batch_id: str, state: BatchState) -> AsyncIterator[BatchLine]:
        self._has.calls.append(("results", batch_id))
        if batch_id in self._has.missing:
            raise BatchNotFound(f"no results of {batch_id}", CallOutcome.BAD_REQUEST)
        sent = self._has.batches[batch_id]
        lines = []
        for number, raw in enumerate(sent.lines, 1):
            item = json.loads(raw)
            end = ItemEnd.CANCELLED if batch_id in self._has.cancelled - self._has.stuck else ItemEnd.ANSWERED
            response = item["trace"].encode() if end == ItemEnd.ANSWERED else None
            lines.append(BatchLine(number, item["custom_id"], end, response))
        for line in [] if state.word == "failed" else self._has.changes(lines):
            if line.end == ItemEnd.ANSWERED and line.response is not None:
                self._has.asked[line.response.decode()] += 1
            yield line
            self._fail("results")

    async def cancel(self, batch_id: str) -> None:
        self._fail("cancel")
        self._has.cancelled.add(batch_id)

    def reply(self, request: ModelRequest | None, line: BatchLine) -> ModelReply:
        if line.response is None:
            raise ValueError("the line has no response")
        asked = self._has.requests[line.response.decode()]
        assert request is None or request.trace == asked.trace
        call = self._has.models.call(asked)
        try:
            call.send(None)
        except StopIteration as end:
            reply: ModelReply = end.value
            return reply._replace(usage=reply.usage.model_copy(update={"service_tier": "batch"}))
        raise AssertionError("a simulated model without latency answers at once")

    async def close(self) -> None:
        return

    def _fail(self, call: str) -> None:
        error = self._has.fails.pop(call, None)
        if error is not None:
            raise error
