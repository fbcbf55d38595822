"""OpenAI's batches: a file of lines goes up, files of results come down.

Source: the API reference on batches and files, and the types of the SDK `openai` 3.52.
"""

from collections.abc import Awaitable, Mapping
from typing import Any, Literal, cast

from jury_providers.batches.calls import upload_seconds
from jury_providers.batches.documents import (
    JsonMember,
    custom_id_in,
    identity_in,
    is_older,
    listed,
    members,
    time_of,
    word_at,
)
from jury_providers.batches.provider import (
    BatchCounts,
    BatchLine,
    BatchState,
    BatchStatus,
    ItemEnd,
    PreparedBatch,
    RefusedLine,
    SubmittedBatch,
)
from jury_providers.batches.sdk_batches import PAGE, SdkBatches
from jury_providers.endpoints import ProviderConnection
from jury_providers.sdk.failures import error_status, one_line
from jury_providers.sdk.json_fields import count_at, label_at, object_at, objects, text_at
from jury_providers.sdk.openai_chat import OpenAIChat
from jury_providers.sdk.openai_responses import OpenAIResponses
from jury_providers.sdk.openai_sdk import OpenAISdk

NONCE_KEY = "jury_nonce"
"""Of a batch's metadata, which the list shows."""

_STATUSES = {
    "validating": BatchStatus.WAITING,
    "in_progress": BatchStatus.RUNNING,
    "finalizing": BatchStatus.RUNNING,
    "cancelling": BatchStatus.CANCELLING,
    **dict.fromkeys(("failed", "completed", "expired", "cancelled"), BatchStatus.ENDED),
}
_ENDS = {"batch_expired": ItemEnd.EXPIRED, "batch_cancelled": ItemEnd.CANCELLED}
_KEPT_SECONDS = 30 * 24 * 3600
"""As long as the provider lets files be kept: results are read again after a crash."""

Path = Literal["/v1/chat/completions", "/v1/responses"]


class OpenAIBatches(SdkBatches):
    """Batches of one of OpenAI's two APIs."""

    base_path = "/v1"

    def __init__(self, adapter: OpenAISdk, path: Path, **bounds: Any) -> None:
        super().__init__(adapter, **bounds)
        self._path = path
        self._sdk = adapter.sdk_client(self.calls.client)

    def places(self) -> tuple[str, ...]:
        """The organisation and the project, which the SDK reads in the environment."""
        named = (("organization", self._sdk.organization), ("project", self._sdk.project))
        return tuple(f"{name}={value}" for name, value in named if value)

    async def upload(self, prepared: PreparedBatch) -> str:
        with prepared.spool.open("rb") as spool:
            document = await self.calls.document(
                lambda: self._sdk.files.create(
                    file=(f"jury-{prepared.nonce}.jsonl", spool, "application/jsonl"),
                    purpose="batch",
                    expires_after={"anchor": "created_at", "seconds": _KEPT_SECONDS},
                ),
                upload_seconds(prepared.size),
            )
        return identity_in(document, "id", "file")

    async def submit(self, prepared: PreparedBatch, file_id: str | None) -> SubmittedBatch:
        document = await self.calls.document(
            lambda: self._sdk.batches.create(
                completion_window="24h",
                endpoint=self._path,
                input_file_id=file_id or "",
                metadata={NONCE_KEY: prepared.nonce},
                output_expires_after={"anchor": "created_at", "seconds": _KEPT_SECONDS},
            )
        )
        return _submitted(document)

    async def find(self, prepared: PreparedBatch) -> list[SubmittedBatch]:
        def following(page: Mapping[str, Any], batches: list[dict[str, Any]]) -> Mapping[str, Any] | None:
            if not batches or not page.get("has_more") or is_older(time_of(batches[-1].get("created_at")), prepared):
                return None
            return {"after": identity_in(batches[-1], "id", "batch")}

        return [
            _submitted(one)
            async for one in listed(self.page, "data", following)
            if object_at(one, "metadata").get(NONCE_KEY) == prepared.nonce
        ]

    async def page(self, arguments: Mapping[str, Any], size: int = PAGE) -> dict[str, Any]:
        return await self.calls.document(
            lambda: cast("Awaitable[object]", self._sdk.batches.list(limit=size, **arguments))
        )

    async def state(self, batch_id: str) -> BatchState:
        document = await self.calls.document(lambda: self._sdk.batches.retrieve(batch_id))
        word = word_at(document, "status")
        errors = objects(object_at(document, "errors").get("data"))
        lines = (
            (count_at(one, "line"), text_at(one, "message") or text_at(one, "code") or "refused") for one in errors
        )
        reasons = [text_at(one, "message") or text_at(one, "code") for one in errors]
        counts = object_at(document, "request_counts")
        names = (text_at(document, name) for name in ("output_file_id", "error_file_id"))
        end = next((document[name] for name in _END_TIMES if document.get(name)), None)
        return BatchState(
            _STATUSES.get(word, BatchStatus.RUNNING),
            word,
            BatchCounts(count_at(counts, "total") or None, count_at(counts, "completed"), count_at(counts, "failed")),
            tuple(name for name in names if name is not None),
            next((one_line(reason) for reason in reasons if reason), None),
            tuple(RefusedLine(number, one_line(message)) for number, message in lines if number),
            time_of(document.get("expires_at")),
            time_of(end),
            time_of(document.get("created_at")),
            failed=word == "failed",
        )

    async def cancel(self, batch_id: str) -> None:
        if (await self.state(batch_id)).status in {BatchStatus.RUNNING, BatchStatus.WAITING}:
            await self.calls.done(lambda: self._sdk.batches.cancel(batch_id))

    def line_of(self, custom_id: str, body: dict[str, Any]) -> dict[str, Any]:
        return {"custom_id": custom_id, "method": "POST", "url": self._path, "body": body}

    def files_of(self, batch_id: str, state: BatchState) -> tuple[str, ...]:  # noqa: ARG002  (the state names them)
        return state.result_files

    def content(self, name: str) -> Awaitable[object]:
        return self._sdk.files.content(name)

    def read_line(self, number: int, line: Mapping[str, JsonMember]) -> BatchLine:
        custom_id = custom_id_in(line, "custom_id")
        response, error = line.get("response"), line.get("error")
        if response is None or not isinstance(response.value, dict):
            if error is None or not isinstance(error.value, dict):
                raise ValueError("it has neither a response nor an error")
            code = text_at(error.value, "code") or ""
            message = one_line(f"{code or 'error'}: {text_at(error.value, 'message') or 'no reason given'}")
            end = _ENDS.get(code, ItemEnd.ERRORED)
            said = error.text.encode() if end is ItemEnd.ERRORED else None
            return BatchLine(number, custom_id, end, said, message, error_status(error.value))
        inner = members(response.text)
        status = count_at(response.value, "status_code") or 0
        body = inner.get("body")
        if body is None or not isinstance(body.value, dict):
            raise ValueError("its response has no body")
        answered = 200 <= status < 300  # noqa: PLR2004  (HTTP)
        what = text_at(object_at(body.value, "error"), "message") or "no reason given"
        return BatchLine(
            number,
            custom_id,
            ItemEnd.ANSWERED if answered else ItemEnd.ERRORED,
            body.text.encode(),
            None if answered else one_line(f"HTTP {status}: {what}"),
            status,
            label_at(response.value, "request_id"),
        )


_END_TIMES = ("completed_at", "failed_at", "expired_at", "cancelled_at")


def chat_batches(connection: ProviderConnection) -> OpenAIBatches:
    return OpenAIBatches(OpenAIChat(connection), "/v1/chat/completions")


def responses_batches(connection: ProviderConnection) -> OpenAIBatches:
    return OpenAIBatches(OpenAIResponses(connection), "/v1/responses")


def _submitted(document: dict[str, Any]) -> SubmittedBatch:
    return SubmittedBatch(
        identity_in(document, "id", "batch"), time_of(document.get("created_at")), time_of(document.get("expires_at"))
    )
