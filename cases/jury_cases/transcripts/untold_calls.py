"""Results of which the record does not tell the call."""

from collections.abc import Collection, Sequence

from jury_events.open_calls import OpenCalls
from jury_events.transcript import Item, ToolCall, ToolResult


def with_untold_calls(items: Sequence[Item], in_order: Collection[int]) -> tuple[Item, ...]:
    """The items; results without the id of their call are marked `call_unknown` where several open calls remain.

    Args:
        items: of a transcript.
        in_order: the indices of results whose protocol is that they come in the order of the calls of their name.
    """
    calls = OpenCalls()
    found: list[Item] = []
    for index, item in enumerate(items):
        kept = item
        if isinstance(item, ToolCall):
            calls.called(index, item.name, item.call_id)
        elif isinstance(item, ToolResult):
            if item.call_unknown:
                calls.answered_by_unknown(item.name)
            elif item.call_id is None and index not in in_order and calls.candidates(item.name) > 1:
                kept = item.model_copy(update={"call_unknown": True})
                calls.answered_by_unknown(item.name)
            else:
                calls.answered(item.name, item.call_id)
        found.append(kept)
    return tuple(found)
