"""`/v1/systemone`: TypeSafe's Jev API, which servers of open decision models speak too.

Sources: the documentation of Fireworks, DigitalOcean and Upstage of this path, and of the server Colibri. There is no
SDK: the request is one JSON object, with the key as a bearer token. Assumed, as no source says it: that a server
answers in the order of its own, never streams, and has no way to decline a question but an error.
"""

from typing import Any

import httpx2

from jury_debate.decision_seats import DecisionQuestion
from jury_providers.endpoints import PROTOCOL_DEFAULTS
from jury_providers.provider import ModelRequest
from jury_providers.sdk.decisions import DecisionAdapter
from jury_providers.sdk.google_generate import GoogleGenerate
from jury_providers.sdk.http_client import SharedHttpClient

_VERSION = "v1beta"
_TYPED = ("model", "input", "questions")


class GoogleDecisions(DecisionAdapter, GoogleGenerate):
    """`POST {version}/decisions`."""

    api = "google-decisions"
    prompt_keys = frozenset({"input"})

    def decision_body(self, model: str, record: str, questions: tuple[DecisionQuestion, ...]) -> dict[str, Any]:
        return {"model": model, "input": record, "questions": choices_by_name(questions)}

    async def send(self, request: ModelRequest, body: dict[str, Any], *, stream: bool) -> None:  # noqa: ARG002  (never streamed)
        """Send the body with the SDK's typed method, without its retries; fields that it has no name for follow."""
        await self._sdk.aio.decisions.create(
            model=body["model"],
            input=body["input"],
            questions=body["questions"],
            api_version=self.connection.api_version or _VERSION,
            extra_body={name: value for name, value in body.items() if name not in _TYPED} or None,
            timeout=request.settings.attempt_seconds,
        )


def choices_by_name(questions: tuple[DecisionQuestion, ...]) -> dict[str, Any]:
    """The questions by their names, the options of each with their descriptions: as in Jev's API."""
    return {
        one.name: {
            "type": "choice",
            "instructions": one.instructions,
            "criteria": {option.value: option.description for option in one.options},
        }
        for one in questions
    }


_PATH = "/v1/systemone"


class SystemOne(DecisionAdapter):
    """`POST v1/systemone`."""

    sdk_logger = "httpx2"
    api = "systemone"
    prompt_keys = frozenset({"state"})

    def open(self, client: SharedHttpClient) -> None:
        self._http: httpx2.AsyncClient = client

    def decision_body(self, model: str, record: str, questions: tuple[DecisionQuestion, ...]) -> dict[str, Any]:
        return {"model": model, "state": record, "questions": choices_by_name(questions)}

    @property
    def url(self) -> str:
        """Where requests go; a base URL may end with `/v1` or not."""
        base = self.connection.base_url or f"https://{PROTOCOL_DEFAULTS[self.api].host}"
        return base.rstrip("/").removesuffix("/v1") + _PATH

    async def send(self, request: ModelRequest, body: dict[str, Any], *, stream: bool) -> None:  # noqa: ARG002  (never streamed)
        headers = dict(self.connection.extra_headers)
        if self.connection.key is not None:
            headers["authorization"] = f"Bearer {self.connection.key}"
        await self._http.send(self._http.build_request("POST", self.url, json=body, headers=headers))
