"""Google's Decisions API.

Source: the types of the SDK `google-genai` 3.4. It is served under `v1beta` alone.
"""

from typing import Any

from jury_debate.decision_seats import DecisionQuestion
from jury_providers.provider import ModelRequest
from jury_providers.sdk.decisions import DecisionAdapter
from jury_providers.sdk.google_generate import GoogleGenerate

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
