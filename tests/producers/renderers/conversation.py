"""A conversation of an agent, free of any shape, and what a shape can say of it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from producers.story import Kind, marker_of, piece


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call of a tool; `marker` is in the arguments."""

    marker: str
    call_id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Result:
    """The output of a call, or its failure."""

    call: Call
    text: str
    error: bool = False


@dataclass(frozen=True, kw_only=True)
class Step:
    """One answer of the model, and the results of its calls in the order in which they came; some may never come."""

    reasoning: str | None = None
    text: str | None = None
    refusal: str | None = None
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A request, with a picture or not, and the steps of the agent."""

    user: str
    picture: bytes | None = None
    picture_marker: str = ""
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """Exchanges under the agent's instructions."""

    system: str | None
    exchanges: tuple[Exchange, ...]

    @property
    def steps(self) -> Iterator[Step]:
        for exchange in self.exchanges:
            yield from exchange.steps


class Shape(NamedTuple):
    """A shape in which tools keep conversations.

    Attributes:
        name: in the ids of tests.
        render: the conversation as a JSON document, or as a list of JSON lines (`lines`).
        lines: whether it is a file of JSON lines.
        system, reasoning, pictures, failures, parallel: whether it can say instructions, reasoning, pictures in
            requests, that a result is a failure, several calls in one step.
        silent: whether a step may have calls and no text.
        shuffled: whether results may come in another order than their calls.
        unanswered: whether a call may have no result.
        alternating: whether the model only speaks again after a request or a result.
        answered: whether the record ends in a text of the agent.
        refusals: as what it says a refusal; None: not at all.
        order: of the parts of a step.
        speaker: the name of the agent, where the shape has one.
        format: `--format`, where it is not found by itself.
    """

    name: str
    render: Callable[[Conversation], Any]
    lines: bool = False
    system: bool = True
    reasoning: bool = True
    pictures: bool = True
    failures: bool = False
    parallel: bool = True
    silent: bool = True
    shuffled: bool = True
    unanswered: bool = True
    alternating: bool = False
    answered: bool = False
    refusals: Kind | None = "assistant"
    order: tuple[str, ...] = ("reasoning", "text", "refusal", "calls")
    speaker: str | None = None
    format: str | None = None

    def pieces(self, conversation: Conversation) -> list[dict[str, Any]]:
        """What happened, as the shape can say it."""
        found = []
        if conversation.system is not None:
            found.append(_said(conversation.system, "system"))
        for exchange in conversation.exchanges:
            found.append(_said(exchange.user, "user"))
            if exchange.picture is not None:
                found.append(piece(exchange.picture_marker, "attachment"))
            for step in exchange.steps:
                found += self._step(step)
        return found

    def _step(self, step: Step) -> Iterator[dict[str, Any]]:
        for part in self.order:
            if part == "calls":
                for call in step.calls:
                    one = piece(call.marker, "call", name=call.name, speaker=self.speaker)
                    yield {**one, "text": json.dumps(call.arguments)}
            elif (text := getattr(step, part)) is not None:
                kind: Any = {"text": "assistant", "reasoning": "reasoning", "refusal": self.refusals}[part]
                yield {**_said(text, kind), "speaker": self.speaker}
        for result in step.results:
            one = piece(
                marker_of(result.text),
                "result",
                name=result.call.name,
                call=result.call.marker,
                error=result.error and self.failures,
            )
            yield {**one, "text": result.text}


def _said(text: str, kind: Kind) -> dict[str, Any]:
    return {**piece(marker_of(text), kind), "text": text}
