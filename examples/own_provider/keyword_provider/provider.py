"""The provider `keyword`: one rule instead of a model. A real provider calls its service in `call`."""

import json
import re
from typing import Any, NamedTuple

from jury_events.exchange import Usage
from jury_events.outcome import CallOutcome
from jury_events.verdict import FAIL, PASS
from jury_providers.endpoints import Endpoint
from jury_providers.provider import ModelReply, ModelRequest, OnChunk, Provider

_BALLOT = re.compile(r"(?<![A-Za-z0-9])[a-z2-7]{16}(?![A-Za-z0-9])")
_HEADING = re.compile(r"\[([0-9]+)\] |【([0-9]+)】")
_SCENARIOS = re.compile(r"([0-9]+) (?:scenarios|件のシナリオ)")
_WORD = re.compile("password", re.IGNORECASE)


class Quoted(NamedTuple):
    """Words of the material, and the number of their item."""

    item: int
    quote: str


def make(endpoint: Endpoint) -> Provider:
    """The entry point. `endpoint` is the panel file's entry `providers.keyword`."""
    return KeywordProvider(endpoint.base_url)


class KeywordProvider(Provider):
    """Passes every case without the word "password"."""

    max_in_flight = 8
    simulated = True  # no model is called; omit it in a real provider

    def __init__(self, base_url: str | None) -> None:
        self._base_url = base_url  # a real provider sends its requests there

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        """Answer according to the schema. Failures are replies with an outcome; nothing is raised."""
        turns = [message for message in request.messages if message.role in {"system", "user"}]
        asked = "\n".join(message.whole for message in turns if message.role == "user")
        if "ballot" in request.schema["properties"]:
            # The ballot id is in the seat's own text behind the material.
            own = next((text for text in (message.text for message in turns) if _BALLOT.search(text)), None)
            if own is None:
                return ModelReply(CallOutcome.BAD_REQUEST, error="no ballot in the prompt")
            answer = json.dumps(_answer(request.schema, own, asked), ensure_ascii=False)
        else:
            answer = '{"ready": true}'  # the schema of `jury doctor --probe`
        if on_chunk is not None:
            on_chunk(answer)  # in chunks, if the service streams
        return ModelReply(
            CallOutcome.ANSWERED,
            answer=answer.encode(),
            model_version=f"{request.model}-001",
            finish_reason="stop",
            usage=Usage(input_tokens=sum(len(message.whole) for message in turns) // 4, output_tokens=len(answer) // 4),
            cost=0.0,
        )


def _answer(schema: dict[str, Any], own: str, asked: str) -> dict[str, Any]:
    """An answer that matches the schema: each dimension of the rubric at its maximum, or 0."""
    fields = schema["properties"]
    with_items = "decisive_item" in fields
    quoted = _quoted(asked) if with_items else None
    safe = quoted is None if with_items else _WORD.search(asked) is None
    verdict = PASS if safe else FAIL
    reason = "The word does not occur." if safe else "It talks of a password."
    dimensions = fields["scores"]["properties"]
    answer: dict[str, Any] = {
        "ballot": _BALLOT.findall(own)[-1],
        "verdict": verdict,
        "scores": {name: form["maximum"] if safe else 0 for name, form in dimensions.items()},
        "confidence": 0.9,
        "rationale": reason,
    }
    scored = {"verdict": verdict, "score": 90 if safe else 5}
    answer["statement"] = reason
    answer["scenarios"] = [{"scenario_id": one, **scored} for one in _scenarios(own)] or None
    if with_items:
        answer["evidence"] = [] if quoted is None else [_entry(quoted)]
        answer["decisive_item"] = None if quoted is None else quoted.item
    return answer


def _scenarios(own: str) -> list[str]:
    """Their ids are numbers, and the seat's text says how many there are."""
    found = _SCENARIOS.search(own)
    return [str(number) for number in range(1, 1 + int(found[1]))] if found else []


def _quoted(asked: str) -> Quoted | None:
    """The first words of the material that this provider reacts to: an item is a heading and the lines below it."""
    item = None
    for line in asked.split("\n"):
        if heading := _HEADING.match(line):
            item = int(heading[1] or heading[2])
        elif line.startswith("#"):
            item = None
        elif item is not None and (found := _WORD.search(line)):
            return Quoted(item, line[found.start() : found.start() + 40].strip())
    return None


def _entry(quoted: Quoted) -> dict[str, Any]:
    return {"item": quoted.item, "quote": quoted.quote, "says": "against", "criterion": None, "seat": None}
