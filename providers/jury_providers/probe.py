"""One small call to each model of a panel, outside any debate; what a server of one's own takes, in a few calls."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from jury_debate.decision_seats import DecisionQuestion, QuestionOption
from jury_events.ids import exchange_id
from jury_events.outcome import ANSWERS, CallOutcome
from jury_events.panel import CallSettings, Panel
from jury_events.strict_json import MODEL_JSON, InvalidJson
from jury_providers.dialects import SpokenDialect, Ways
from jury_providers.errors import ProviderError
from jury_providers.provider import ModelMessage, ModelReply, ModelRequest, Provider, ServedModel

Ask = Callable[[SpokenDialect, tuple[ModelMessage, ...]], Awaitable[ModelReply]]
"""Makes one call in a dialect; the messages behind those of the question."""

NOT_TAKEN = frozenset({CallOutcome.BAD_REQUEST, CallOutcome.OVERLOADED, CallOutcome.MALFORMED_RESPONSE})
"""Ends of a call that may be due to what it asks: servers answer 400, 404, 422, some 500 or nothing."""

_PLAINEST: dict[str, Any] = {
    "structured": "words",
    "output_limit": "max_tokens",
    "system_role": "user",
    "earlier_turns": "plain",
    "stream": None,
}

_RICHER: tuple[dict[str, Any], ...] = (
    {"structured": "json_schema", "schema_bounds": True},
    {"structured": "json_schema", "schema_bounds": False},
    {"structured": "json_object"},
    {"structured": "tool"},
    {"output_limit": "max_completion_tokens"},
    {"system_role": "system"},
)
"""What is added to the plainest call, each alone; of several values of one thing the first that is taken counts."""

_AGAIN = ModelMessage("user", 'Once more: answer with {"ready": true} and nothing else.')


# Where a call in the known dialect is answered, only the turn after it is tried. Else the plainest call is made (no
# format, no system role, `max_tokens`), and each thing that it leaves out is added to it alone: what is refused is left
# out. Of roles the usual one alone is tried: servers take others and pass their text over.
class FoundDialect(NamedTuple):
    """What a server takes. `reply`: to the last call in that dialect; `calls`: how many were made.

    `fields`: in which it differs from the known dialect, as a panel file has them.
    """

    dialect: SpokenDialect
    reply: ModelReply
    calls: int
    fields: dict[str, str]


async def find_dialect(ask: Ask, known: SpokenDialect, first: ModelReply, ways: Ways) -> FoundDialect:
    """What a server takes, from the known dialect on.

    Args:
        known: the dialect as the panel file and the profiles have it.
        ways: what the protocol may ask for.
    """
    search = _Search(ask, known, first, ways)
    if first.outcome in NOT_TAKEN:
        await search.from_plainest()
    if search.reply.outcome is CallOutcome.ANSWERED:
        await search.second_turn()
    found = search.dialect
    changed = {name: value for name, value in found._asdict().items() if value != getattr(known, name)}
    return FoundDialect(found, search.reply, search.calls, {name: _word(value) for name, value in changed.items()})


def is_usable(reply: ModelReply) -> bool:
    """Whether an answer is one JSON object."""
    if reply.outcome is not CallOutcome.ANSWERED or reply.answer is None:
        return False
    try:
        return isinstance(MODEL_JSON.whole(reply.answer.decode("utf-8")), dict)
    except (InvalidJson, UnicodeDecodeError):
        return False


def _word(value: str | bool | None) -> str:
    if value is None:  # of `stream`: as it is needed
        return "never"
    return value if isinstance(value, str) else "on" if value else "off"


class _Search:
    def __init__(self, ask: Ask, known: SpokenDialect, first: ModelReply, ways: Ways) -> None:
        self._ask = ask
        self._ways = ways
        self.dialect, self.reply, self.calls = known, first, 0

    async def _call(self, dialect: SpokenDialect, *messages: ModelMessage) -> ModelReply:
        self.calls += 1
        return await self._ask(dialect, messages)

    async def from_plainest(self) -> None:
        """Where the plainest call is not taken either, nothing is changed: the first error says more."""
        plain = {name: value for name, value in _PLAINEST.items() if name in self._ways or name == "stream"}
        plainest = self.dialect._replace(**plain)
        reply = await self._call(plainest)
        if reply.outcome in NOT_TAKEN:
            plainest = plainest._replace(stream="always")
            reply = await self._call(plainest)
        if reply.outcome not in ANSWERS:
            return
        found: dict[str, Any] = {}
        for richer in _RICHER:
            name = next(iter(richer))
            if name in found or not self._may_ask(richer):
                continue
            answer = await self._call(plainest._replace(**richer))
            if answer.outcome in ANSWERS:
                found |= richer
        usual = SpokenDialect()
        whole = plainest._replace(earlier_turns=usual.earlier_turns, schema_bounds=usual.schema_bounds)._replace(
            **found
        )
        reply = await self._call(whole)
        if reply.outcome in ANSWERS:
            self.dialect, self.reply = whole, reply

    def _may_ask(self, richer: Mapping[str, Any]) -> bool:
        return all(_word(value) in self._ways.get(name, ("on",)) for name, value in richer.items())

    async def second_turn(self) -> None:
        turn = self.reply.response or self.reply.answer
        if turn is None or "earlier_turns" not in self._ways or self.dialect.earlier_turns == "plain":
            return
        messages = ModelMessage("assistant", turn.decode("utf-8", "replace")), _AGAIN
        if (await self._call(self.dialect, *messages)).outcome not in NOT_TAKEN:
            return
        plain = self.dialect._replace(earlier_turns="plain")
        if (await self._call(plain, *messages)).outcome in ANSWERS:
            self.dialect = plain


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
