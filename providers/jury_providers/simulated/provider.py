"""The provider `simulated`: rule-based jurors, and decision models, with scripted latency and faults."""

import asyncio
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jury_debate.decision_seats import DecisionQuestion
from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_providers.provider import (
    ESTIMATED_PICTURE_TOKENS,
    ModelMessage,
    ModelReply,
    ModelRequest,
    OnChunk,
    Provider,
    RequestedTool,
)
from jury_providers.simulated.prompt import Prompt, WordScale
from jury_providers.simulated.reader import SimulatedReader
from jury_providers.simulated.script import MISQUOTED, NO_FAULTS, UNPARSEABLE, WRONG_BALLOT, Script

_WIDTH = 12.0
_DIGITS = 4

Distribution = list[tuple[str, str]]
"""Options with their probabilities, as they are written: a fault may write one twice, or what is no number."""


def decision_text(request: ModelRequest, scores: Sequence[float], fault: str | None) -> str:
    """The distributions of the answers by the questions' names, as JSON.

    Args:
        scores: 0-100, one a question.
        fault: one of `DECISION_FAULTS`; None, or another: none is seen in the answers.
    """
    answers = {
        question.name: _spoiled(_distribution(question, score), fault)
        for question, score in zip(request.questions, scores, strict=True)
    }
    if fault in {"no_answer", "unparseable"}:
        answers = {}
    return json.dumps(answers)


def distributions(text: str) -> dict[str, Distribution]:
    """The distributions in a text of `decision_text`."""
    return {name: [(label, literal) for label, literal in one] for name, one in json.loads(text).items()}


def decision_body(answers: dict[str, Distribution]) -> str:
    """The answers in the form of Jev's API, as JSON."""
    written = ", ".join(
        f'{json.dumps(name)}: {{"type": "choice", "choice": {json.dumps(best(one))}, '
        f'"probabilities": {{{", ".join(f"{json.dumps(label)}: {literal}" for label, literal in one)}}}, '
        f'"confidence": {confidence(one)}}}'
        for name, one in answers.items()
    )
    return f"{{{written}}}"


def best(one: Distribution) -> str:
    """The most probable option."""
    return max(one, key=lambda pair: _number(pair[1]))[0]


def confidence(one: Distribution) -> str:
    """Its probability."""
    return str(max(0.0, *(_number(literal) for _, literal in one)))


def _number(literal: str) -> float:
    return 0.0 if literal == "NaN" else float(literal)


def _distribution(question: DecisionQuestion, score: float) -> Distribution:
    words = tuple(option.value for option in question.options)
    scale = WordScale(words)
    weights = [math.exp(-abs(score - scale.middle(word)) / _WIDTH) for word in words]
    shares = [round(weight / math.fsum(weights), _DIGITS) for weight in weights]
    first = max(range(len(shares)), key=shares.__getitem__)
    shares[first] = round(1 - math.fsum(share for place, share in enumerate(shares) if place != first), _DIGITS)
    return [(word, str(share)) for word, share in zip(words, shares, strict=True)]


def _spoiled(one: Distribution, fault: str | None) -> Distribution:
    (label, literal), *others = one
    changed: dict[str, Distribution] = {
        "wrong_sum": [(word, str(round(float(share) / 2, _DIGITS))) for word, share in one],
        "unknown_label": [("another_option", literal), *others],
        "missing_label": others,
        "doubled_label": [(label, literal), *one],
        "not_a_number": [(label, "NaN"), *others],
        "negative": [(label, "-0.1"), *others],
    }
    return changed.get(fault or "", one)


_json = json.JSONEncoder(ensure_ascii=False).encode

_CHARACTERS_A_TOKEN = 4
_PIECE = 60
"""Characters of a streamed chunk."""


class RenderedReply(NamedTuple):
    """One reply: text or tool calls; `cut`: it is truncated."""

    text: str
    tools: tuple[RequestedTool, ...]
    cut: bool
    usage: Usage

    def pieces(self) -> Iterator[str]:
        """The text in chunks, as it is streamed."""
        for start in range(0, len(self.text), _PIECE):
            yield self.text[start : start + _PIECE]


def render_reply(
    reader: SimulatedReader, prompt: Prompt, request: ModelRequest, fault: str | None, points: float | None = None
) -> RenderedReply:
    """The reply to a request; applies the faults that make an answer wrong or unusable, and `points` of a script."""
    if request.questions:
        text = decision_text(request, reader.scores(prompt, request), fault)
        return RenderedReply(text, (), cut=False, usage=usage_of(request, 0))
    if fault == CallOutcome.ONLY_REASONING.value:
        limit = request.settings.max_output_tokens
        return RenderedReply("", (), cut=True, usage=usage_of(request, limit * _CHARACTERS_A_TOKEN))
    output = reader.respond(prompt, request, fault=fault, points=points)
    answer = output.answer
    if fault == WRONG_BALLOT:
        answer = {**answer, "ballot": "a" * 16}
    elif fault == MISQUOTED:
        answer = _misquoted(answer)
    text = "" if output.tools else f"I say {answer.get('verdict')}." if fault == UNPARSEABLE else _json(answer)
    cut = fault == CallOutcome.TRUNCATED.value
    if cut:
        text = text[: len(text) // 2]
    generated = len(text) + sum(len(tool.name) + len(tool.arguments) for tool in output.tools)
    return RenderedReply(text, output.tools, cut, usage_of(request, generated))


def _misquoted(answer: dict[str, Any]) -> dict[str, Any]:
    """With the words of the first quotation in another order."""
    if not answer.get("evidence"):
        return answer
    first, *others = answer["evidence"]
    return {**answer, "evidence": [{**first, "quote": " ".join(reversed(f"{first['quote']} not".split()))}, *others]}


def usage_of(request: ModelRequest, generated: int) -> Usage:
    """The usage of a call whose reply has `generated` characters."""
    return Usage(input_tokens=tokens_of(request.messages), output_tokens=generated // _CHARACTERS_A_TOKEN)


def tokens_of(messages: Sequence[ModelMessage]) -> int:
    """The tokens of a prompt."""
    sent = sum([len(message.text) + sum(map(len, message.shared)) for message in messages])
    pictures = sum([len(message.pictures) for message in messages])
    return sent // _CHARACTERS_A_TOKEN + pictures * ESTIMATED_PICTURE_TOKENS


MODEL_VERSION = "simulated-1"


class SimulatedProvider(Provider):
    """Calls no model. Any model name is accepted: the answer depends on the prompt and the seed only."""

    simulated = True
    max_in_flight = None

    def __init__(self, script: Script = NO_FAULTS) -> None:
        self._script = script
        self._reader = SimulatedReader(fixed=script.answers == "scripted")

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        """Answer the prompt, after the script's latency and unless it draws a fault."""
        seconds = self._script.seconds(request.trace)
        if seconds:
            await asyncio.sleep(seconds)
        fault = self._script.fault(request.trace)
        if fault in _WITHOUT_ANSWER:
            return ModelReply(
                CallOutcome(fault), error=f"simulated fault: {fault}", model_version=MODEL_VERSION, cost=0.0
            )
        reply = render_reply(
            self._reader, self._reader.read_prompt(request), request, fault, self._script.points_of(request.trace)
        )
        if on_chunk is not None and not request.questions:
            for piece in reply.pieces():
                on_chunk(piece)
        if request.questions:
            body = f'{{"model": "{MODEL_VERSION}", "answers": {decision_body(distributions(reply.text))}}}'
            return ModelReply(
                CallOutcome.ANSWERED,
                answer=body.encode("utf-8"),
                model_version=MODEL_VERSION,
                usage=reply.usage,
                cost=0.0,
            )
        tools = reply.tools
        return ModelReply(
            CallOutcome.TRUNCATED if reply.cut else CallOutcome.ANSWERED,
            answer=None if tools else reply.text.encode("utf-8"),
            tool_calls=tools,
            model_version=MODEL_VERSION,
            finish_reason="length" if reply.cut else "tool_calls" if tools else "stop",
            usage=reply.usage,
            cost=0.0,
        )


_WITHOUT_ANSWER = frozenset(
    outcome.value for outcome in CallOutcome if outcome not in {CallOutcome.ANSWERED, CallOutcome.TRUNCATED}
)
"""Outcomes without an answer."""
