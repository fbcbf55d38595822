"""The messages of the source that reviewers name as the first that went wrong."""

from collections import defaultdict
from collections.abc import Iterable

from jury_events.errors import EventError
from jury_events.review_facts import Review
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore
from jury_views.message_of_item import message_of_item

_PAGE = 50


class DecisiveMessages:
    """The messages of the decisive items of reviews. Only debates of which an item is named are read.

    Args:
        store: open for reading.
        reviews: with their debates.
    """

    def __init__(self, store: EventStore, reviews: Iterable[tuple[Review, DebateRow]]) -> None:
        named: defaultdict[str, set[int]] = defaultdict(set)
        for review, row in reviews:
            if review.decisive_item is not None:
                named[row.debate_id].add(review.decisive_item)
        ids = sorted(named)
        self._found: dict[tuple[str, int], int | None] = {}
        for start in range(0, len(ids), _PAGE):
            for history in store.histories(ids[start : start + _PAGE]):
                try:
                    opened = history.opened
                except EventError:
                    continue  # jury verify reports it
                for item in named[history.debate_id]:
                    self._found[history.debate_id, item] = message_of_item(opened, history.texts, item)

    def of(self, review: Review, row: DebateRow) -> int | None:
        """The number of the message, from 0; None: the review names no item, or the message is not known."""
        return None if review.decisive_item is None else self._found.get((row.debate_id, review.decisive_item))
