"""A recorded exchange told to a conversation again."""

from collections.abc import Callable

from jury_debate.rules_v1.conversation import Reply, ToolTurn
from jury_events.exchange import ExchangeRecorded
from jury_events.parts import PartRef


def recall(exchange: ExchangeRecorded, text: Callable[[PartRef], bytes]) -> Reply:
    """The reply that an exchange records.

    Args:
        exchange: as recorded.
        text: the content of a part; what it raises for a missing one is passed on.
    """
    return Reply(
        outcome=exchange.outcome,
        model_version=exchange.model_version,
        simulated=exchange.simulated,
        seconds=(exchange.waited_ms + exchange.latency_ms) / 1000,
        answer=None if exchange.answer is None else text(exchange.answer),
        said=exchange.response or exchange.answer,
        tools=tuple(ToolTurn(call.call_id, call.result) for call in exchange.tool_calls),
    )
