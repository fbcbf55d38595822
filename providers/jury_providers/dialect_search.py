"""Finds out what a server of Chat Completions takes: a few small calls, each with one thing changed.

Where a call in the known dialect is answered, only the turn after it is tried. Else the plainest call is made (no
format, no system role, `max_tokens`), and each thing that it leaves out is added to it alone: what is refused is left
out. Of roles the usual one alone is tried: servers take others and pass their text over."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from jury_debate.model_json import MODEL_JSON
from jury_events.outcome import ANSWERS, CallOutcome
from jury_events.strict_json import InvalidJson
from jury_providers.dialects import SpokenDialect, Ways
from jury_providers.provider import ModelMessage, ModelReply

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
