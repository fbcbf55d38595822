"""Evaluations that a caller brings along into a debate, where a model would have been asked.

They go through the court like a model's answers, and are recorded like them: as exchanges that say that no model
answered (`simulated`, answered by `given`). So a debate over given evaluations is held, verified and replayed by the
rules of every other.
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
"""Who answered, as exchanges and evaluations name it (`model_version`)."""


class SuppliedAnswer(NamedTuple):
    """An evaluation as its juror holds it; `points` by dimension, whatever is missing in proportion to `overall`."""

    verdict: str
    overall: float
    confidence: float
    rationale: str
    points: Mapping[str, float]


AnswersByStep = Mapping[str, SuppliedAnswer | None]
"""By step (`initial/gpt-4o`). None: nobody is asked, and the seat abstains."""


class SuppliedAnswers:
    """What stands before the providers of a court in this process."""

    def __init__(self) -> None:
        self._given: dict[str, AnswersByStep] = {}

    def add(self, debate_id: str, given: AnswersByStep) -> None:
        """Answer these steps of a debate; all others are asked."""
        self._given[debate_id] = given

    def remove(self, debate_id: str) -> None:
        """The debate is over."""
        self._given.pop(debate_id, None)

    def wrap(self, providers: ProviderFactory) -> ProviderFactory:
        """The providers, asked only what is not given."""
        return lambda name: _SupplyingProvider(self, providers(name))

    def reply(self, request: ModelRequest) -> ModelReply | None:
        """What is given for a call; None where the model is asked."""
        debate_id, _, step = request.trace.rsplit("/", 3)[0].partition("/")
        given = self._given.get(debate_id, {})
        if step not in given:
            return None
        answer = given[step]
        if answer is None:
            error = "nobody was asked: this juror's part was not to be held"
            return ModelReply(CallOutcome.BAD_REQUEST, error=error, model_version=GIVEN, cost=0.0, simulated=True)
        raw = json.dumps(_answer(answer, request), ensure_ascii=False).encode()
        return ModelReply(
            CallOutcome.ANSWERED, answer=raw, model_version=GIVEN, finish_reason="stop", cost=0.0, simulated=True
        )


class _SupplyingProvider(Provider):
    """A provider that is asked only what is not given."""

    def __init__(self, given: SuppliedAnswers, provider: Provider) -> None:
        self._given = given
        self._provider = provider
        self.simulated = provider.simulated
        self.max_in_flight = provider.max_in_flight

    @property
    def gate(self) -> AbstractAsyncContextManager[object] | None:
        return self._provider.gate

    async def call(self, request: ModelRequest, heard: Heard | None = None) -> ModelReply:
        given = self._given.reply(request)
        return await self._provider.call(request, heard) if given is None else given

    async def close(self) -> None:
        await self._provider.close()


def _answer(answer: SuppliedAnswer, request: ModelRequest) -> dict[str, Any]:
    """In the form that the prompt asks for, on the ballot that it names."""
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
