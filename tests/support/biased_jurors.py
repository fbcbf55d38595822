"""Scripted jurors behind the provider interface: fair ones that err at times, and ones with a bias."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from unittest.mock import patch

from jury_events import CallOutcome, Usage
from jury_providers import ModelReply, ModelRequest, OnChunk, Prompt, Provider, read_prompt

PASS, FAIL = "safe_pass", "unsafe_fail"
Bias = Callable[[Prompt, str], str]
"""From the prompt and the fair verdict to the verdict of a biased juror."""

_LONG = 400


def rows(number: int) -> list[dict[str, Any]]:
    """Cases of good and bad answers in turn, and some on which fair jurors differ by their seat."""
    words = ("correct", "wrong", "disputed")
    return [
        {
            "case_id": f"case-{index}",
            "question": f"Do task {index}.",
            "response": f"Task {index} is done; the result is {words[index % 3]}.",
            "label": (PASS, FAIL, None)[index % 3],
        }
        for index in range(number)
    ]


def first_speaker_follower(prompt: Prompt, fair: str) -> str:
    """Takes the position of whose words it is shown first."""
    shown = [block for block in prompt.peers if block.round == prompt.round] or list(prompt.peers)
    return shown[0].verdict if prompt.task == "discussion" and shown else fair


def passes_long_answers(prompt: Prompt, fair: str) -> str:
    return PASS if len(prompt.case) > _LONG else fair


@dataclass
class ScriptedJurors(Provider):
    """Judges by the answer's word; a disputed answer passes before lenient models and fails before strict ones.

    An answer without such a word fails. Each answer is wrong with the chance `noise`, drawn from the seed and the call.
    """

    biases: Mapping[str, Bias]
    """By model."""
    seed: int = 1
    noise: float = 0.03

    simulated = True
    max_in_flight = None

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        prompt = read_prompt(request)
        verdict = self._fair(prompt, request)
        if request.model in self.biases:
            verdict = self.biases[request.model](prompt, verdict)
        share = {PASS: 0.9, FAIL: 0.1}.get(verdict, 0.5)
        answer: dict[str, Any] = {
            "ballot": prompt.ballot,
            "verdict": verdict,
            "scores": {name: maximum * share for name, maximum in prompt.form.dimensions},
            "confidence": 0.9,
            "rationale": f"It is {verdict}.",
        }
        if prompt.form.statement:
            answer["statement"] = f"I say {verdict}."
        return ModelReply(
            CallOutcome.ANSWERED,
            answer=json.dumps(prompt.form.whole(answer)).encode(),
            model_version="scripted-1",
            finish_reason="stop",
            usage=Usage(input_tokens=10, output_tokens=10),
            cost=0.001,
        )

    def _fair(self, prompt: Prompt, request: ModelRequest) -> str:
        """In a discussion nothing changes a fair juror's mind."""
        if prompt.own is not None:
            return prompt.own.verdict
        good = "correct" in prompt.case or ("disputed" in prompt.case and request.model == "lenient")
        drawn = int.from_bytes(sha256(f"{self.seed}/{request.trace}".encode()).digest()[:6]) / 2**48
        return FAIL if good == (drawn < self.noise) else PASS


@contextmanager
def jurors(**scripted: Any) -> Iterator[None]:
    """Every provider's models are scripted jurors."""
    with patch("jury_actors.runtime.provider_factory", lambda *_args: lambda _name: ScriptedJurors(**scripted)):
        yield
