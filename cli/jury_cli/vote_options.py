"""Options of the commands that read votes: from a store, or from files of other judges."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jury_cli.list_options import filter_options
from jury_cli.options import pairs, store_option

if TYPE_CHECKING:
    from jury_cases.votes.options import VoteOptions
    from jury_cases.votes.words import VerdictWords

F = TypeVar("F", bound=Callable[..., Any])

REVIEWS = "reviews"
"""The value of `--labels` for the reviews of the store; a file of that name is `./reviews`."""

OF_FILES = ("judges", "annotators", "fields", "label", "cluster")
OF_STORES = (
    *("run_ids", "everything", "where", "search", "status", "verdict", "disposition", "reviewed"),
    *("model", "quorum", "min_cost", "max_cost"),
)
WORDS = ("mappings", "order", "categories")


def vote_file_options(command: F) -> F:
    """`--votes FILE` and how its rows are read."""
    for option in (
        click.option(
            "--cluster",
            metavar="COLUMN",
            help="With --votes: what cases have in common, as question; intervals are over clusters. "
            "[default: the case]",
        ),
        click.option(
            "--label", metavar="COLUMN", help="With --votes: the human label, as human.final. [default: label]"
        ),
        click.option(
            "--annotators",
            metavar="PATTERN",
            multiple=True,
            help="With --votes: the columns with the labels of several humans, as 'human.*'. Repeatable.",
        ),
        click.option(
            "--judges",
            metavar="PATTERN",
            multiple=True,
            help="With --votes: the columns with the votes of a row on one case, as 'judges.*' (words, or objects with "
            "a verdict) or 'judges.*.winner'. [default: 'judges.*' if there is such a column, else a row is a vote] "
            "Repeatable.",
        ),
        click.option(
            "--field",
            "fields",
            metavar="PART=COLUMN",
            multiple=True,
            callback=pairs,
            help="With --votes: where a part of a vote stands, as in seat=model, round=turn, case_id=task.id; nothing "
            "after = leaves the part out. Repeatable.",
        ),
        click.option(
            "--votes",
            metavar="FILE",
            multiple=True,
            help="Read votes of other judges instead of a store: CSV, JSON, JSONL or Parquet, a row a vote or a row a "
            "case. Repeatable.",
        ),
    ):
        command = option(command)
    return command


def word_options(command: F) -> F:
    """What words of verdicts and labels mean."""
    for option in (
        click.option("--categories", metavar="A,B,C", help="The verdicts are these words, without an order."),
        click.option("--order", metavar="LOW,…,HIGH", help="The verdicts are these words, from low to high."),
        click.option(
            "--map",
            "mappings",
            metavar="WORD=VERDICT",
            multiple=True,
            help="What a word means, as correct=safe_pass,wrong=unsafe_fail; none for no vote; label:WORD=VERDICT for "
            "labels alone. Repeatable.",
        ),
    ):
        command = option(command)
    return command


def recorded_options(command: F) -> F:
    """Which debates of a store."""
    for option in (
        store_option,
        filter_options,
        click.option("--all", "everything", is_flag=True, help="Every debate of the store."),
        click.option("--run", "run_ids", metavar="ID", multiple=True, help="The debates of this run. Repeatable."),
    ):
        command = option(command)
    return command


def labels_option(command: F) -> F:
    """`--labels FILE`: labels that came later; `reviews`: those of the store."""
    return click.option(
        "--labels",
        metavar="FILE|reviews",
        multiple=True,
        help="Human labels that came later: case_id, label, annotator (CSV, JSON, JSONL, Parquet); or reviews: what "
        "people said in this store. They win over labels in cases; of several annotators the strict plurality counts. "
        "Repeatable.",
    )(command)


def seat_names(_context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Names parted by commas."""
    names = tuple(name.strip() for name in (text or "").split(","))
    if text is not None and not all(names):
        raise click.BadParameter("must be names parted by commas", param=parameter)
    return () if text is None else names


def words_of(options: dict[str, Any]) -> "VerdictWords":
    """The words of `word_options`, which are removed from `options`; raises CaseFileError."""
    from jury_cases.votes.words import parse_words

    given = {name: options.pop(name) for name in WORDS}
    return parse_words(given["mappings"], order=given["order"], categories=given["categories"])


def vote_options(options: dict[str, Any], words: "VerdictWords", seats: tuple[str, ...]) -> "VoteOptions":
    """How files are read, by `vote_file_options`, which are removed from `options`; raises CaseFileError."""
    from jury_cases.votes.options import VoteOptions

    given = {name: options.pop(name) for name in OF_FILES}
    fields = dict(given["fields"])
    for part in ("label", "cluster"):
        if given[part] is not None:
            if part in fields:
                raise click.UsageError(f"--{part} and --field {part}=…: give one of them")
            fields[part] = given[part]
    return VoteOptions(fields=fields, judges=given["judges"], annotators=given["annotators"], seats=seats, words=words)
