"""Items of a transcript that is being built: results of which the record does not say the call, and sources."""

from collections.abc import Sequence
from typing import NamedTuple

from jury_cases.transcripts.authors import MessageAuthor
from jury_events.transcript import Item, ItemSource, ToolResult, joins_of


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


def with_unclear_calls(built: Sequence[BuiltItem]) -> tuple[Item, ...]:
    """The items; results of which the record does not say the call are marked `call_unknown`.

    A file of such a result is one of its message: the id that it has means several calls.
    """
    items = [one.item for one in built]
    joins = joins_of(items, [one.in_order for one in built])
    return tuple(_marked(item) if join.unclear else item for item, join in zip(items, joins, strict=True))


def _marked(item: Item) -> Item:
    update = {"call_unknown": True} if isinstance(item, ToolResult) else {"call_id": None}
    return item.model_copy(update=update)


def sources_of(built: Sequence[BuiltItem]) -> tuple[ItemSource, ...]:
    """Where the items come from. One between messages belongs to the message before it; before the first, to that."""
    number = next((one.message for one in built if one.message is not None), 0)
    found: list[ItemSource] = []
    for one in built:
        number = number if one.message is None else one.message
        found.append(ItemSource(message=number, place=one.place))
    return tuple(found)
