"""Simulated jurors with prepared answers, so that a debate takes a chosen course."""

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from jury_events.outcome import CallOutcome
from jury_providers.endpoints import Endpoints
from jury_providers.provider import ModelReply, ModelRequest, OnChunk, Provider
from jury_providers.registry import NO_ENDPOINTS
from jury_providers.simulated.prompt import read_prompt
from jury_providers.simulated.provider import MODEL_VERSION, SimulatedProvider
from jury_providers.simulated.script import Script


class PreparedAnswer(NamedTuple):
    """A usable answer: `scores` in points, in the order of the rubric; `more` replaces or adds fields."""

    verdict: str
    scores: Sequence[float]
    confidence: float = 0.5
    more: Mapping[str, Any] = {}


Said = PreparedAnswer | bytes | CallOutcome | None
"""bytes: the raw answer. An outcome: the call fails with it. None: the simulated juror answers."""


class PreparedProvider(SimulatedProvider):
    """Answers the calls of each `step` (`round-1/gpt`) or `step/model` in order; once they are used up, simulates."""

    def __init__(self, script: Script, says: dict[str, deque[Said]]) -> None:
        super().__init__(script)
        self._says = says

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        said = self._next(request.trace)
        if said is None:
            return await super().call(request, on_chunk)
        if isinstance(said, CallOutcome) and said is not CallOutcome.TRUNCATED:
            return ModelReply(said, error=f"stated: {said.value}", model_version=MODEL_VERSION, cost=0.0)
        cut = isinstance(said, CallOutcome)
        raw = (
            b'{"ballot": "'
            if isinstance(said, CallOutcome)
            else said
            if isinstance(said, bytes)
            else _json(said, request)
        )
        return ModelReply(
            CallOutcome.TRUNCATED if cut else CallOutcome.ANSWERED,
            answer=raw,
            model_version=MODEL_VERSION,
            finish_reason="length" if cut else "stop",
            cost=0.0,
        )

    def _next(self, trace: str) -> Said:
        conversation = trace.split("/", 1)[1].rsplit("/", 2)[0]
        for place in (conversation, conversation.rpartition("/")[0]):
            if self._says.get(place):
                return self._says[place].popleft()
        return None


def _json(said: PreparedAnswer, request: ModelRequest) -> bytes:
    prompt = read_prompt(request)
    answer: dict[str, Any] = {
        "ballot": prompt.ballot,
        "verdict": said.verdict,
        "scores": dict(zip((name for name, _ in prompt.form.dimensions), said.scores, strict=True)),
        "confidence": said.confidence,
        "rationale": f"Stated: {said.verdict}.",
    }
    if prompt.form.statement:
        answer["statement"] = f"I state {said.verdict}."
    if prompt.form.scenarios:
        answer["scenarios"] = [
            {"scenario_id": one, "verdict": said.verdict, "score": sum(said.scores)} for one in prompt.form.scenarios
        ]
    return json.dumps(answer | dict(said.more), ensure_ascii=False).encode()


def prepared_providers(says: Mapping[str, Sequence[Said]]) -> Callable[..., Callable[[str], Provider]]:
    """Replaces `provider_factory`; all providers of a runtime share the prepared answers."""
    left = {place: deque(turns) for place, turns in says.items()}

    def factory(script: Script, _endpoints: Endpoints = NO_ENDPOINTS) -> Callable[[str], Provider]:
        return lambda _name: PreparedProvider(script, left)

    return factory
