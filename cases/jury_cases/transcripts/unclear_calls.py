"""Items of a transcript that is being built: results of which the record does not say the call, and sources."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jury_cases.transcripts.authors import MessageAuthor
from jury_events.pending_calls import PendingCalls
from jury_events.transcript import Item, ItemSource, ToolCall, ToolResult


class BuiltItem(NamedTuple):
    """An item of a transcript that is being built.

    Attributes:
        item: as it was added.
        author: of its message, as the record writes it; None: not recorded.
        in_order: a result without an id belongs to the first open call of its name, by the format's protocol.
        message: the number of its message in the source; None: it was added between messages.
        place: its path in the source.
    """

    item: Item
    author: MessageAuthor | None = None
    in_order: bool = False
    message: int | None = None
    place: str = ""


def with_unclear_calls(built: Iterable[BuiltItem]) -> tuple[Item, ...]:
    """The items; results without the id of their call are marked `call_unknown` where several open calls remain."""
    calls = PendingCalls()
    found: list[Item] = []
    for one in built:
        item = kept = one.item
        if isinstance(item, ToolCall):
            calls.called(len(found), item.name, item.call_id)
        elif isinstance(item, ToolResult) and item.call_unknown:
            calls.answered_by_unknown(item.name)
        elif isinstance(item, ToolResult):
            if item.call_id is None and not one.in_order and calls.candidates(item.name) > 1:
                kept = item.model_copy(update={"call_unknown": True})
                calls.answered_by_unknown(item.name)
            else:
                calls.answered(item.name, item.call_id)
        found.append(kept)
    return tuple(found)


def sources_of(built: Sequence[BuiltItem]) -> tuple[ItemSource, ...]:
    """Where the items come from. One between messages belongs to the message before it; before the first, to that."""
    number = next((one.message for one in built if one.message is not None), 0)
    found: list[ItemSource] = []
    for one in built:
        number = number if one.message is None else one.message
        found.append(ItemSource(message=number, place=one.place))
    return tuple(found)
