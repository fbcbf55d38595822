"""Anthropic's message batches."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.requests import Request

from jury_providers.simulated.http.batches.jobs import (
    BatchedCall,
    BatchJob,
    BatchJobs,
    EndOfItem,
    ItemAnswer,
    NotFoundHere,
    ResultFormat,
    json_body,
    page_of,
    write_stream,
)
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, encoded
from jury_providers.simulated.http.messages import Messages

PREFIX = "msgbatch_"
_MESSAGES = Messages()
_HEAD = re.compile(r'\s*\{\s*"requests"\s*:\s*\[\s*')
_BETWEEN = re.compile(r"\s*,\s*")
_TAIL = re.compile(r"\s*\]\s*\}\s*$")
_STATES = {"waiting": "in_progress", "running": "in_progress", "cancelling": "canceling"}
_ENDS = (EndOfItem.ANSWERED, EndOfItem.ERRORED, EndOfItem.CANCELLED, EndOfItem.EXPIRED)
_WORDS = ("succeeded", "errored", "canceled", "expired")


class AnthropicBatchServer:
    """`/v1/messages/batches`."""

    def __init__(self, jobs: BatchJobs) -> None:
        self._jobs = jobs

    async def submit(self, request: Request) -> JsonObject:
        """`POST /v1/messages/batches`."""
        body, spool = self._jobs.files.new_path(), self._jobs.files.new_path()
        await write_stream(request.stream(), body)
        try:
            _split(body.read_text("utf-8"), spool)
        except UnicodeDecodeError:
            raise InvalidRequest("", "the body is not UTF-8") from None
        finally:
            body.unlink()
        job = self._jobs.new_job(self._jobs.account_of(request), spool, prefix=PREFIX, endpoint="/v1/messages")
        return await self._described(self._jobs.submit(job, FORMAT), request)

    async def listed(self, request: Request) -> JsonObject:
        """`GET /v1/messages/batches`."""
        found = self._jobs.listed(self._jobs.account_of(request), PREFIX)
        page = page_of(found, request.query_params.get("after_id"), request.query_params.get("limit", "20"))
        data = [await self._described(job, request) for job in page]
        ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]} if data else {"first_id": None, "last_id": None}
        return {"data": data, **ends, "has_more": bool(page) and page[-1] is not found[-1]}

    async def one(self, request: Request) -> JsonObject:
        """`GET` and `DELETE /v1/messages/batches/{id}`."""
        return await self._described(self._job_of(request), request)

    async def cancel(self, request: Request) -> JsonObject:
        """`POST /v1/messages/batches/{id}/cancel`."""
        job = self._job_of(request)
        if self._jobs.clock() >= job.ended_at:
            raise InvalidRequest.verbatim(f"Batch {job.identity} cannot be canceled because it has ended.")
        self._jobs.cancel(job)
        return await self._described(job, request)

    async def results(self, request: Request) -> AsyncIterator[bytes]:
        """`GET /v1/messages/batches/{id}/results`."""
        job = self._job_of(request)
        await self._jobs.state(job, FORMAT)
        if job.output is None:
            raise NotFoundHere.verbatim(f"Batch {job.identity} has no available results.")
        if not self._jobs.is_kept(job):
            raise NotFoundHere.verbatim(f"Batch {job.identity} is archived: its results are no longer available.")
        return self._jobs.content(job.output)

    async def _described(self, job: BatchJob, request: Request) -> JsonObject:
        state = await self._jobs.state(job, FORMAT)
        ended = job.output is not None
        counts = {word: job.ends.get(end, 0) for word, end in zip(_WORDS, _ENDS, strict=True)}
        url = str(request.url_for("anthropic_results", id=job.identity))
        archived = ended and not self._jobs.is_kept(job)
        return {
            "id": job.identity,
            "type": "message_batch",
            "processing_status": _STATES.get(state, "ended"),
            "request_counts": {"processing": 0 if ended else len(job.items), **counts},
            "ended_at": _time(job.ended_at) if ended else None,
            "created_at": _time(job.created),
            "expires_at": _time(job.expires),
            "archived_at": _time(self._jobs.clock()) if archived else None,
            "cancel_initiated_at": None if job.cancelled_at is None else _time(job.cancelled_at),
            "results_url": url if ended and not archived else None,
        }

    def _job_of(self, request: Request) -> BatchJob:
        identity = request.path_params["id"]
        found = self._jobs.find(identity, self._jobs.account_of(request))
        if found is None or not identity.startswith(PREFIX):
            raise NotFoundHere.verbatim(f"Batch {identity} not found.")
        return found


def _split(body: str, spool: Path) -> None:
    """Write each item as a line."""
    with spool.open("wb") as file:
        for item in _items(body):
            file.write(encoded(item) + b"\n")


def _items(body: str) -> Iterator[Any]:
    """The items of a body one by one: all of them together may not fit into memory."""
    decoder, head = json.JSONDecoder(), _HEAD.match(body)
    if head is None:
        raise InvalidRequest("requests", "field required")
    at = head.end()
    try:
        while not _TAIL.match(body, at):
            item, at = decoder.raw_decode(body, at)
            yield item
            between = _BETWEEN.match(body, at)
            at = at if between is None else between.end()
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("requests", f"could not parse the JSON body: {error}") from None


def _call(line: bytes, job: BatchJob) -> BatchedCall:  # noqa: ARG001  (of a form that other protocols need it for)
    item = json.loads(line)
    return BatchedCall(item["custom_id"], _MESSAGES, item["params"], {})


def _line(custom_id: str, answer: ItemAnswer | None, end: EndOfItem) -> JsonObject:
    result: JsonObject
    if answer is None:
        result = {"type": "expired" if end is EndOfItem.EXPIRED else "canceled"}
    elif end is EndOfItem.ANSWERED:
        result = {"type": "succeeded", "message": json_body(answer)}
    else:
        error = json_body(answer) if answer.status else {"error": {"type": "api_error", "message": "Internal error."}}
        result = {"type": "errored", "error": {"type": "error", "request_id": answer.request_id, **error}}
    return {"custom_id": custom_id, "result": result}


FORMAT = ResultFormat(_call, _line, apart=False, shuffled=True)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
