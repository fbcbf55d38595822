"""A debate held once more from its record alone: exchanges told again to the rules, no model asked."""

import json
from typing import Any

from jury_debate.debate import Debate
from jury_events.codec import decode
from jury_events.debate_events import CoordinatorResumed, DebateOpened
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import calls_stream, debate_stream
from jury_events.parts import SALT_BYTES, PartPen, encode_digest
from jury_store.event_store import EventStore


def recorded(store: EventStore, debate_id: str) -> list[Any]:
    """A debate's events as JSON with their texts in place; those that tell of a takeover are left out."""
    texts = {encode_digest(digest): part.content for digest, part in store.parts(debate_id).items()}
    events = [decode(stored) for stored in store.read_stream(debate_stream(debate_id))]
    return [_with_texts(event, texts.__getitem__) for event in events if not isinstance(event, CoordinatorResumed)]


def told_again(store: EventStore, debate_id: str) -> list[Any]:
    """The same as the rules make it of the opening and the exchanges, up to where an answer is missing.

    Each exchange is checked to be the call that the conversation makes next, as it was sent.
    """
    pen = PartPen(lambda: bytes(SALT_BYTES), store.parts(debate_id).values())
    exchanges = [decode(stored) for stored in store.read_stream(calls_stream(debate_id))]
    opened = decode(store.read_stream(debate_stream(debate_id))[0])
    assert isinstance(opened, DebateOpened)
    debate = Debate(opened, pen.text(opened.secret), pen)
    events: list[Any] = [opened]
    while True:
        events += debate.advance()
        learnt = False
        for step in debate.asked_for():
            conversation = debate.rules.converse(debate.assign(step), pen)
            for exchange in (one for one in exchanges if isinstance(one, ExchangeRecorded) and one.step == step.id):
                call = conversation.call
                assert call is not None, f"{exchange.event_id} came after the step's outcome"
                assert (call.model, call.turn, call.attempt, call.tools) == (
                    exchange.model, exchange.turn, exchange.attempt, exchange.tools,
                )  # fmt: skip
                assert _sent(call.messages, pen) == _sent(exchange.request, pen)
                conversation.hear(debate.rules.recall(exchange, pen.text))
            if conversation.outcome is not None:
                debate.learn(step.id, conversation.outcome)
                learnt = True
        if not learnt:
            return [_with_texts(event, pen.content) for event in events]


def _sent(messages: Any, pen: PartPen) -> list[Any]:
    return [(one.role, b"".join(map(pen.text, one.parts)), one.call_id) for one in messages]


def _with_texts(event: Any, text: Any) -> Any:
    def followed(value: Any) -> Any:
        if isinstance(value, dict):
            if value.keys() == {"part"}:
                return text(value["part"]).decode("utf-8", "backslashreplace")
            return {key: followed(one) for key, one in value.items()}
        return [followed(one) for one in value] if isinstance(value, list) else value

    return followed(json.loads(event.model_dump_json()))
