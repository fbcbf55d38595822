"""Do the people agree who reviewed the same debates?"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from jury_analysis.agreement import Agreement, agreement
from jury_analysis.ballots import SCHEMA, check
from jury_analysis.scale import OURS, Scale
from jury_analysis.vote_matrix import vote_matrix
from jury_events.review_facts import Review
from jury_judge.errors import ReviewRefused
from jury_judge.reviews.decisive_agreement import DecisiveAgreement, decisive_agreement
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST, PageCursor

_PAGE = 200


@dataclass(frozen=True)
class ReviewAgreement:
    """The agreement of reviewers, each debate with the first verdict of each of them that was not withdrawn.

    Later verdicts are left out: they may follow from what others said.
    """

    reviewers: dict[str, int]
    """How many debates each of them reviewed, sorted by name."""
    together: int
    """Debates that two people or more reviewed."""
    agreement: Agreement
    """The seats are the reviewers; `pairs` has Cohen's κ of each two."""
    disputed: tuple[str, ...]
    """Debates in which no verdict has more than half of the reviewers today, as they opened: for a third person."""
    decisive: DecisiveAgreement
    """Of the same first verdicts: whether the items agree that they name."""
    labels: tuple[str, ...] | None = None
    """The labels that are compared, the best first, where every first review has one of the same scale; None: the
    three verdicts are."""


def review_agreement(
    store: EventStore, wanted: DebateFilter = EVERY_DEBATE, seen_by: str | None = None
) -> ReviewAgreement:
    """The agreement of the people who reviewed the debates of a store; intervals are 95 %, over clusters of cases.

    Args:
        store: open for reading.
        wanted: which debates.
        seen_by: the figures are over debates that this person reviewed, and show nothing of the others; None: over all.
    """
    every = [row for row in _reviewed(store, wanted) if row.review_facts.standing]
    rows = every if seen_by is None else [row for row in every if row.review_facts.by(seen_by) is not None]
    disputed = tuple(row.debate_id for row in every if row.review_facts.disputed)
    if not rows and not disputed:
        raise ReviewRefused("no debate has a review yet: `jury review` records them")
    firsts = {row.debate_id: first_reviews(row) for row in rows}
    counts = Counter(one.reviewer for reviews in firsts.values() for one in reviews)
    labels = _common_labels(store, firsts)
    scale = OURS if labels is None else Scale(labels, ordered=True)
    ballots = [_ballot(row, one, by_label=labels is not None) for row in rows for one in firsts[row.debate_id]]
    return ReviewAgreement(
        reviewers=dict(sorted(counts.items())),
        together=sum(len(reviews) > 1 for reviews in firsts.values()),
        agreement=agreement(
            vote_matrix(check(pa.Table.from_pylist(ballots) if ballots else SCHEMA.empty_table()), scale)
        ),
        disputed=disputed,
        decisive=decisive_agreement(store, firsts),
        labels=labels,
    )


def first_reviews(row: DebateRow) -> list[Review]:
    """The first review of each person that was not withdrawn, without foreign ones, in the order of the stream."""
    first: dict[str, Review] = {}
    for one in row.reviews:
        if not one.foreign:
            first.setdefault(one.reviewer, one)
    return list(first.values())


def _reviewed(store: EventStore, wanted: DebateFilter) -> Iterable[DebateRow]:
    after = PageCursor(0)
    while rows := store.list_debates(wanted._replace(reviewed=True), OLDEST, limit=_PAGE, after=after):
        yield from rows
        after = PageCursor(rows[-1].position)


def _common_labels(store: EventStore, firsts: Mapping[str, Sequence[Review]]) -> tuple[str, ...] | None:
    """The labels of the one scale in which all these reviews are given, the best first; None: there is none."""
    every = [one for reviews in firsts.values() for one in reviews]
    if not every or any(one.label is None for one in every):
        return None
    debates, scales = sorted(firsts), {}
    for start in range(0, len(debates), _PAGE):
        for history in store.histories(debates[start : start + _PAGE]):
            if (scale := history.opened.panel.scale) is not None:
                scales[scale.digest] = scale.ids[::-1]
    return scales.popitem()[1] if len(scales) == 1 else None


def _ballot(row: DebateRow, review: Review, *, by_label: bool) -> dict[str, object]:
    return {
        "debate_id": row.debate_id,
        "case_id": row.case_id,
        "cluster": row.cluster or row.case_id,
        "repeat": 1,
        "round": 0,
        "role": "juror",
        "seat": review.reviewer,
        "kind": "own",
        "verdict": review.word if by_label else review.verdict,
        "simulated": False,
    }
