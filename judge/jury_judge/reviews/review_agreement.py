"""What reviews say as human labels, and how far reviewers agree: on verdicts, and on where it went wrong."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter
from typing import NamedTuple

import pyarrow as pa

from jury_analysis.agreement import Agreement, agreement
from jury_analysis.ballots import DECISIVE_MESSAGE, LABELS, SCHEMA, check
from jury_analysis.scale import OURS, Scale
from jury_analysis.vote_matrix import vote_matrix
from jury_cases.votes.words import VerdictWords
from jury_events.errors import EventError
from jury_events.review_facts import Review
from jury_judge.errors import ReviewRefused, SettingsRefused
from jury_judge.store_access.case_messages import CaseMessages
from jury_judge.store_access.debates import listed_rows
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_views.debate_fold import decisive_items, evaluations_of

_DECISIVE_AT_ONCE = 50


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
    for start in range(0, len(debates), _DECISIVE_AT_ONCE):
        for history in store.histories(debates[start : start + _DECISIVE_AT_ONCE]):
            try:
                items = decisive_items(evaluations_of(history.events))
            except EventError:
                continue  # jury verify reports it
            ranked = sorted(items, key=lambda one: -len(one.named_by))
            if ranked and (len(ranked) == 1 or len(ranked[0].named_by) > len(ranked[1].named_by)):
                found[history.debate_id] = ranked[0].item
    return found


_MESSAGES_AT_ONCE = 50


class DecisiveMessages:
    """The messages of the decisive items of reviews. Only debates of which an item is named are read."""

    def __init__(self, store: EventStore, reviews: Iterable[tuple[Review, DebateRow]]) -> None:
        named: defaultdict[str, set[int]] = defaultdict(set)
        for review, row in reviews:
            if review.decisive_item is not None:
                named[row.debate_id].add(review.decisive_item)
        cases = CaseMessages(store)
        self._found: dict[tuple[str, int], int] = {}
        debates = sorted(named)
        for start in range(0, len(debates), _MESSAGES_AT_ONCE):
            # The number of a message alone does not name one of a case with several scenarios.
            found = cases.opened(debates[start : start + _MESSAGES_AT_ONCE])
            opened = [one for one in found if one.scenarios == 1]
            for debate_id, messages in cases.of(opened).items():
                for item in named[debate_id]:
                    if (message := messages.named(item)) is not None:
                        self._found[debate_id, item] = message

    def of(self, review: Review, row: DebateRow) -> int | None:
        """The number of the message, from 0; None: the review names no item, or the message is not known."""
        return None if review.decisive_item is None else self._found.get((row.debate_id, review.decisive_item))


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
        seen_by: the figures are over debates that this person reviewed, and show nothing of the others; None: over all.
    """
    reviewed = listed_rows(store, wanted._replace(reviewed=True))
    every = [row for row in reviewed if row.review_facts.standing]
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
        raise SettingsRefused(
            f"{{labels}} reviews: this store has no {what}; `jury review` records reviews, with --sample N --blind "
            "of a random sample",
            usage=False,
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
    rows = listed_rows(store, DebateFilter(may_need_review=True, counted=None))
    return (row for row in rows if row.reviews or row.assignments)
