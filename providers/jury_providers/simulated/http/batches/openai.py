"""OpenAI's files and batches."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from secrets import token_hex

from starlette.requests import Request

from jury_providers.simulated.http.backend import decoded
from jury_providers.simulated.http.batches.jobs import (
    BatchedCall,
    BatchJob,
    BatchJobs,
    EndOfItem,
    ItemAnswer,
    NotFoundHere,
    ResultFormat,
    SimulatedFile,
    file_of_form,
    json_body,
    page_of,
    write_stream,
)
from jury_providers.simulated.http.chat import Chat
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, name, optional_table, text
from jury_providers.simulated.http.protocol import ProtocolHandler
from jury_providers.simulated.http.responses import Responses

PREFIX = "batch_"
_HANDLERS: Mapping[str, ProtocolHandler] = {"/v1/chat/completions": Chat(), "/v1/responses": Responses()}
_STATES = {"waiting": "validating", "running": "in_progress"}


class OpenAIBatchServer:
    """`/v1/files` and `/v1/batches`."""

    def __init__(self, jobs: BatchJobs) -> None:
        self._jobs = jobs

    async def upload(self, request: Request) -> JsonObject:
        """`POST /v1/files`."""
        form, path = self._jobs.files.new_path(), self._jobs.files.new_path()
        await write_stream(request.stream(), form)
        if not file_of_form(form, request.headers.get("content-type", ""), path):
            raise InvalidRequest("file", "expected a form with a file")
        form.unlink()
        return _file(self._kept(path, self._jobs.account_of(request), "items.jsonl"))

    async def content(self, request: Request) -> AsyncIterator[bytes]:
        """`GET /v1/files/{id}/content`."""
        return self._jobs.content(self._file_of(request).path)

    async def submit(self, request: Request) -> JsonObject:
        """`POST /v1/batches`."""
        body = decoded(await request.body())
        endpoint = text(body.get("endpoint"), "endpoint")
        if endpoint not in _HANDLERS:
            raise InvalidRequest("endpoint", f"expected one of {', '.join(_HANDLERS)}")
        account, source = self._jobs.account_of(request), name(body.get("input_file_id"), "input_file_id")
        file = self._jobs.files.find(source, account)
        if file is None:
            raise NotFoundHere("input_file_id", "no such file")
        label = json.dumps(optional_table(body.get("metadata"), "metadata"))
        job = self._jobs.new_job(account, file.path, prefix=PREFIX, label=label, endpoint=endpoint)
        job.source = source
        return await self._described(self._jobs.submit(job, FORMAT))

    async def listed(self, request: Request) -> JsonObject:
        """`GET /v1/batches`."""
        found = self._jobs.listed(self._jobs.account_of(request), PREFIX)
        page = page_of(found, request.query_params.get("after"), request.query_params.get("limit", "20"))
        data = [await self._described(job) for job in page]
        more = bool(page) and page[-1] is not found[-1]
        ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]} if data else {"first_id": None, "last_id": None}
        return {"object": "list", "data": data, **ends, "has_more": more}

    async def one(self, request: Request) -> JsonObject:
        """`GET /v1/batches/{id}`."""
        return await self._described(self._job_of(request))

    async def cancel(self, request: Request) -> JsonObject:
        """`POST /v1/batches/{id}/cancel`."""
        job = self._job_of(request)
        state = job.state(self._jobs.clock())
        if state in {"completed", "failed", "expired", "cancelled"}:
            raise InvalidRequest("", f"Cannot cancel a batch with status '{state}'.")
        self._jobs.cancel(job)
        return await self._described(job)

    async def _described(self, job: BatchJob) -> JsonObject:
        state = await self._jobs.state(job, FORMAT)
        files = {}
        for field, path in (("output_file_id", job.output), ("error_file_id", job.errors)):
            if path is not None and path.stat().st_size and self._jobs.is_kept(job):
                identity = f"file-{job.identity.removeprefix(PREFIX)}{field[0]}"
                files[field] = self._kept(path, job.account, "results", identity).identity
        refused = {"code": "invalid_request", "message": job.refusal, "param": None, "line": job.refused_line}
        ended = job.refusal is not None or job.output is not None
        times = {f"{state}_at": int(job.ended_at)} if ended else {}
        answered = job.ends.get(EndOfItem.ANSWERED, 0)
        return {
            "id": job.identity,
            "object": "batch",
            "endpoint": job.endpoint,
            "model": None,
            "errors": {"object": "list", "data": [refused]} if job.refusal is not None else None,
            "input_file_id": job.source,
            "completion_window": "24h",
            "status": _STATES.get(state, state),
            "output_file_id": None,
            "error_file_id": None,
            **files,
            "created_at": int(job.created),
            "expires_at": int(job.expires),
            **times,
            "request_counts": {
                "total": 0 if job.refusal is not None else len(job.items),
                "completed": answered,
                "failed": sum(job.ends.values()) - answered,
            },
            "metadata": json.loads(job.label),
        }

    def _kept(self, path: Path, account: str, label: str, identity: str = "") -> SimulatedFile:
        identity = identity or f"file-{token_hex(12)}"
        return self._jobs.files.keep(SimulatedFile(identity, account, path, label, self._jobs.clock()))

    def _file_of(self, request: Request) -> SimulatedFile:
        identity = request.path_params["id"]
        found = self._jobs.files.find(identity, self._jobs.account_of(request))
        if found is None:
            raise NotFoundHere.verbatim(f"No such File object: {identity}")
        return found

    def _job_of(self, request: Request) -> BatchJob:
        identity = request.path_params["id"]
        found = self._jobs.find(identity, self._jobs.account_of(request))
        if found is None or not identity.startswith(PREFIX):
            raise NotFoundHere.verbatim(f"No batch found with id '{identity}'.")
        return found


def _call(line: bytes, job: BatchJob) -> BatchedCall:
    item = json.loads(line)
    return BatchedCall(item["custom_id"], _HANDLERS[job.endpoint], item["body"], {})


def _line(custom_id: str, answer: ItemAnswer | None, end: EndOfItem) -> JsonObject:
    head = {"id": f"batch_req_{token_hex(12)}", "custom_id": custom_id}
    if end is EndOfItem.EXPIRED:
        return {**head, "response": None, "error": {"code": "batch_expired", "message": "This request expired."}}
    if answer is None:
        return {**head, "response": None, "error": {"code": "batch_cancelled", "message": "The batch was cancelled."}}
    if answer.status == 0:
        return {**head, "response": None, "error": {"code": "server_error", "message": "The request failed."}}
    response = {"status_code": answer.status, "request_id": answer.request_id, "body": json_body(answer)}
    return {**head, "response": response, "error": None}


FORMAT = ResultFormat(_call, _line, apart=True, shuffled=True)


def _file(file: SimulatedFile) -> JsonObject:
    return {
        "id": file.identity,
        "object": "file",
        "bytes": file.path.stat().st_size,
        "created_at": int(file.created),
        "filename": file.name,
        "purpose": "batch",
        "status": "processed",
    }
