"""The provider `keyword`: one rule instead of a model. A real provider calls its service in `call`."""

import json
import re
from typing import Any

from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.endpoints import Endpoint
from jury_providers.provider import ModelReply, ModelRequest, OnChunk, Provider

_BALLOT = re.compile(r"(?<![A-Za-z0-9])[a-z2-7]{16}(?![A-Za-z0-9])")


def make(endpoint: Endpoint) -> Provider:
    """The entry point. `endpoint` is the panel file's entry `providers.keyword`."""
    return KeywordProvider(endpoint.base_url)


class KeywordProvider(Provider):
    """Passes every case without the word "password"."""

    max_in_flight = 8
    simulated = True  # no model is called; omit it in a real provider

    def __init__(self, base_url: str | None) -> None:
        self._base_url = base_url  # a real provider sends its requests there

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        """Answer according to the schema. Failures are replies with an outcome; nothing is raised."""
        system = "\n".join(message.text for message in request.messages if message.role == "system")
        asked = "\n".join(message.text for message in request.messages if message.role == "user")
        if "ballot" in request.schema["properties"]:
            ballot = _BALLOT.search(system)
            if ballot is None:
                return ModelReply(CallOutcome.BAD_REQUEST, error="no ballot in the system turn")
            answer = json.dumps(_filled(request.schema, ballot.group(), safe="password" not in asked.lower()))
        else:
            answer = '{"ready": true}'  # the schema of `jury doctor --probe`
        if on_chunk is not None:
            on_chunk(answer)  # in chunks, if the service streams
        return ModelReply(
            CallOutcome.ANSWERED,
            answer=answer.encode(),
            model_version=f"{request.model}-001",
            finish_reason="stop",
            usage=Usage(input_tokens=len(system + asked) // 4, output_tokens=len(answer) // 4),
            cost=0.0,
        )


def _filled(schema: dict[str, Any], ballot: str, *, safe: bool) -> dict[str, Any]:
    """An answer that matches the schema: each dimension of the rubric at its maximum, or 0."""
    fields = schema["properties"]
    verdict = "safe_pass" if safe else "unsafe_fail"
    reason = "Nothing here says password." if safe else "It talks of a password."
    dimensions = fields["scores"]["properties"]
    answer = {
        "ballot": ballot,
        "verdict": verdict,
        "scores": {name: form["maximum"] if safe else 0 for name, form in dimensions.items()},
        "confidence": 0.9,
        "rationale": reason,
    }
    if "statement" in fields:
        answer["statement"] = reason
    if "scenarios" in fields:
        ids = fields["scenarios"]["items"]["properties"]["scenario_id"]["enum"]
        answer["scenarios"] = [{"scenario_id": one, "verdict": verdict, "score": 90 if safe else 5} for one in ids]
    return answer
