"""How often reviewers name the same decisive item: as each other, and as the jury of the debate."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from jury_events.errors import EventError
from jury_events.review_facts import Review
from jury_store.event_store import EventStore
from jury_views.debate_fold import decisive_items, evaluations_of

_PAGE = 50


class SharedItems(NamedTuple):
    """Of `compared` pairs that both name an item, `same` name the same one."""

    same: int
    compared: int


class DecisiveAgreement(NamedTuple):
    """`people`: pairs of reviewers of one debate; `jury`: reviewers and the item of the debate's jury.

    The item of a jury is the one that more of its last evaluations name than any other.
    """

    people: SharedItems
    jury: SharedItems


def decisive_agreement(store: EventStore, reviews: Mapping[str, Sequence[Review]]) -> DecisiveAgreement:
    """Compare the items that reviewers name. Only debates of which a reviewer names an item are read.

    Args:
        store: open for reading.
        reviews: of each person one, by the id of the debate.
    """
    named = {
        debate: items
        for debate, given in sorted(reviews.items())
        if (items := [one.decisive_item for one in given if one.decisive_item is not None])
    }
    juries = _juries(store, list(named))
    return DecisiveAgreement(
        _shared(pair for items in named.values() for pair in combinations(items, 2)),
        _shared((item, juries[debate]) for debate, items in named.items() if debate in juries for item in items),
    )


def _shared(pairs: Iterable[tuple[int, int]]) -> SharedItems:
    compared = list(pairs)
    return SharedItems(sum(one == other for one, other in compared), len(compared))


def _juries(store: EventStore, debates: Sequence[str]) -> dict[str, int]:
    """The item of each jury that has one."""
    found = {}
    for start in range(0, len(debates), _PAGE):
        for history in store.histories(debates[start : start + _PAGE]):
            try:
                items = decisive_items(evaluations_of(history.events))
            except EventError:
                continue  # jury verify reports it
            ranked = sorted(items, key=lambda one: -len(one.named_by))
            if ranked and (len(ranked) == 1 or len(ranked[0].named_by) > len(ranked[1].named_by)):
                found[history.debate_id] = ranked[0].item
    return found
