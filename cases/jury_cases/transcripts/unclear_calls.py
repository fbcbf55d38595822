"""Results of which the record does not say the call."""

from collections.abc import Iterable
from typing import NamedTuple

from jury_cases.transcripts.authors import MessageAuthor
from jury_events.pending_calls import PendingCalls
from jury_events.transcript import Item, ToolCall, ToolResult


class BuiltItem(NamedTuple):
    """An item of a transcript that is being built.

    Attributes:
        item: as it was added.
        author: of its message, as the record writes it; None: not recorded.
        in_order: a result without an id belongs to the first open call of its name, by the format's protocol.
    """

    item: Item
    author: MessageAuthor | None = None
    in_order: bool = False


def with_unclear_calls(built: Iterable[BuiltItem]) -> tuple[Item, ...]:
    """The items; results without the id of their call are marked `call_unknown` where several open calls remain."""
    calls = PendingCalls()
    found: list[Item] = []
    for item, _, in_order in built:
        kept = item
        if isinstance(item, ToolCall):
            calls.called(len(found), item.name, item.call_id)
        elif isinstance(item, ToolResult) and item.call_unknown:
            calls.answered_by_unknown(item.name)
        elif isinstance(item, ToolResult):
            if item.call_id is None and not in_order and calls.candidates(item.name) > 1:
                kept = item.model_copy(update={"call_unknown": True})
                calls.answered_by_unknown(item.name)
            else:
                calls.answered(item.name, item.call_id)
        found.append(kept)
    return tuple(found)
