"""Gemini's files and batches."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from secrets import token_hex

from starlette.requests import Request
from starlette.responses import Response

from jury_providers.simulated.http.backend import decoded
from jury_providers.simulated.http.batches.jobs import (
    DAY,
    BatchedCall,
    BatchJob,
    BatchJobs,
    EndOfItem,
    ItemAnswer,
    NotFoundHere,
    ResultFormat,
    SimulatedFile,
    json_body,
    page_of,
    write_stream,
)
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, encoded, optional_table, table, text
from jury_providers.simulated.http.generate import Generate

PREFIX = "batches/"
_STATES = {"waiting": "PENDING", "running": "RUNNING", "cancelling": "RUNNING", "completed": "SUCCEEDED"}
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_GENERATE = Generate()
_JSON = "application/json"
_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14, 504: 4}
"""gRPC's codes, by HTTP's statuses."""


class GoogleBatchServer:
    """`files`, `batches` and `models/MODEL:batchGenerateContent` of one version."""

    def __init__(self, jobs: BatchJobs) -> None:
        self._jobs = jobs
        self._uploading: dict[str, SimulatedFile] = {}

    async def upload(self, request: Request) -> Response | JsonObject:
        """`POST /upload/VERSION/files`: first where the bytes go, then the bytes by pieces."""
        command = request.headers.get("x-goog-upload-command", "")
        if command == "start":
            identity = f"files/{token_hex(8)}"
            described = optional_table(json.loads(await request.body() or b"{}").get("file"), "file")
            label = text(described.get("displayName") or "", "file.displayName")
            account, path = self._jobs.account_of(request), self._jobs.files.new_path()
            file = SimulatedFile(identity, account, path, label, self._jobs.clock())
            self._jobs.files.keep(file).path.touch()
            self._uploading[identity] = file
            url = f"{request.url.replace(query='')}?upload_id={identity}"
            return Response(b"{}", 200, {"x-goog-upload-url": url, "x-goog-upload-status": "active"}, _JSON)
        upload = self._uploading.get(request.query_params.get("upload_id", ""))
        if upload is None:
            raise NotFoundHere.verbatim("The upload is not known.")
        if request.headers.get("x-goog-upload-offset") != str(upload.path.stat().st_size):
            raise InvalidRequest("x-goog-upload-offset", "not where the last piece ended")
        await write_stream(request.stream(), upload.path)
        final = "finalize" in command
        if final:
            del self._uploading[upload.identity]
        said = encoded({"file": _file(upload)}) if final else b"{}"
        return Response(said, 200, {"x-goog-upload-status": "final" if final else "active"}, _JSON)

    async def download(self, request: Request) -> AsyncIterator[bytes]:
        """`GET files/{id}:download`."""
        return self._jobs.content(self._file_of(request).path)

    async def submit(self, request: Request) -> JsonObject:
        """`POST models/MODEL:batchGenerateContent`."""
        batch = table(decoded(await request.body()).get("batch"), "batch")
        source = table(batch.get("inputConfig"), "batch.inputConfig")
        account, name = self._jobs.account_of(request), text(source.get("fileName"), "batch.inputConfig.fileName")
        file = self._jobs.files.find(name, account)
        if file is None:
            raise NotFoundHere.verbatim(f"The file {name} does not exist.")
        label, model = text(batch.get("displayName") or "", "batch.displayName"), request.path_params["model"]
        job = self._jobs.new_job(
            account, file.path, prefix=PREFIX, label=label, model=model, endpoint="generateContent"
        )
        job.lifetime = 2 * DAY
        return await self._described(self._jobs.submit(job, FORMAT))

    async def listed(self, request: Request) -> JsonObject:
        """`GET batches`."""
        found = self._jobs.listed(self._jobs.account_of(request), PREFIX)
        size = request.query_params.get("pageSize", "50")
        page = page_of(found, request.query_params.get("pageToken"), size)
        more = {"nextPageToken": page[-1].identity} if page and page[-1] is not found[-1] else {}
        return {"operations": [await self._described(job) for job in page], **more}

    async def one(self, request: Request) -> JsonObject:
        """`GET batches/{id}`."""
        return await self._described(self._job_of(request, request.path_params["id"]))

    async def cancel(self, request: Request) -> JsonObject:
        """`POST batches/{id}:cancel`."""
        job = self._job_of(request, request.path_params["id"])
        if self._jobs.clock() >= job.ended_at:
            raise InvalidRequest.verbatim("The batch is already done.")
        self._jobs.cancel(job)
        return {}

    async def _described(self, job: BatchJob) -> JsonObject:
        state = await self._jobs.state(job, FORMAT)
        ended = state in _ENDED
        metadata: JsonObject = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1beta.GenerateContentBatch",
            "model": f"models/{job.model}",
            "displayName": job.label,
            "state": f"BATCH_STATE_{_STATES.get(state, state.upper())}",
            "createTime": _time(job.created),
            "updateTime": _time(self._jobs.clock()),
            "name": job.identity,
            "batchStats": {"requestCount": str(len(job.items))},
        }
        operation: JsonObject = {"name": job.identity, "metadata": metadata}
        if not ended:
            return operation
        operation["done"] = True
        metadata["endTime"] = _time(job.ended_at)
        if job.output is not None and self._jobs.is_kept(job) and job.output.stat().st_size:
            answered = job.ends.get(EndOfItem.ANSWERED, 0)
            metadata["batchStats"] |= {
                "successfulRequestCount": str(answered),
                "failedRequestCount": str(sum(job.ends.values()) - answered),
            }
            output = self._output(job)
            metadata["output"] = operation["response"] = output
        if state == "failed":
            operation["error"] = {"code": 3, "message": job.refusal}
        elif state != "completed":
            operation["error"] = {"code": 1 if state == "cancelled" else 4, "message": f"The batch is {state}."}
        return operation

    def _output(self, job: BatchJob) -> JsonObject:
        assert job.output is not None
        identity = f"files/batch-{job.identity.removeprefix(PREFIX)}"
        self._jobs.files.keep(SimulatedFile(identity, job.account, job.output, "results", job.ended_at))
        return {"responsesFile": identity}

    def _file_of(self, request: Request) -> SimulatedFile:
        identity = f"files/{request.path_params['id']}"
        found = self._jobs.files.find(identity, self._jobs.account_of(request))
        if found is None:
            raise NotFoundHere.verbatim("You do not have permission to access the File, or it does not exist.")
        return found

    def _job_of(self, request: Request, identity: str) -> BatchJob:
        found = self._jobs.find(f"{PREFIX}{identity}", self._jobs.account_of(request))
        if found is None:
            raise NotFoundHere.verbatim("Requested entity was not found.")
        return found


def _call(line: bytes, job: BatchJob) -> BatchedCall:
    item = json.loads(line)
    return BatchedCall(item["key"], _GENERATE, item["request"], {"model": job.model, "stream": False})


def _line(custom_id: str, answer: ItemAnswer | None, end: EndOfItem) -> JsonObject | None:
    if answer is None:
        # What was not computed when a job was ended has no line at all.
        return None
    if end is EndOfItem.ANSWERED:
        return {"key": custom_id, "response": json_body(answer)}
    error = optional_table(json_body(answer).get("error"), "error")
    message = error.get("message") or "Internal error."
    return {"key": custom_id, "error": {"code": _CODES.get(answer.status, 13), "message": message}}


FORMAT = ResultFormat(_call, _line, apart=False, shuffled=False)


def _file(file: SimulatedFile) -> JsonObject:
    return {
        "name": file.identity,
        "displayName": file.name,
        "mimeType": "application/jsonl",
        "sizeBytes": str(file.path.stat().st_size),
        "createTime": _time(file.created),
        "state": "ACTIVE",
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
