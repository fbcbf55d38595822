"""One small call to each model of a panel, outside any debate: whether it answers, its model version, its latency."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from jury_debate.decision_seats import DecisionQuestion, QuestionOption
from jury_events.ids import exchange_id
from jury_events.outcome import ANSWERS, CallOutcome
from jury_events.panel import CallSettings, Panel
from jury_providers.dialect_search import NOT_TAKEN, FoundDialect, find_dialect
from jury_providers.dialects import SpokenDialect
from jury_providers.errors import ProviderError
from jury_providers.provider import ModelMessage, ModelReply, ModelRequest, Provider, ServedModel

MAX_OUTPUT_TOKENS = 256
"""Enough for a reasoning model to begin; a truncated answer shows that the model is reachable."""

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "ready": {"type": "boolean"},
        "note": {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 9}, {"type": "null"}]},
        "marks": {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 9}, "maxItems": 2},
    },
    "required": ["ready", "note", "marks"],
    "additionalProperties": False,
}
"""With the keywords that the schemas of answers have: some servers refuse one."""

_MESSAGES = (
    ModelMessage("system", "You answer with exactly one JSON object."),
    ModelMessage("user", 'Answer with {"ready": true, "note": null, "marks": []} and nothing else.'),
)
_QUESTIONS = (
    DecisionQuestion(
        name="ready",
        instructions="Is this a first call to see whether the model answers?",
        options=(
            QuestionOption(value="yes", description="It is."),
            QuestionOption(value="no", description="It is not."),
        ),
    ),
)
_RECORD = (ModelMessage("user", "", shared=("A first call, to see whether the model answers.",)),)
_UNREACHED = frozenset({CallOutcome.CONNECTION, CallOutcome.TIMEOUT})


class ProbeResult(NamedTuple):
    """The result of one call; `simulated`: no model was called.

    `served`: what its server says of the model. `found`: how its server takes calls, where that was found out with this
    model.
    """

    model: str
    reply: ModelReply
    seconds: float
    simulated: bool
    served: ServedModel = ServedModel()
    found: FoundDialect | None = None

    @property
    def answers(self) -> bool:
        """Whether the model is usable."""
        return self.reply.outcome in ANSWERS


def decision_models(panel: Panel) -> frozenset[str]:
    """The models of a panel that answer typed questions."""
    return frozenset(
        model for seat in panel.seats if seat.questions is not None for model in (seat.model, *seat.fallbacks)
    )


def probe_settings(panel: Panel) -> dict[str, CallSettings]:
    """Call settings by model, fallbacks and the final judge included; those of its first seat."""
    found: dict[str, CallSettings] = {}
    for place in (*panel.seats, *((panel.final.judge,) if panel.final.judge else ())):
        for model in (place.model, *place.fallbacks):
            most = min(place.settings.max_output_tokens, MAX_OUTPUT_TOKENS)
            found.setdefault(model, place.settings.changed(max_output_tokens=most))
    return found


async def probe(
    calls: Mapping[str, CallSettings],
    providers: Callable[[str], Provider],
    deciding: frozenset[str] = frozenset(),
) -> list[ProbeResult]:
    """One call for each of `calls` (settings by `provider/model`), concurrently; results in their order.

    Those of `deciding` are asked a typed question. Of a server of Chat Completions that is not OpenAI's it is found out
    in some further calls what it takes, and its models are asked so.
    """
    clients = {name: providers(name) for name in dict.fromkeys(model.partition("/")[0] for model in calls)}
    try:
        requests = {model: _request(model, one, model in deciding) for model, one in calls.items()}
        asked = (_call(model, clients, request) for model, request in requests.items())
        results = {one.model: one for one in await asyncio.gather(*asked)}
        searches = (_find(name, client, requests, results) for name, client in clients.items())
        for found in await asyncio.gather(*searches):
            results |= found
        return list(results.values())
    finally:
        for client in clients.values():
            await client.close()


def _request(model: str, settings: CallSettings, decides: bool) -> ModelRequest:
    bare, trace = model.partition("/")[2], f"probe/{exchange_id('probe', model, 1, 1)}"
    if decides:
        return ModelRequest(bare, _RECORD, (), {}, settings, trace, questions=_QUESTIONS)
    return ModelRequest(bare, _MESSAGES, (), _SCHEMA, settings, trace)


async def _find(
    name: str, client: Provider, requests: Mapping[str, ModelRequest], results: Mapping[str, ProbeResult]
) -> dict[str, ProbeResult]:
    """The results that change by what is found out of a provider's server: with its first model that it refused."""
    known, models = client.dialect, [model for model in requests if model.partition("/")[0] == name]
    if known is None:
        return {}
    first = next((model for model in models if results[model].reply.outcome in NOT_TAKEN), models[0])

    async def ask(dialect: SpokenDialect, following: tuple[ModelMessage, ...]) -> ModelReply:
        client.speak(dialect)
        request = requests[first]
        return (await _timed(client, request._replace(messages=(*request.messages, *following))))[0]

    found = await find_dialect(ask, known, results[first].reply, client.dialect_ways)
    client.speak(found.dialect)
    changed = {first: results[first]._replace(reply=found.reply, found=found)}
    if found.fields:
        others = [one for one in models if one != first and not results[one].answers]
        again = await asyncio.gather(*(_call(one, {name: client}, requests[one]) for one in others))
        changed |= dict(zip(others, again, strict=True))
    return changed


async def _call(model: str, clients: Mapping[str, Provider], request: ModelRequest) -> ProbeResult:
    provider, _, bare = model.partition("/")
    client = clients[provider]
    reply, seconds = await _timed(client, request)
    served = ServedModel() if reply.outcome in _UNREACHED else await client.served_model(bare)
    return ProbeResult(model, reply, seconds, reply.simulated or client.simulated, served)


async def _timed(client: Provider, request: ModelRequest) -> tuple[ModelReply, float]:
    """One call, and the seconds that it took; it never raises."""
    settings = request.settings
    started = time.perf_counter()
    try:
        async with asyncio.timeout(settings.attempt_seconds):
            reply = await client.call(request)
    except TimeoutError:
        reply = ModelReply(CallOutcome.TIMEOUT, error=f"no answer within {settings.attempt_seconds:g} s")
    except ProviderError as error:
        reply = ModelReply(CallOutcome.CONNECTION, error=str(error))
    except Exception as error:  # noqa: BLE001  (the probe reports adapters that raise)
        reply = ModelReply(CallOutcome.MALFORMED_RESPONSE, error=f"the adapter broke: {type(error).__name__}: {error}")
    return reply, time.perf_counter() - started
