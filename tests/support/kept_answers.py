"""A provider whose models say what is kept for them in a file: the same whatever the rules, prompts and ballots are."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jury_events import CallOutcome, Usage
from jury_providers import (
    NO_ENDPOINTS,
    Endpoints,
    ModelReply,
    ModelRequest,
    OnChunk,
    Provider,
    RequestedTool,
    Script,
    ballot_in,
)

MODEL_VERSION = "simulated-1"
_NULL_UNLESS_ASKED = ("statement", "scenarios", "decisive_item")


class KeptAnswers(Provider):
    """Answers each call by its exchange id (`round-1/gpt/model/turn/try`).

    What a file has for one of them: `answer`, an object to which the seat's ballot is added unless it has one, and null
    for what the step does not ask; `text`, an answer of another form; `tools` that are called; `probabilities` of a
    decision model, by question; `outcome`, that of a failed call. In a debate that others branch off, the id may begin
    with the end of the debate's name (`origin-0/`).
    """

    simulated = True
    max_in_flight = None

    def __init__(self, path: Path) -> None:
        self._kept: dict[str, Any] = json.loads(path.read_text("utf-8"))
        self._given = set[str]()
        self._missing = set[str]()

    def factory(self, _script: Script, _endpoints: Endpoints = NO_ENDPOINTS) -> Callable[[str], Provider]:
        """In place of the `provider_factory` of a runtime."""
        return lambda _name: self

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        debate, _, exchange = request.trace.partition("/")
        places = (f"{debate.rpartition('~')[2]}/{exchange}", exchange)
        place = next((one for one in places if one in self._kept), None)
        if place is None:
            self._missing.add(exchange)
            raise LookupError(f"no answer is kept for {exchange}")
        self._given.add(place)
        return _reply(self._kept[place], request)

    def check_all_given(self) -> None:
        """Raise ValueError unless each kept answer was given, and each call had one."""
        unused = set(self._kept) - self._given
        if unused or self._missing:
            raise ValueError(f"answers without a call: {sorted(unused)}; without an answer: {sorted(self._missing)}")


def _reply(kept: Mapping[str, Any], request: ModelRequest) -> ModelReply:
    outcome = CallOutcome(kept.get("outcome", CallOutcome.ANSWERED))
    text = _text(kept, request)
    tools = tuple(
        RequestedTool(f"call-{number}", tool["name"], json.dumps(tool["arguments"]))
        for number, tool in enumerate(kept.get("tools", ()), start=1)
    )
    failed = text is None and not tools
    return ModelReply(
        outcome,
        answer=None if text is None else text.encode("utf-8"),
        error=f"stated: {outcome.value}" if failed else None,
        tool_calls=tools,
        model_version=MODEL_VERSION,
        finish_reason=None if failed else "length" if "outcome" in kept else "tool_calls" if tools else "stop",
        usage=Usage() if failed else Usage(input_tokens=_tokens(request), output_tokens=len(text or "") // 4),
        cost=0.0,
    )


def _text(kept: Mapping[str, Any], request: ModelRequest) -> str | None:
    if "probabilities" in kept:
        answers = {
            name: {"type": "choice", "choice": max(one, key=one.__getitem__), "probabilities": one}
            for name, one in kept["probabilities"].items()
        }
        return json.dumps({"model": MODEL_VERSION, "answers": answers})
    if "answer" not in kept:
        return kept.get("text")
    asked = request.schema.get("properties", {})
    nothing = {name: None for name in _NULL_UNLESS_ASKED if name in asked}
    ballot = ballot_in(next(message.whole for message in request.messages if message.role == "user"))
    return json.dumps({"ballot": ballot, **nothing, **kept["answer"]}, ensure_ascii=False)


def _tokens(request: ModelRequest) -> int:
    return sum(len(message.whole) for message in request.messages) // 4
