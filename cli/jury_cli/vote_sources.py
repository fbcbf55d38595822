"""The ballots and labels that the options of `vote_options` select: of a store, or of files of other judges."""

from typing import TYPE_CHECKING, Any

import click

from jury_cli.options import resolved_store
from jury_cli.vote_options import OF_FILES, OF_STORES, REVIEWS, vote_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from jury_cases.votes.words import VerdictWords
    from jury_store.event_store import EventStore

_FLAGS = {
    "run_ids": "--run",
    "everything": "--all",
    "fields": "--field",
    "min_cost": "--min-cost",
    "max_cost": "--max-cost",
    "store_url": "--store",
}


def votes_are_in_files(options: dict[str, Any]) -> bool:
    """Whether the votes are read from files, and not from a store; refuses options that exclude each other."""
    stored = [name for name in (*OF_STORES, "store_url") if options[name]]
    filed = [name for name in OF_FILES if options[name]]
    if [*options["votes"], *options["labels"]].count("-") > 1:
        raise click.UsageError("standard input (-) can be read once: name a file for the votes or for the labels")
    if options["votes"]:
        if REVIEWS in options["labels"]:
            raise click.UsageError(
                "--labels reviews are those of a store: select its debates with --run or --all instead of --votes, or "
                "name a file ./reviews"
            )
        if stored:
            raise click.UsageError(f"{_flag(stored[0])} selects debates of a store: leave it out with --votes")
        return True
    if filed:
        raise click.UsageError(f"{_flag(filed[0])} says how files are read: it goes with --votes FILE")
    if not [name for name in stored if name != "store_url"]:
        raise click.UsageError("name runs with --run ID, or --all, or select with --where COND, or files with --votes")
    if options["everything"] and options["run_ids"]:
        raise click.UsageError("give --run or --all, not both")
    return False


def _flag(name: str) -> str:
    return _FLAGS.get(name, f"--{name.replace('_', '-')}")


def ballots_and_labels(
    options: dict[str, Any],
    words: "VerdictWords",
    *,
    of_files: bool,
    columns: "Sequence[str] | None" = None,
    random_only: bool = False,
) -> "tuple[pa.Table, pa.Table | None]":
    """The ballots, and the labels of annotators or of `--labels`, if there are any.

    Args:
        options: those of `vote_options`.
        words: what words of votes and labels mean.
        of_files: see `votes_are_in_files`.
        columns: see `selected_ballots`.
        random_only: of reviews only a random sample is read, as with `--random-labels`.
    """
    random_only = random_only or options.get("random_labels", False)
    labels = None
    if of_files:
        from jury_cases.votes.vote_files import read_votes

        found = read_votes(options["votes"], vote_options(options, words, options["seats"]))
        ballots, labels = found.ballots, found.labels
    else:
        from jury_store.opening import open_store

        store = open_store(resolved_store(options["store_url"]), write=False)
        try:
            ballots = selected_ballots(store, options, columns)
        finally:
            store.close()
    labels = later_labels(options, words, labels, random_only=random_only)
    if random_only and REVIEWS in options["labels"]:
        # A label that is part of a case was not drawn: beside the reviews the sample would not be random.
        ballots = _without_labels(ballots)
    return ballots, labels


def _without_labels(ballots: "pa.Table") -> "pa.Table":
    """The same ballots without the labels that are part of the cases."""
    import pyarrow as pa

    place = ballots.schema.get_field_index("label")
    field = ballots.schema.field(place)
    return ballots.set_column(place, field, pa.nulls(ballots.num_rows, field.type))


def selected_ballots(
    store: "EventStore", options: dict[str, Any], columns: "Sequence[str] | None" = None
) -> "pa.Table":
    """The ballots that the options select of a store; `columns`: those to read; None: all."""
    from jury_analysis.ballots import SCHEMA
    from jury_cli.list_options import conditions_of
    from jury_judge.tables.ballot_sources import stored_ballots

    return stored_ballots(
        store,
        conditions_of(options),
        run_ids=options["run_ids"],
        seats=options["seats"],
        columns=SCHEMA.names if columns is None else columns,
    )


def later_labels(
    options: dict[str, Any], words: "VerdictWords", labels: "pa.Table | None" = None, *, random_only: bool = False
) -> "pa.Table | None":
    """The labels of `--labels`, else `labels`; of reviews with `random_only` a random sample."""
    if not options["labels"]:
        return labels
    if labels is not None:
        raise click.UsageError("--annotators and --labels: both give labels; keep one of them")
    return given_labels(options["labels"], words, options["store_url"], random_only=random_only)


def given_labels(
    given: "Sequence[str]", words: "VerdictWords", store_url: str | None, *, random_only: bool = False
) -> "pa.Table":
    """The labels of files, and of the reviews of a store where `reviews` is among the names.

    Args:
        given: the values of `--labels`.
        words: what words of labels mean.
        store_url: of the store with the reviews; None: the usual one.
        random_only: of reviews only those of a random sample: blind, of cases drawn at random.

    Raises:
        CaseFileError, SettingError: there are no such labels.
    """
    import pyarrow as pa

    from jury_cases.votes.label_files import read_labels

    files = [one for one in given if one != REVIEWS]
    if len(files) == len(given):
        return read_labels(files, words)
    reviews = _reviews(store_url, words, random_only=random_only)
    return pa.concat_tables([read_labels(files, words), reviews]) if files else reviews


def _reviews(store_url: str | None, words: "VerdictWords", *, random_only: bool) -> "pa.Table":
    from jury_cli.terminal import note
    from jury_events.text.pluralize import pluralize
    from jury_judge.reviews.review_labels import review_labels
    from jury_store.opening import open_store

    store = open_store(resolved_store(store_url), write=False)
    try:
        found = review_labels(store, words, random_only=random_only)
    finally:
        store.close()
    if found.left_out:
        note(f"{pluralize(found.left_out, 'review')} not blind or not drawn at random: left out of the random sample")
    if found.not_reviewed:
        note(
            f"{pluralize(found.not_reviewed, 'case')} drawn at random without a blind review: the sample is random "
            "only if nothing about these cases kept them from being reviewed"
        )
    return found.labels
