"""The reply in a recorded exchange."""

from collections.abc import Callable

from jury_debate.conversation import Reply, ToolTurn
from jury_events.exchange import ExchangeRecorded
from jury_events.parts import PartRef


def reply_from_record(exchange: ExchangeRecorded, text: Callable[[PartRef], bytes]) -> Reply:
    """See `Rules.reply_from_record`."""
    return Reply(
        outcome=exchange.outcome,
        model_version=exchange.model_version,
        simulated=exchange.simulated,
        seconds=(exchange.waited_ms + exchange.latency_ms) / 1000,
        answer=None if exchange.answer is None else text(exchange.answer),
        appended=exchange.response or exchange.answer,
        tools=tuple(
            ToolTurn(call.call_id, call.result, call.name, call.arguments, call.ok) for call in exchange.tool_calls
        ),
    )
