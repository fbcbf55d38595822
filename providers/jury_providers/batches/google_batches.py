"""Gemini's batches: a file of lines goes up, a file of results comes down.

Inline requests are not used: their results come with every answer about the job. Source: the API reference on batches
and files, and the types of the SDK `google-genai` 3.4.
"""

from collections.abc import Awaitable, Mapping
from typing import Any

from jury_providers.batches.calls import upload_seconds
from jury_providers.batches.documents import JsonMember, custom_id_in, identity_in, listed, missing, time_of
from jury_providers.batches.provider import (
    BatchCounts,
    BatchLine,
    BatchState,
    BatchStatus,
    ItemEnd,
    PreparedBatch,
    SubmittedBatch,
)
from jury_providers.batches.sdk_batches import PAGE, SdkBatches
from jury_providers.endpoints import ProviderConnection
from jury_providers.sdk.failures import one_line
from jury_providers.sdk.google_generate import GoogleGenerate
from jury_providers.sdk.json_fields import label_at, object_at, text_at

_STATUSES = {
    **dict.fromkeys(("UNSPECIFIED", "QUEUED", "PENDING"), BatchStatus.WAITING),
    **dict.fromkeys(("RUNNING", "PAUSED", "UPDATING"), BatchStatus.RUNNING),
    "CANCELLING": BatchStatus.CANCELLING,
    **dict.fromkeys(("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED"), BatchStatus.ENDED),
}
_CANCELLED = 1
_HTTP_STATUSES = {
    **dict.fromkeys((3, 9, 11), 400),
    16: 401,
    7: 403,
    5: 404,
    **dict.fromkeys((6, 10), 409),
    8: 429,
    12: 501,
    14: 503,
    4: 504,
}
"""Of gRPC's codes, by `google.rpc.Code`; others are server errors."""


class GoogleBatches(SdkBatches):
    """Batches of generateContent."""

    def __init__(self, connection: ProviderConnection, **bounds: Any) -> None:
        adapter = GoogleGenerate(connection)
        super().__init__(adapter, **bounds)
        self._sdk = adapter.sdk_client(self.calls.client)

    async def upload(self, prepared: PreparedBatch) -> str:
        with prepared.spool.open("rb") as spool:
            document = await self.calls.document(
                lambda: self._sdk.aio.files.upload(
                    file=spool, config={"display_name": _name(prepared), "mime_type": "application/jsonl"}
                ),
                upload_seconds(prepared.size),
            )
        return identity_in(object_at(document, "file"), "name", "file")

    async def submit(self, prepared: PreparedBatch, file_id: str | None) -> SubmittedBatch:
        document = await self.calls.document(
            lambda: self._sdk.aio.batches.create(
                model=prepared.model, src={"file_name": file_id}, config={"display_name": _name(prepared)}
            )
        )
        return _submitted(document)

    async def find(self, prepared: PreparedBatch) -> list[SubmittedBatch]:
        def following(page: Mapping[str, Any], _batches: list[dict[str, Any]]) -> Mapping[str, Any] | None:
            token = text_at(page, "nextPageToken")
            return None if token is None else {"page_token": token}

        return [
            _submitted(one)
            async for one in listed(self.page, "operations", following)
            if _named(one) == _name(prepared)
        ]

    async def page(self, arguments: Mapping[str, Any], size: int = PAGE) -> dict[str, Any]:
        config: Any = {"page_size": size, **arguments}
        document = await self.calls.document(lambda: self._sdk.aio.batches.list(config=config))
        return {"operations": [], **document}  # an empty list is left out

    async def state(self, batch_id: str) -> BatchState:
        document = await self.calls.document(lambda: self._sdk.aio.batches.get(name=batch_id))
        job, failure = object_at(document, "metadata"), object_at(document, "error")
        if not job and document.get("done") is not True:
            raise missing("the answer does not say how far the batch is")
        word = label_at(job, "state") or "unknown"
        status = _STATUSES.get(word.partition("_STATE_")[2], BatchStatus.RUNNING)
        if document.get("done") is True:
            status = BatchStatus.ENDED
        stats = object_at(job, "batchStats")
        total, answered, failed = (
            _count(stats, name) for name in ("requestCount", "successfulRequestCount", "failedRequestCount")
        )
        outputs = (object_at(job, "output"), object_at(document, "response"))
        files = (text_at(output, "responsesFile") for output in outputs)
        reason = text_at(failure, "message")
        return BatchState(
            status,
            word,
            BatchCounts(total, answered, failed),
            tuple(dict.fromkeys(name for name in files if name is not None)),
            None if reason is None else one_line(reason),
            ended_at=time_of(job.get("endTime")),
            created_at=time_of(job.get("createTime")),
            failed=word.endswith("_STATE_FAILED"),
        )

    async def cancel(self, batch_id: str) -> None:
        if (await self.state(batch_id)).status in {BatchStatus.RUNNING, BatchStatus.WAITING}:
            await self.calls.done(lambda: self._sdk.aio.batches.cancel(name=batch_id))

    def line_of(self, custom_id: str, body: dict[str, Any]) -> dict[str, Any]:
        return {"key": custom_id, "request": body}

    def files_of(self, batch_id: str, state: BatchState) -> tuple[str, ...]:  # noqa: ARG002  (the state names them)
        return state.result_files

    def has_answered(self, state: BatchState) -> bool:
        """Also where it counts none: with the results, Google drops the counts."""
        return super().has_answered(state) or state.word.endswith("_STATE_SUCCEEDED")

    def content(self, name: str) -> Awaitable[object]:
        return self._sdk.aio.files.download(file=name)

    def read_line(self, number: int, line: Mapping[str, JsonMember]) -> BatchLine:
        custom_id = custom_id_in(line, "key")
        response, error = line.get("response"), line.get("error")
        if response is not None and isinstance(response.value, dict):
            return BatchLine(number, custom_id, ItemEnd.ANSWERED, response.text.encode())
        if error is None or not isinstance(error.value, dict):
            raise ValueError("it has neither a response nor an error")
        code = error.value.get("code")
        message = one_line(f"code {code}: {text_at(error.value, 'message') or 'no reason given'}")
        if code == _CANCELLED:
            return BatchLine(number, custom_id, ItemEnd.CANCELLED, error=message)
        return BatchLine(number, custom_id, ItemEnd.ERRORED, error.text.encode(), message, _http_status(code))


def _name(prepared: PreparedBatch) -> str:
    return f"jury-{prepared.nonce}"


def _named(operation: dict[str, Any]) -> str | None:
    return text_at(object_at(operation, "metadata"), "displayName")


def _submitted(document: dict[str, Any]) -> SubmittedBatch:
    created = time_of(object_at(document, "metadata").get("createTime"))
    return SubmittedBatch(identity_in(document, "name", "batch"), created)


def _count(stats: dict[str, Any], name: str) -> int | None:
    """A count, which Google writes as a text."""
    found = stats.get(name)
    return int(found) if isinstance(found, int | str) and str(found).isdecimal() else None


def _http_status(code: object) -> int:
    if not isinstance(code, int):
        return 500
    return code if 400 <= code < 600 else _HTTP_STATUSES.get(code, 500)  # noqa: PLR2004  (HTTP's statuses of errors)
