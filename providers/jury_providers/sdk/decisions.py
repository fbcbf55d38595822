"""Shared by the adapters of decision models: what is asked, and the answer, which is the response as received."""

from abc import abstractmethod
from typing import Any

from jury_debate.decision_seats import DecisionQuestion
from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.failure_table import PromptText
from jury_providers.provider import ModelReply, ModelRequest
from jury_providers.sdk.adapter import MAX_RECORDED_BYTES, SdkAdapter
from jury_providers.sdk.failures import CallFailure
from jury_providers.sdk.http_client import HttpRecord
from jury_providers.sdk.json_fields import count_at, label_at, object_at, objects, text_at
from jury_providers.sdk.replies import ParsedReply

_REFUSAL = "refusal"


class DecisionAdapter(SdkAdapter):
    """An adapter whose replies are probabilities. They are read by the rules, from the bytes that arrived."""

    reply_key = "answers"
    marks_blocks = False

    @property
    def streams(self) -> bool:
        """Never: an answer is one short object."""
        return False

    def body(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:  # noqa: ARG002  (never streamed)
        """The JSON of a call."""
        if not request.questions:
            raise ValueError("a decision model answers typed questions only, and the call has none")
        record = "".join(block for message in request.messages for block in message.shared)
        return self.decision_body(request.model, record, request.questions)

    @abstractmethod
    def decision_body(self, model: str, record: str, questions: tuple[DecisionQuestion, ...]) -> dict[str, Any]:
        """The JSON that asks a model the questions about a record."""

    def parse(self, document: dict[str, Any]) -> ParsedReply:
        """Read what a response says beside its probabilities; a refusal of one question is one of all."""
        given = document.get("answers")
        answers = objects(list(given.values()) if isinstance(given, dict) else given)
        feedback = object_at(document, "prompt_feedback")
        block = text_at(feedback, "block_reason")
        if block is None and any(answer.get("type") == _REFUSAL for answer in answers):
            block = _REFUSAL
        usage = object_at(document, "usage")
        return ParsedReply(
            CallOutcome.ANSWERED if block is None else CallOutcome.BLOCKED,
            model_version=text_at(document, "model"),
            finish_reason=block,
            usage=Usage(
                input_tokens=_count(usage, "input_tokens", "total_input_tokens"),
                output_tokens=_count(usage, "output_tokens", "total_output_tokens"),
                cached_input_tokens=_count(
                    {**usage, **object_at(usage, "input_tokens_details")}, "cached_tokens", "total_cached_tokens"
                ),
                service_tier=label_at(document, "service_tier"),
            ),
            response_id=text_at(document, "id"),
            error=None if block is None else text_at(feedback, "block_reason_message") or f"declined: {block}",
        )

    def text_delta(self, event: dict[str, Any]) -> str:  # noqa: ARG002  (never streamed)
        """Nothing."""
        return ""

    def assemble(self, events: list[dict[str, Any]]) -> dict[str, Any] | None:  # noqa: ARG002  (never streamed)
        """Nothing."""
        return None

    def _reply(
        self,
        record: HttpRecord,
        failure: CallFailure,
        document: dict[str, Any] | None,
        events: list[dict[str, Any]],
        prompt: PromptText,
    ) -> ModelReply:
        reply = super()._reply(record, failure, document, events, prompt)
        if reply.outcome is not CallOutcome.ANSWERED:
            return reply
        if len(record.body) > MAX_RECORDED_BYTES:
            return reply._replace(outcome=CallOutcome.MALFORMED_RESPONSE)
        return reply._replace(answer=record.body, response=None)


def _count(usage: dict[str, Any], *names: str) -> int | None:
    """The first count that is there: APIs name them differently."""
    return next((found for name in names if (found := count_at(usage, name)) is not None), None)
