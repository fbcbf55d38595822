"""The messages of the source that reviewers name as the first that went wrong."""

from collections import defaultdict
from collections.abc import Iterable

from jury_events.review_facts import Review
from jury_judge.stores.case_messages import CaseMessages
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore

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
        cases = CaseMessages(store)
        self._found: dict[tuple[str, int], int] = {}
        debates = sorted(named)
        for start in range(0, len(debates), _PAGE):
            # The number of a message alone does not name one of a case with several scenarios.
            found = cases.opened(debates[start : start + _PAGE])
            opened = [one for one in found if one.scenarios == 1]
            for debate_id, messages in cases.of(opened).items():
                for item in named[debate_id]:
                    if (message := messages.named(item)) is not None:
                        self._found[debate_id, item] = message

    def of(self, review: Review, row: DebateRow) -> int | None:
        """The number of the message, from 0; None: the review names no item, or the message is not known."""
        return None if review.decisive_item is None else self._found.get((row.debate_id, review.decisive_item))
