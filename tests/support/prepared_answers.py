"""Simulated jurors with prepared answers, so that a debate takes a chosen course."""

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from jury_events import CallOutcome
from jury_providers import (
    NO_ENDPOINTS,
    Endpoints,
    ModelReply,
    ModelRequest,
    OnChunk,
    Provider,
    Script,
    SimulatedProvider,
    read_prompt,
)
from jury_providers.simulated.provider import MODEL_VERSION


class PreparedAnswer(NamedTuple):
    """A usable answer: `scores` in points, in the order of the rubric; `more` replaces or adds fields."""

    verdict: str
    scores: Sequence[float]
    confidence: float = 0.5
    more: Mapping[str, Any] = {}


ScriptedAnswer = PreparedAnswer | bytes | CallOutcome | None
"""bytes: the raw answer. An outcome: the call fails with it. None: the simulated juror answers."""


class PreparedProvider(SimulatedProvider):
    """Answers the calls of each `step` (`round-1/gpt`) or `step/model` in order; once they are used up, simulates."""

    def __init__(self, script: Script, answers: dict[str, deque[ScriptedAnswer]]) -> None:
        super().__init__(script)
        self._answers = answers

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        answer = self._next(request.trace)
        if answer is None:
            return await super().call(request, on_chunk)
        if isinstance(answer, CallOutcome) and answer is not CallOutcome.TRUNCATED:
            return ModelReply(answer, error=f"stated: {answer.value}", model_version=MODEL_VERSION, cost=0.0)
        cut = isinstance(answer, CallOutcome)
        raw = (
            b'{"ballot": "'
            if isinstance(answer, CallOutcome)
            else answer
            if isinstance(answer, bytes)
            else _json(answer, request)
        )
        return ModelReply(
            CallOutcome.TRUNCATED if cut else CallOutcome.ANSWERED,
            answer=raw,
            model_version=MODEL_VERSION,
            finish_reason="length" if cut else "stop",
            cost=0.0,
        )

    def _next(self, trace: str) -> ScriptedAnswer:
        conversation = trace.split("/", 1)[1].rsplit("/", 2)[0]
        for place in (conversation, conversation.rpartition("/")[0]):
            if self._answers.get(place):
                return self._answers[place].popleft()
        return None


def _json(prepared: PreparedAnswer, request: ModelRequest) -> bytes:
    prompt = read_prompt(request)
    answer: dict[str, Any] = {
        "ballot": prompt.ballot,
        "verdict": prepared.verdict,
        "scores": dict(zip((name for name, _ in prompt.form.dimensions), prepared.scores, strict=True)),
        "confidence": prepared.confidence,
        "rationale": f"Stated: {prepared.verdict}.",
    }
    if prompt.form.statement:
        answer["statement"] = f"I state {prepared.verdict}."
    if prompt.form.scenarios:
        answer["scenarios"] = [
            {"scenario_id": one, "verdict": prepared.verdict, "score": sum(prepared.scores)}
            for one in prompt.form.scenarios
        ]
    return json.dumps(prompt.form.whole(answer) | dict(prepared.more), ensure_ascii=False).encode()


def prepared_providers(answers: Mapping[str, Sequence[ScriptedAnswer]]) -> Callable[..., Callable[[str], Provider]]:
    """Replaces `provider_factory`; all providers of a runtime share the prepared answers."""
    left = {place: deque(turns) for place, turns in answers.items()}

    def factory(script: Script, _endpoints: Endpoints = NO_ENDPOINTS) -> Callable[[str], Provider]:
        return lambda _name: PreparedProvider(script, left)

    return factory
