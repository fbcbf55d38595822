"""Evaluations that a caller supplies in place of model calls.

The runtime processes and records them like a model's answers, as exchanges that no model answered (`simulated`, with
the model version `supplied`). So such a debate is run, verified and replayed by the same rules as any other.
"""

import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple

from jury_actors.juror import ProviderFactory
from jury_events.outcome import CallOutcome
from jury_providers.provider import ModelReply, ModelRequest, OnChunk, Provider
from jury_providers.simulated.prompt import read_prompt

SUPPLIED = "supplied"
"""The `model_version` of these exchanges and evaluations."""


class SuppliedAnswer(NamedTuple):
    """An evaluation; `points` by dimension, missing ones in proportion to `overall`."""

    verdict: str
    overall: float
    confidence: float
    rationale: str
    points: Mapping[str, float]


StepAnswers = Mapping[str, SuppliedAnswer | None]
"""By step (`initial/gpt-4o`). None: no model is called, and the seat abstains."""


class SuppliedAnswers:
    """Answers supplied calls in front of the providers of an in-process runtime."""

    def __init__(self) -> None:
        self._supplied: dict[str, StepAnswers] = {}

    def add(self, debate_id: str, supplied: StepAnswers) -> None:
        """Answer these steps of a debate; the provider answers all others."""
        self._supplied[debate_id] = supplied

    def remove(self, debate_id: str) -> None:
        """Remove the answers of a debate that ended."""
        self._supplied.pop(debate_id, None)

    def wrap(self, providers: ProviderFactory) -> ProviderFactory:
        """The providers, called only for steps without a supplied answer."""
        return lambda name: _WrappedProvider(self, providers(name))

    def reply(self, request: ModelRequest) -> ModelReply | None:
        """The reply to a call with a supplied answer; None where the provider must be called."""
        debate_id, _, step = request.trace.rsplit("/", 3)[0].partition("/")
        supplied = self._supplied.get(debate_id, {})
        if step not in supplied:
            return None
        answer = supplied[step]
        if answer is None:
            error = "no model was called: this juror's step was excluded"
            return ModelReply(CallOutcome.BAD_REQUEST, error=error, model_version=SUPPLIED, cost=0.0, simulated=True)
        raw = json.dumps(_answer(answer, request), ensure_ascii=False).encode()
        return ModelReply(
            CallOutcome.ANSWERED, answer=raw, model_version=SUPPLIED, finish_reason="stop", cost=0.0, simulated=True
        )


class _WrappedProvider(Provider):
    """A provider that is called only for steps without a supplied answer."""

    def __init__(self, supplied: SuppliedAnswers, provider: Provider) -> None:
        self._supplied = supplied
        self._provider = provider
        self.simulated = provider.simulated
        self.max_in_flight = provider.max_in_flight

    @property
    def concurrency_limit(self) -> AbstractAsyncContextManager[object] | None:
        return self._provider.concurrency_limit

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        supplied = self._supplied.reply(request)
        return await self._provider.call(request, on_chunk) if supplied is None else supplied

    async def close(self) -> None:
        await self._provider.close()


def _answer(answer: SuppliedAnswer, request: ModelRequest) -> dict[str, Any]:
    """The answer in the format and with the ballot that the prompt requires."""
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
    if prompt.form.statement:
        body["statement"] = answer.rationale
    return prompt.form.whole(body)
