"""Human labels that came later than the votes: of files, and the reviews of a store."""

from collections.abc import Sequence

import pyarrow as pa

from jury_cases.votes.words import VerdictWords
from jury_events.errors import SettingError
from jury_events.text import pluralize
from jury_judge.reviews.review_labels import review_labels
from jury_judge.settings.statistics import REVIEWS
from jury_judge.stores.stores import Say
from jury_judge.tables.ballot_sources import Votes
from jury_judge.tables.vote_files import read_label_files
from jury_store.event_store import EventStore


def with_later_labels(
    votes: Votes, given: Sequence[str], store: EventStore | None, say: Say, *, random_only: bool = False
) -> Votes:
    """The votes with the labels that came later, if any are given.

    Args:
        votes: whose words the labels have.
        given: files, and `REVIEWS`.
        store: with the reviews.
        say: takes remarks on the random sample of reviews.
        random_only: of reviews only a random sample is read, and then no label of a case itself: it was not drawn.
    """
    if not given:
        return votes
    if votes.labels is not None:
        raise SettingError("--annotators and --labels: both give labels; keep one of them")
    labels, words = later_labels(given, votes.words, store, say, random_only=random_only)
    ballots = _without_labels(votes.ballots) if random_only and REVIEWS in given else votes.ballots
    return votes._replace(ballots=ballots, labels=labels, words=words)


def later_labels(
    given: Sequence[str], words: VerdictWords, store: EventStore | None, say: Say, *, random_only: bool = False
) -> tuple[pa.Table, VerdictWords]:
    """The labels of files, and of the reviews of a store where `REVIEWS` is among the names; and their verdicts.

    Those of reviews have the column `jury_analysis.ballots.DECISIVE_MESSAGE` too.
    """
    files = [one for one in given if one != REVIEWS]
    found: list[pa.Table] = []
    if files:
        table, words = read_label_files(files, words)
        found.append(table)
    if len(files) < len(given):
        assert store is not None, "settings refuse reviews without a store"
        found.append(_reviews(store, words, say, random_only=random_only))
    return pa.concat_tables(found, promote_options="default"), words


def _reviews(store: EventStore, words: VerdictWords, say: Say, *, random_only: bool) -> pa.Table:
    found = review_labels(store, words, random_only=random_only)
    if found.left_out:
        say(f"{pluralize(found.left_out, 'review')} not blind or not drawn at random: left out of the random sample")
    if found.not_reviewed:
        say(
            f"{pluralize(found.not_reviewed, 'case')} drawn at random without a blind review: the sample is random "
            "only if nothing about these cases kept them from being reviewed"
        )
    return found.labels


def _without_labels(ballots: pa.Table) -> pa.Table:
    """The same ballots without the labels that are part of the cases."""
    for name in ("label", "human_label"):
        if name in ballots.column_names:
            place = ballots.schema.get_field_index(name)
            field = ballots.schema.field(place)
            ballots = ballots.set_column(place, field, pa.nulls(ballots.num_rows, field.type))
    return ballots
