"""OpenAI's files and batches."""

import json
from collections.abc import AsyncIterator, Mapping
from secrets import token_hex
from typing import Any

from starlette.requests import Request

from jury_providers.catalogue import batch_facts
from jury_providers.simulated.http.backend import decoded
from jury_providers.simulated.http.batches.files import SimulatedFile, split_form, write_stream
from jury_providers.simulated.http.batches.http import NotFoundHere, account_of
from jury_providers.simulated.http.batches.job import DAY, BatchJob, EndOfItem
from jury_providers.simulated.http.batches.jobs import BatchedCall, BatchJobs, ItemAnswer, ResultFormat, json_body
from jury_providers.simulated.http.chat import Chat
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, name, optional_table, table, text
from jury_providers.simulated.http.protocol import ProtocolHandler
from jury_providers.simulated.http.responses import Responses

PREFIX = "batch_"
_HANDLERS: Mapping[str, ProtocolHandler] = {"/v1/chat/completions": Chat(), "/v1/responses": Responses()}
_STATES = {"waiting": "validating", "running": "in_progress"}
_KEPT = 30 * DAY


class RefusedFile(Exception):
    """A file of items is invalid; `line` from 1, None: as a whole."""

    def __init__(self, code: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.line = line


class OpenAIBatchServer:
    """`/v1/files` and `/v1/batches`."""

    def __init__(self, jobs: BatchJobs) -> None:
        self._jobs = jobs
        self._limits = batch_facts("openai")

    async def upload(self, request: Request) -> JsonObject:
        """`POST /v1/files`."""
        form, path = self._jobs.files.new_path(), self._jobs.files.new_path()
        await write_stream(request.stream(), form)
        try:
            fields = split_form(form, request.headers.get("content-type", ""), path)
        except ValueError as error:
            raise InvalidRequest("", str(error)) from None
        finally:
            form.unlink(missing_ok=True)
        if fields.get("purpose") != b"batch" or not path.exists():
            raise InvalidRequest("purpose", "only files of items for batches are taken here")
        return _file(self._kept(path, account_of(request), "items.jsonl"))

    async def file(self, request: Request) -> JsonObject:
        """`GET` and `DELETE /v1/files/{id}`."""
        found = self._file_of(request)
        if request.method == "DELETE":
            self._jobs.files.forget(found.identity)
            return {"id": found.identity, "object": "file", "deleted": True}
        return _file(found)

    async def content(self, request: Request) -> AsyncIterator[bytes]:
        """`GET /v1/files/{id}/content`."""
        found = self._file_of(request)
        return self._jobs.content(found.path, endless=found.name.startswith("endless"))

    async def submit(self, request: Request) -> JsonObject:
        """`POST /v1/batches`."""
        body = decoded(await request.body())
        endpoint = text(body.get("endpoint"), "endpoint")
        if endpoint not in _HANDLERS:
            raise InvalidRequest("endpoint", f"expected one of {', '.join(_HANDLERS)}")
        if body.get("completion_window") != "24h":
            raise InvalidRequest("completion_window", "expected 24h")
        account, source = account_of(request), name(body.get("input_file_id"), "input_file_id")
        file = self._jobs.files.find(source, account, self._jobs.clock())
        if file is None:
            raise NotFoundHere("input_file_id", "no such file")
        metadata = optional_table(body.get("metadata"), "metadata")
        job = self._jobs.new_job(
            account,
            file.path,
            prefix=PREFIX,
            label=json.dumps(metadata),
            model="",
            endpoint=endpoint,
            lifetime=DAY,
        )
        job.source = source
        try:
            job.model = self._checked(job)
        except RefusedFile as error:
            job.refusal, job.refused_line = f"{error.code}\0{error}", error.line
        return await self._described(job)

    async def listed(self, request: Request) -> JsonObject:
        """`GET /v1/batches`."""
        found = self._jobs.listed(account_of(request), PREFIX)
        page = page_of(found, request.query_params.get("after"), request.query_params.get("limit", "20"), 100)
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

    def _checked(self, job: BatchJob) -> str:
        """The model of all items.

        Raises:
            RefusedFile: the provider takes no such file.
        """
        if not job.items:
            raise RefusedFile("empty_file", "The input file is empty.")
        if len(job.items) > self._limits["items"] or job.spool.stat().st_size > self._limits["size"]:
            raise RefusedFile("too_large", "The input file has too many items or bytes.")
        if "failed" in job.faults:
            raise RefusedFile("server_error", "The batch failed for a reason of the provider's own.")
        models, ids = set(), set()
        bad = len(job.items) // 2 + 1 if "bad_line" in job.faults else None
        with job.spool.open("rb") as spool:
            for number, line in enumerate(spool, 1):
                item = _item(line, number)
                if number == bad:
                    raise RefusedFile("invalid_request", "This line is not a valid request.", number)
                if item.get("url") != job.endpoint:
                    raise RefusedFile("mismatched_endpoint", "The url differs from the batch's endpoint.", number)
                if not isinstance(item.get("custom_id"), str) or item["custom_id"] in ids:
                    raise RefusedFile("duplicate_custom_id", "The custom_id is missing, or not unique.", number)
                ids.add(item["custom_id"])
                models.add(str(table(item.get("body"), "body").get("model")))
                if len(models) > 1:
                    raise RefusedFile("mismatched_model", "The model differs from that of the other lines.", number)
        return models.pop()

    async def _described(self, job: BatchJob) -> JsonObject:
        state = await self._jobs.state(job, FORMAT)
        files = {}
        for field, path in (("output_file_id", job.output), ("error_file_id", job.errors)):
            if path is not None and path.stat().st_size and self._jobs.is_kept(job):
                label = "endless" if "endless" in job.faults else "results"
                identity = f"file-{job.identity.removeprefix(PREFIX)}{field[0]}"
                files[field] = self._kept(path, job.account, label, identity).identity
        code, _, message = (job.refusal or "").partition("\0")
        refused = {"code": code, "message": message, "param": None, "line": job.refused_line}
        ended = job.refusal is not None or job.output is not None
        times = {f"{state}_at": int(job.ended_at)} if ended else {}
        answered = job.ends.get(EndOfItem.ANSWERED, 0)
        return {
            "id": job.identity,
            "object": "batch",
            "endpoint": job.endpoint,
            "model": job.model or None,
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

    def _kept(self, path: Any, account: str, label: str, identity: str = "") -> SimulatedFile:
        now = self._jobs.clock()
        return self._jobs.files.keep(
            SimulatedFile(identity or f"file-{token_hex(12)}", account, path, label, now, now + _KEPT)
        )

    def _file_of(self, request: Request) -> SimulatedFile:
        identity = request.path_params["id"]
        found = self._jobs.files.find(identity, account_of(request), self._jobs.clock())
        if found is None:
            raise NotFoundHere.verbatim(f"No such File object: {identity}")
        return found

    def _job_of(self, request: Request) -> BatchJob:
        identity = request.path_params["id"]
        found = self._jobs.find(identity, account_of(request))
        if found is None or not identity.startswith(PREFIX):
            raise NotFoundHere.verbatim(f"No batch found with id '{identity}'.")
        return found


def page_of(found: list[BatchJob], after: str | None, limit: str, most: int) -> list[BatchJob]:
    """A page of a list, which begins after a batch.

    Raises:
        InvalidRequest: there is no such batch, or the limit is no number of the range.
    """
    if not limit.isdecimal() or not 1 <= int(limit) <= most:
        raise InvalidRequest("limit", f"expected a number from 1 to {most}")
    names = [job.identity for job in found]
    if after is not None and after not in names:
        raise InvalidRequest("after", "no such batch")
    start = 0 if after is None else names.index(after) + 1
    return found[start : start + int(limit)]


def _item(line: bytes, number: int) -> JsonObject:
    try:
        return table(json.loads(line), "line")
    except (ValueError, InvalidRequest):
        raise RefusedFile("invalid_json_line", "This line is not parseable as valid JSON.", number) from None


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
        "expires_at": int(file.end),
        "filename": file.name,
        "purpose": "batch",
        "status": "processed",
    }
