"""Reviews as human labels: of every reviewer the last verdict on a case, for statistics, gates and calibration."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter

import pyarrow as pa

from jury_analysis.ballots import DECISIVE_MESSAGE, LABELS
from jury_cases.votes.words import VerdictWords
from jury_events.errors import SettingError
from jury_events.review_facts import Review
from jury_judge.reviews.review_agreement import DecisiveMessages
from jury_store.debate_rows import DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST, PageCursor

_PAGE = 1000


@dataclass(frozen=True)
class ReviewLabels:
    """Labels of people who reviewed debates."""

    labels: pa.Table
    """`jury_analysis.labels.LABELS` and `DECISIVE_MESSAGE`, a row a case and reviewer, sorted."""
    left_out: int
    """Reviews that are not in the random sample, where only that is read: not blind, or not drawn at random."""
    not_reviewed: int
    """Cases that were drawn at random for a reviewer who has no blind review of them; counted with the sample only."""


class CountedReviews:
    """Of each person the review of a case that counts: the last one, in the random sample the first.

    After the first debate of a case the reviewer has seen what that jury said of it.

    Args:
        random_only: of the blind reviews of cases that were drawn at random for their reviewer.
    """

    def __init__(self, *, random_only: bool = False) -> None:
        self._random_only = random_only
        self._found: dict[tuple[str, str], tuple[Review, DebateRow]] = {}

    def take(self, row: DebateRow) -> int:
        """The reviews of one debate; returns how many of those that stand are not in the sample."""
        facts = row.review_facts
        chosen = facts.random_sample if self._random_only else facts.standing
        for one in chosen:
            key = row.case_id, one.reviewer
            before = self._found.get(key)
            if before is None or (_order(one, row) < _order(*before)) == self._random_only:
                self._found[key] = one, row
        return len(facts.standing) - len(chosen)

    @property
    def by_case(self) -> Mapping[tuple[str, str], tuple[Review, DebateRow]]:
        """The review and its debate by case id and reviewer, sorted."""
        return dict(sorted(self._found.items(), key=itemgetter(0)))


def _order(review: Review, row: DebateRow) -> tuple[int, int, int]:
    return review.reviewed_at, row.position, review.number


def review_labels(store: EventStore, words: VerdictWords | None = None, *, random_only: bool = False) -> ReviewLabels:
    """The labels of all reviews of a store that count; debates in quarantine and foreign reviews are left out.

    A case that a person reviewed in several debates has the last of these verdicts; in the random sample the first.

    Args:
        store: open for reading.
        words: what the verdicts mean as labels; None: themselves.
        random_only: only blind reviews of cases that were drawn at random for their reviewer: a random sample of all
            cases, whatever the jury said of them.
    """
    meanings = words or VerdictWords()
    counted = CountedReviews(random_only=random_only)
    left_out = 0
    waiting: set[tuple[str, str]] = set()
    for row in _people(store):
        left_out += counted.take(row)
        waiting |= {(row.case_id, one.reviewer) for one in row.assignments if one.sampled and not one.foreign}
    found = counted.by_case
    messages = DecisiveMessages(store, found.values())
    rows = [
        {"case_id": case, "annotator": reviewer, "label": label, DECISIVE_MESSAGE.name: messages.of(review, row)}
        for (case, reviewer), (review, row) in found.items()
        if (label := _meaning(meanings, review)) is not None
    ]
    if not rows:
        what = "blind review of a case that was drawn at random" if random_only else "review that counts"
        raise SettingError(
            f"--labels reviews: this store has no {what}; `jury review` records reviews, with --sample N --blind of a "
            "random sample"
        )
    not_reviewed = len({case for case, _ in waiting - found.keys()}) if random_only else 0
    return ReviewLabels(pa.Table.from_pylist(rows, LABELS.append(DECISIVE_MESSAGE)), left_out, not_reviewed)


def _meaning(words: VerdictWords, review: Review) -> str | None:
    """The label where labels of that scale are counted, else what the verdict means."""
    scale = words.labels_of
    if scale is not None and review.label in scale.ids:
        return review.label
    return words.meaning(review.verdict, "label")


def _people(store: EventStore) -> Iterable[DebateRow]:
    """Debates that people reviewed or are asked for."""
    after = PageCursor(0)
    while rows := store.list_debates(
        DebateFilter(may_need_review=True, counted=None), OLDEST, limit=_PAGE, after=after
    ):
        yield from (row for row in rows if row.reviews or row.assignments)
        after = PageCursor(rows[-1].position)
