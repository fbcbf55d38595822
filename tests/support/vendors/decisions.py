"""The APIs of decision models: OpenAI's and Google's Decisions APIs, and Jev's `/v1/systemone`; choices alone."""

import json
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from jury_debate import DecisionQuestion, QuestionOption
from jury_providers import (
    GoogleErrors,
    JsonObject,
    ModelMessage,
    OpenAIErrors,
    ParsedRequest,
    ProtocolHandler,
    ProviderErrors,
    SimulatedResponse,
    encoded,
    model_request,
)
from jury_providers.simulated.provider import Distribution, best, confidence, decision_body, distributions

_ANSWERS = "@answers"
"""Stands in a body for the answers until it is encoded: these may have faults that no JSON object can have."""


class DecisionApi(ProtocolHandler):
    """What the three have in common."""

    record_key: ClassVar[str] = "input"

    def read(self, body: JsonObject) -> ParsedRequest:
        questions = tuple(self.questions(body["questions"]))
        asked = json.dumps([one.model_dump() for one in questions])
        record = _text(body[self.record_key])
        request = model_request(body["model"], (ModelMessage("user", asked, shared=(record,)),), [], {}, None)
        return ParsedRequest(request._replace(questions=questions), "default", stream=False)

    @abstractmethod
    def questions(self, value: Any) -> Iterator[DecisionQuestion]:
        """The questions."""

    @abstractmethod
    def answers(self, found: dict[str, Distribution]) -> str:
        """The answers as JSON."""

    @abstractmethod
    def declined(self, names: list[str]) -> JsonObject:
        """What a response has in place of its answers where they are declined."""

    def encode(self, response: SimulatedResponse) -> bytes:
        found, body = distributions(response.reply.text), self.response_body(response)
        if response.blocked:
            return encoded({one: value for one, value in body.items() if one != "answers"} | self.declined(list(found)))
        return encoded(body).replace(encoded(_ANSWERS), self.answers(found).encode(), 1)

    def response_body(self, response: SimulatedResponse) -> JsonObject:
        """With a placeholder for the answers."""
        sent = response.reply.usage.input_tokens or 0
        return {
            "id": f"dec_{response.identity}",
            "model": response.model,
            "answers": _ANSWERS,
            "usage": {"input_tokens": sent, "output_tokens": 0, "total_tokens": sent},
        }

    def stream_events(self, response: SimulatedResponse) -> Iterator[bytes]:
        """None: these APIs do not stream."""
        yield from ()


def _text(value: Any) -> str:
    """A text, or blocks of texts, or the JSON of what is neither."""
    if isinstance(value, list):
        return "".join(block["text"] for block in value)
    return value if isinstance(value, str) else json.dumps(value)


class OpenAIDecisionsApi(DecisionApi):
    """`POST /v1/decisions`."""

    kind = "openai-decisions"
    errors: ClassVar[ProviderErrors] = OpenAIErrors()

    def questions(self, value: Any) -> Iterator[DecisionQuestion]:
        for one in value:
            options = tuple(
                QuestionOption(value=choice["value"], description=choice.get("description") or "")
                for choice in one["choices"]
            )
            yield DecisionQuestion(name=one["name"], instructions=_text(one["instructions"]), options=options)

    def answers(self, found: dict[str, Distribution]) -> str:
        return ",".join(_openai_answer(name, one) for name, one in found.items()).join("[]")

    def declined(self, names: list[str]) -> JsonObject:
        return {"answers": [{"type": "refusal", "name": one} for one in names]}


def _openai_answer(question: str, one: Distribution) -> str:
    listed = ",".join(f'{{"value":{json.dumps(label)},"probability":{literal}}}' for label, literal in one)
    return (
        f'{{"type":"choice","name":{json.dumps(question)},"choice":{json.dumps(best(one))},'
        f'"confidence":{confidence(one)},"probabilities":[{listed}]}}'
    )


class GoogleDecisionsApi(DecisionApi):
    """`POST /v1beta/decisions`."""

    kind = "google-decisions"
    errors: ClassVar[ProviderErrors] = GoogleErrors()

    def questions(self, value: Any) -> Iterator[DecisionQuestion]:
        for name, one in value.items():
            options = tuple(QuestionOption(value=label, description=said) for label, said in one["criteria"].items())
            yield DecisionQuestion(name=name, instructions=_text(one["instructions"]), options=options)

    def answers(self, found: dict[str, Distribution]) -> str:
        return decision_body(found)

    def declined(self, names: list[str]) -> JsonObject:
        return {"prompt_feedback": {"block_reason": "safety", "block_reason_message": "The input was blocked."}}

    def response_body(self, response: SimulatedResponse) -> JsonObject:
        sent = response.reply.usage.input_tokens or 0
        usage = {"total_input_tokens": sent, "total_output_tokens": 0, "total_tokens": sent}
        return {"answers": _ANSWERS, "usage": usage}


class SystemOneApi(GoogleDecisionsApi):
    """`POST /v1/systemone`. No source says how it declines a question: here as OpenAI's API does."""

    kind = "systemone"
    errors: ClassVar[ProviderErrors] = OpenAIErrors()
    record_key = "state"

    def declined(self, names: list[str]) -> JsonObject:
        return {"answers": {one: {"type": "refusal"} for one in names}}

    def response_body(self, response: SimulatedResponse) -> JsonObject:
        return DecisionApi.response_body(self, response)
