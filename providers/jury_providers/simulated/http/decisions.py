"""The APIs of decision models: OpenAI's and Google's Decisions APIs, and Jev's `/v1/systemone`."""

import json
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from jury_debate.decision_questions import DecisionQuestion, QuestionOption
from jury_providers.provider import ModelMessage
from jury_providers.simulated.decisions import (
    Distribution,
    best,
    confidence,
    decision_body,
    distributions,
)
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, encoded, name, rows, table, text, texts
from jury_providers.simulated.http.prompt_cache import CachedPrompt
from jury_providers.simulated.http.protocol import ParsedRequest, ProtocolHandler, SimulatedResponse, model_request
from jury_providers.simulated.http.provider_errors import GoogleErrors, OpenAIErrors, ProviderErrors

_ANSWERS = "@answers"
"""Stands in a body for the answers until it is encoded: these may have faults that no JSON object can have."""

_FEWEST_OPTIONS, _MOST_OPTIONS = 2, 255
_MOST_QUESTIONS = 400


class DecisionApi(ProtocolHandler):
    """What the three have in common."""

    record_key: ClassVar[str]

    def read(self, body: JsonObject) -> ParsedRequest:
        """Parse a request."""
        model = name(body.get("model"), "model")
        record = self.record(body.get(self.record_key))
        questions = tuple(self.questions(body.get("questions")))
        if not 1 <= len(questions) <= _MOST_QUESTIONS:
            raise InvalidRequest("questions", f"expected 1 to {_MOST_QUESTIONS}, got {len(questions)}")
        for one in questions:
            if len({option.value for option in one.options}) < len(one.options):
                raise InvalidRequest(f"questions.{one.name}", "each choice must be unique")
        asked = json.dumps([one.model_dump() for one in questions])
        request = model_request(model, (ModelMessage("user", asked, shared=(record,)),), [], {}, None)
        return ParsedRequest(request._replace(questions=questions), CachedPrompt(model, ()), "default", stream=False)

    def record(self, value: object) -> str:
        """What is judged."""
        return texts(value, self.record_key, "input_text", "text")

    @abstractmethod
    def questions(self, value: object) -> Iterator[DecisionQuestion]:
        """The questions."""

    @abstractmethod
    def answers(self, found: dict[str, Distribution]) -> str:
        """The answers as JSON."""

    def encode(self, response: SimulatedResponse) -> bytes:
        """The response, whose answers may be no valid JSON."""
        found = {} if response.blocked else distributions(response.reply.text)
        answers = self.answers(found).encode()
        return encoded(self.response_body(response)).replace(encoded(_ANSWERS), answers, 1)

    def response_body(self, response: SimulatedResponse) -> JsonObject:
        """The response, with a placeholder for the answers."""
        sent = response.reply.usage.input_tokens or 0
        return {
            "id": f"dec_{response.identity}",
            "model": response.model,
            "answers": _ANSWERS,
            "usage": {"input_tokens": sent, "output_tokens": 0, "total_tokens": sent},
        }

    def stream_events(self, response: SimulatedResponse) -> Iterator[bytes]:  # noqa: ARG002  (never streamed)
        """None: these APIs do not stream."""
        yield from ()


def _options(pairs: list[tuple[Any, Any]], field: str) -> tuple[QuestionOption, ...]:
    if not _FEWEST_OPTIONS <= len(pairs) <= _MOST_OPTIONS:
        raise InvalidRequest(field, f"expected {_FEWEST_OPTIONS} to {_MOST_OPTIONS} options, got {len(pairs)}")
    return tuple(
        QuestionOption(value=name(value, field), description="" if said is None else text(said, field))
        for value, said in pairs
    )


class OpenAIDecisionsApi(DecisionApi):
    """`POST /v1/decisions`."""

    kind = "openai-decisions"
    errors: ClassVar[ProviderErrors] = OpenAIErrors()
    record_key = "input"

    def questions(self, value: object) -> Iterator[DecisionQuestion]:
        for index, one in enumerate(rows(value, "questions")):
            field = f"questions[{index}]"
            question = table(one, field)
            if question.get("type") != "choice":
                raise InvalidRequest(f"{field}.type", "only choices are simulated")
            choices = [
                table(choice, f"{field}.choices") for choice in rows(question.get("choices"), f"{field}.choices")
            ]
            yield DecisionQuestion(
                name=name(question.get("name", f"question-{index + 1}"), f"{field}.name"),
                instructions=texts(question.get("instructions"), f"{field}.instructions", "input_text"),
                options=_options([(one.get("value"), one.get("description")) for one in choices], f"{field}.choices"),
            )

    def answers(self, found: dict[str, Distribution]) -> str:
        if not found:
            return "[]"
        return ",".join(_openai_answer(name, one) for name, one in found.items()).join("[]")

    def encode(self, response: SimulatedResponse) -> bytes:
        if not response.blocked:
            return super().encode(response)
        body = self.response_body(response)
        return encoded(
            body | {"answers": [{"type": "refusal", "name": one} for one in distributions(response.reply.text)]}
        )

    def response_body(self, response: SimulatedResponse) -> JsonObject:
        body = super().response_body(response)
        details = {
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        return body | {"usage": {**body["usage"], **details}}


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
    record_key = "input"

    def questions(self, value: object) -> Iterator[DecisionQuestion]:
        for key, one in table(value, "questions").items():
            field = f"questions.{key}"
            question = table(one, field)
            if question.get("type") != "choice":
                raise InvalidRequest(f"{field}.type", "only choices are simulated")
            yield DecisionQuestion(
                name=name(key, "questions"),
                instructions=texts(question.get("instructions"), f"{field}.instructions", "text"),
                options=_options(
                    list(table(question.get("criteria"), f"{field}.criteria").items()), f"{field}.criteria"
                ),
            )

    def answers(self, found: dict[str, Distribution]) -> str:
        return decision_body(found)

    def encode(self, response: SimulatedResponse) -> bytes:
        if not response.blocked:
            return super().encode(response)
        body = {one: value for one, value in self.response_body(response).items() if one != "answers"}
        return encoded(body | self.declined(response))

    def declined(self, response: SimulatedResponse) -> JsonObject:  # noqa: ARG002  (Jev's names the questions)
        """What stands in place of the answers where they are declined."""
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

    def record(self, value: object) -> str:
        return value if isinstance(value, str) else json.dumps(value)

    def declined(self, response: SimulatedResponse) -> JsonObject:
        return {"answers": {one: {"type": "refusal"} for one in distributions(response.reply.text)}}

    def response_body(self, response: SimulatedResponse) -> JsonObject:
        return DecisionApi.response_body(self, response)
