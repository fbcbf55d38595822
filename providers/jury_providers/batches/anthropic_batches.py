"""Anthropic's message batches: the items go with the submission, and nothing of ours is listed with a batch.

Source: the API reference on message batches, and the types of the SDK `anthropic` 2.11.
"""

import os
import re
from collections.abc import AsyncIterator, Awaitable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from jury_providers.batches.calls import upload_seconds
from jury_providers.batches.documents import (
    JsonMember,
    custom_id_in,
    identity_in,
    is_older,
    listed,
    may_be,
    members,
    time_of,
    word_at,
)
from jury_providers.batches.provider import (
    BatchCounts,
    BatchLine,
    BatchRefused,
    BatchState,
    BatchStatus,
    ItemEnd,
    PreparedBatch,
    RefusedLine,
    SubmittedBatch,
)
from jury_providers.batches.sdk_batches import PAGE, SdkBatches
from jury_providers.endpoints import ProviderConnection
from jury_providers.provider import Caching, ModelRequest
from jury_providers.sdk.anthropic_messages import AnthropicMessages
from jury_providers.sdk.failures import error_status, one_line
from jury_providers.sdk.json_fields import count_at, label_at, object_at, text_at
from jury_providers.sdk.replies import total

_PATH = "/v1/messages/batches"
_STATUSES = {
    "in_progress": BatchStatus.RUNNING,
    "canceling": BatchStatus.CANCELLING,
    "ended": BatchStatus.ENDED,
}
_OPENING, _CLOSING = b'{"requests":[', b"]}"
_REFUSED_ITEM = re.compile(r"HTTP 400 [\w ]+: requests\.([0-9]{1,6})[.:]")
"""The beginning of an error because of one item, counted from 0."""

_PIECE = 1 << 18


class AnthropicBatches(SdkBatches):
    """Batches of the Messages API."""

    def __init__(self, connection: ProviderConnection, **bounds: Any) -> None:
        adapter = AnthropicMessages(connection)
        super().__init__(adapter, **bounds)
        self._sdk = adapter.sdk_client(self.calls.client)

    def places(self) -> tuple[str, ...]:
        """The workspace, which the SDK reads in the environment."""
        workspace = os.environ.get("ANTHROPIC_WORKSPACE_ID", "").strip()
        return (f"workspace={workspace}",) if workspace else ()

    async def upload(self, prepared: PreparedBatch) -> None:  # noqa: ARG002  (the items go with the submission)
        return

    async def submit(self, prepared: PreparedBatch, file_id: str | None) -> SubmittedBatch:  # noqa: ARG002  (there is no file)
        # Each line feed of the spool but the last becomes a comma.
        length = len(_OPENING) + prepared.size - 1 + len(_CLOSING)
        try:
            document = await self.calls.document(
                lambda: self._sdk.post(
                    _PATH,
                    cast_to=httpx2.Response,
                    content=_requests(prepared.spool),
                    options={"headers": {"content-length": str(length), "content-type": "application/json"}},
                ),
                upload_seconds(prepared.size),
            )
        except BatchRefused as error:
            named = _REFUSED_ITEM.match(str(error))
            if named is not None:
                error.refused_lines = (RefusedLine(int(named[1]) + 1, str(error)),)
            raise
        return _submitted(document)

    async def find(self, prepared: PreparedBatch) -> list[SubmittedBatch]:
        """Those of the time of its sending with as many items: the ids in its results show whether it is this one."""

        def following(page: Mapping[str, Any], batches: list[dict[str, Any]]) -> Mapping[str, Any] | None:
            if not batches or not page.get("has_more") or is_older(_created(batches[-1]), prepared):
                return None
            return {"after_id": identity_in(batches[-1], "id", "batch")}

        return [
            _submitted(one)._replace(certain=False)
            async for one in listed(self.page, "data", following)
            if may_be(_created(one), prepared) and _counts(one).total in {None, prepared.items}
        ]

    async def page(self, arguments: Mapping[str, Any], size: int = PAGE) -> dict[str, Any]:
        return await self.calls.document(lambda: self._sdk.messages.batches.list(limit=size, **arguments))

    async def state(self, batch_id: str) -> BatchState:
        document = await self.calls.document(lambda: self._sdk.messages.batches.retrieve(batch_id))
        word = word_at(document, "processing_status")
        return BatchState(
            _STATUSES.get(word, BatchStatus.RUNNING),
            word,
            _counts(document),
            expires_at=time_of(document.get("expires_at")),
            ended_at=time_of(document.get("ended_at")),
            created_at=_created(document),
        )

    async def cancel(self, batch_id: str) -> None:
        if (await self.state(batch_id)).status is BatchStatus.RUNNING:
            await self.calls.done(lambda: self._sdk.messages.batches.cancel(batch_id))

    def caching(self, request: ModelRequest) -> Caching:
        """As it was asked for: the prices of the cache are halved too."""
        return request.cache

    def line_of(self, custom_id: str, body: dict[str, Any]) -> dict[str, Any]:
        return {"custom_id": custom_id, "params": body}

    def files_of(self, batch_id: str, state: BatchState) -> tuple[str, ...]:  # noqa: ARG002  (always one)
        return (batch_id,)

    def content(self, name: str) -> Awaitable[object]:
        """Not at the URL that the batch names: the key goes to no host that a response names."""
        results: Awaitable[object] = self._sdk.get(f"{_PATH}/{quote(name, safe='')}/results", cast_to=httpx2.Response)
        return results

    def read_line(self, number: int, line: Mapping[str, JsonMember]) -> BatchLine:
        custom_id = custom_id_in(line, "custom_id")
        result = line.get("result")
        inner = members("" if result is None else result.text)
        kind = inner["type"].value if "type" in inner else None
        if kind == "succeeded" and "message" in inner:
            return BatchLine(number, custom_id, ItemEnd.ANSWERED, inner["message"].text.encode())
        if kind == "errored" and "error" in inner and isinstance(inner["error"].value, dict):
            document = inner["error"].value
            error = object_at(document, "error")
            message = f"{text_at(error, 'type') or 'error'}: {text_at(error, 'message') or 'no reason given'}"
            response = inner["error"].text.encode()
            return BatchLine(
                number,
                custom_id,
                ItemEnd.ERRORED,
                response,
                one_line(message),
                error_status(document),
                label_at(document, "request_id"),
            )
        if kind in {"canceled", "expired"}:
            end = ItemEnd.EXPIRED if kind == "expired" else ItemEnd.CANCELLED
            return BatchLine(number, custom_id, end, error=f"the provider says: {kind}")
        raise ValueError("its result is of no known type")


async def _requests(spool: Path) -> AsyncIterator[bytes]:
    """The lines of a spool as the items of a JSON list, by pieces."""
    yield _OPENING
    pending = b""
    with spool.open("rb") as file:
        while piece := file.read(_PIECE):
            yield pending.replace(b"\n", b",")
            pending = piece
    yield pending.removesuffix(b"\n").replace(b"\n", b",")
    yield _CLOSING


def _counts(document: dict[str, Any]) -> BatchCounts:
    counts = object_at(document, "request_counts")
    kinds = [count_at(counts, name) for name in ("succeeded", "errored", "canceled", "expired")]
    return BatchCounts(total(*kinds, count_at(counts, "processing")), *kinds)


def _created(document: dict[str, Any]) -> datetime | None:
    return time_of(document.get("created_at"))


def _submitted(document: dict[str, Any]) -> SubmittedBatch:
    return SubmittedBatch(identity_in(document, "id", "batch"), _created(document), time_of(document.get("expires_at")))
