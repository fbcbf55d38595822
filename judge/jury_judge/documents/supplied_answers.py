"""Evaluations that the caller supplies instead of a model's answers.

They are recorded like answers, as exchanges without a model (`simulated`, answered by `given`). So a debate over
supplied evaluations runs, and is verified and replayed, by the same rules as any other.
"""

import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple

from jury_actors.juror import ProviderFactory
from jury_actors.providers.provider import Heard, ModelReply, ModelRequest, Provider
from jury_actors.providers.simulated.prompt import read_prompt
from jury_events.outcome import CallOutcome

GIVEN = "given"
"""The `model_version` of supplied answers in exchanges and evaluations."""


class SuppliedAnswer(NamedTuple):
    """An evaluation; `points` by dimension, missing ones in proportion to `overall`."""

    verdict: str
    overall: float
    confidence: float
    rationale: str
    points: Mapping[str, float]


AnswersByStep = Mapping[str, SuppliedAnswer | None]
"""By step (`initial/gpt-4o`). None: no model is called, and the seat abstains."""


class SuppliedAnswers:
    """Wraps the providers of a runtime in this process."""

    def __init__(self) -> None:
        self._by_debate: dict[str, AnswersByStep] = {}

    def add(self, debate_id: str, answers: AnswersByStep) -> None:
        """Supply the answers of these steps of a debate."""
        self._by_debate[debate_id] = answers

    def remove(self, debate_id: str) -> None:
        """The debate is over."""
        self._by_debate.pop(debate_id, None)

    def wrap(self, providers: ProviderFactory) -> ProviderFactory:
        """The providers, called only for answers that are not supplied."""
        return lambda name: _SupplyingProvider(self, providers(name))

    def reply(self, request: ModelRequest) -> ModelReply | None:
        """The supplied reply to a call; None to call the model."""
        debate_id, _, step = request.trace.rsplit("/", 3)[0].partition("/")
        answers = self._by_debate.get(debate_id, {})
        if step not in answers:
            return None
        answer = answers[step]
        if answer is None:
            error = "no model was called: this juror has no part in this round"
            return ModelReply(CallOutcome.BAD_REQUEST, error=error, model_version=GIVEN, cost=0.0, simulated=True)
        raw = json.dumps(_answer(answer, request), ensure_ascii=False).encode()
        return ModelReply(
            CallOutcome.ANSWERED, answer=raw, model_version=GIVEN, finish_reason="stop", cost=0.0, simulated=True
        )


class _SupplyingProvider(Provider):
    """A provider that is called only for answers that are not supplied."""

    def __init__(self, supplied: SuppliedAnswers, provider: Provider) -> None:
        self._supplied = supplied
        self._provider = provider
        self.simulated = provider.simulated
        self.max_in_flight = provider.max_in_flight

    @property
    def gate(self) -> AbstractAsyncContextManager[object] | None:
        return self._provider.gate

    async def call(self, request: ModelRequest, heard: Heard | None = None) -> ModelReply:
        reply = self._supplied.reply(request)
        return await self._provider.call(request, heard) if reply is None else reply

    async def close(self) -> None:
        await self._provider.close()


def _answer(answer: SuppliedAnswer, request: ModelRequest) -> dict[str, Any]:
    """The answer in the form and with the ballot of the prompt."""
    prompt = read_prompt(request)
    body: dict[str, Any] = {
        "ballot": prompt.ballot,
        "verdict": answer.verdict,
        "scores": {
            name: answer.points.get(name, maximum * answer.overall / 100) for name, maximum in prompt.form.dimensions
        },
        "confidence": answer.confidence,
        "rationale": answer.rationale,
    }
    return {**body, "statement": answer.rationale} if prompt.form.statement else body
