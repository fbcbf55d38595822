"""Which votes a report counts, and how."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field

from jury_cases.containers.rows import STDIN
from jury_cases.containers.sources import is_known
from jury_events.ids import is_run_id
from jury_judge.errors import SettingsRefused
from jury_judge.settings.debates import WHERE, debate_filter
from jury_judge.settings.fields import LABELS, STORE, Names, RecordedConditions, StoreUrl, parted
from jury_judge.settings_model import Option, SettingsModel
from jury_store.debate_rows import DebateFilter

REVIEWS = "reviews"
"""The name of labels that are the reviews of the store; a file of that name is `./reviews`."""


Count = Literal["labels", "outcomes"]
"""What is counted of debates under a scale of the panel's own: its labels, or what they come to."""

COUNTS: tuple[Count, ...] = get_args(Count)

Read = Literal["whole", "partly"]
"""How much of the record the jurors of a debate read."""

READS: tuple[Read, ...] = get_args(Read)


def is_file(source: str) -> bool:
    """Whether a source is a file of votes by its name.

    It ends as one (`.parquet`, `.csv`, `.jsonl.gz` …), or cannot name a run, as `./votes`, `*.csv` or `-`.
    """
    return source == STDIN or not is_run_id(source) or is_known(PurePath(source))


SEED = 20260927
RESAMPLES = 2000
"""Of the bootstrap."""
EPSILON = 0.1
"""Of the alternative-annotator test."""
ORDERS = 2000
"""Of the seats, drawn for the values of many seats."""
RISK = 0.05
CONFIDENCE = 0.9
"""Of a calibration."""

OF_STORES = "Votes of a store"
_stored = partial(Option, group=OF_STORES)
_filed = partial(Option, group="Votes of files, and labels")
_counted = partial(Option, group="What is counted")
_figures = partial(Option, group="Figures")
_results = partial(Option, group="Results")

FILTER = _stored(
    help="Only debates that jury list --NAME VALUE would list: search, status, verdict, disposition, reviewed, model, "
    "quorum, partly-read, split, min-cost, max-cost, stage. Repeatable: all must be met.",
    name="--filter",
    metavar="NAME=VALUE",
)
VOTES = _filed(
    help="Read votes of files instead of a store: what jury votes wrote, or CSV, JSON, JSONL or Parquet with the "
    "documented columns, or with a .yaml beside that says how it is read. Repeatable.",
    metavar="FILE",
)
JUDGES = _filed(
    help="Of files with a row a case: the column of a judge, or a pattern of several, as 'judge_*'. [default: "
    "'judges.*', else the columns that have verdicts] Repeatable.",
    metavar="COLUMN",
)
READ = _counted(
    help="Only debates of which every juror read the whole record, in one call or in parts; or only the others."
)
SIMULATED = _counted(help="Count debates of simulated jurors too.")
COUNT = _counted(help="Of a panel with a scale of its own, count its labels, or what they come to. [default: outcomes]")


class VoteSources(SettingsModel):
    """Votes of a store, or of files, and human labels. Without a limit to seats, judges or labels, all count.

    `sources` are runs of a store, or files of votes: see `is_file`. `labels` are files, or `REVIEWS`. `filters`: see
    `FILTERS`.
    """

    sources: tuple[str, ...] = ()
    run_ids: Annotated[
        tuple[str, ...], _stored(help="The debates of this run. Repeatable.", name="--run", metavar="ID")
    ] = ()
    everything: Annotated[bool, _stored(help="Every debate of the store.", name="--all")] = False
    where: Annotated[RecordedConditions, replace(WHERE, group=OF_STORES)] = ()
    filters: Annotated[dict[str, str], FILTER] = Field(default_factory=dict)
    store_url: Annotated[StoreUrl, replace(STORE, group=OF_STORES)] = None
    votes: Annotated[tuple[str, ...], VOTES] = ()
    judges: Annotated[tuple[str, ...], JUDGES] = ()
    seats: Annotated[
        Names,
        _filed(help="With --votes: the panel is these seats. [default: all]", metavar="A,B,C", typed="text"),
    ] = ()
    labels: Annotated[tuple[str, ...], replace(LABELS, group="Votes of files, and labels")] = ()
    read: Annotated[Read | None, READ] = None
    count: Annotated[Count | None, COUNT] = None
    include_simulated: Annotated[bool, SIMULATED] = False

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        runs = (*(one for one in self.sources if not is_file(one)), *self.run_ids)
        check_read_once((*self.files, *self.labels))
        if self.files:
            if REVIEWS in self.labels:
                raise SettingsRefused(
                    f"{{labels}} {REVIEWS} are those of a store: select its debates with {{run_ids}} or {{everything}} "
                    f"instead of {{votes}}, or name a file ./{REVIEWS}"
                )
            if runs and not self.run_ids:
                raise SettingsRefused(f"{runs[0]} names a run, and the votes are in files: name runs, or files")
            check_no_store(self, ("run_ids", "everything", "where", "filters", "store_url"))
            return
        if self.judges:
            raise SettingsRefused("{judges} are columns of files of votes: name the files, or leave it out")
        if not (runs or self.everything or self.where or self.filters):
            raise SettingsRefused(
                "name runs with {run_ids} ID, or {everything}, or select with {where} COND, or files with {votes}"
            )
        if self.everything and runs:
            raise SettingsRefused("give {run_ids} or {everything}, not both")
        _ = self.chosen

    @property
    def files(self) -> tuple[str, ...]:
        """The files of votes; (): the votes are in a store."""
        return (*filter(is_file, self.sources), *self.votes)

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs of a store; (): of any."""
        return (*(one for one in self.sources if not is_file(one)), *self.run_ids)

    @property
    def chosen(self) -> DebateFilter:
        """Which debates of these runs."""
        return debate_filter(self.filters, self.where)


def check_read_once(files: Iterable[str]) -> None:
    """Refuse standard input twice."""
    if list(files).count(STDIN) > 1:
        raise SettingsRefused("standard input (-) can be read once: name a file for the votes or for the labels")


def check_no_store(settings: SettingsModel, names: Iterable[str]) -> None:
    """Refuse fields that select debates of a store beside files of votes."""
    if given := [name for name in names if getattr(settings, name)]:
        raise SettingsRefused(f"{{{given[0]}}} selects debates of a store: leave it out with {{votes}}")


Included = Literal["stale", "synthetic"]
"""Votes that repeat an earlier one, or stand in for a blocked answer."""

Kinds = Annotated[tuple[Included, ...], BeforeValidator(parted)]

Grouping = Literal["panel", "variant", "run"]

Seed = Annotated[int, Field(ge=0, lt=2**63)]
Resamples = Annotated[int, Field(ge=0, le=100_000)]


class StatisticsSettings(VoteSources):
    """`jury stats`. With `random_labels` the labelled cases are a random sample of all."""

    random_labels: Annotated[
        bool, _filed(help="The labelled cases are a random sample of all: correct shares by them.")
    ] = False
    seats: Annotated[
        Names,
        _counted(help="Only the votes of these seats, and of the final judge.", metavar="A,B,C", typed="text"),
    ] = ()
    count: Annotated[
        Count | None,
        _counted(
            help="Of panels with a scale of their own, count its labels, or what they come to. [default: labels, of "
            "one scale]"
        ),
    ] = None
    by: Annotated[
        tuple[Grouping, ...],
        _counted(
            help="A report for each panel, variant of cases, or run. Debates of different panels are not pooled. "
            "Repeatable."
        ),
    ] = ()
    include: Annotated[
        Kinds,
        _counted(
            help="Count votes that repeat an earlier one (stale), or stand in for a blocked answer (synthetic), too.",
            metavar="stale,synthetic",
            typed="text",
            rare=True,
        ),
    ] = ()
    resamples: Annotated[Resamples, _figures(help="Of the bootstrap; 0: no such intervals.")] = RESAMPLES
    seed: Annotated[Seed, _figures(help="Of the bootstrap.", rare=True)] = SEED
    epsilon: Annotated[
        float,
        Field(ge=0, le=1),
        _figures(
            help="Of the alternative-annotator test: what a human's cost is worth, as a share of cases.", rare=True
        ),
    ] = EPSILON
    parquet: Annotated[
        Path | None,
        _results(
            help="Write the ballots that were read to this file too, with the labels of --labels.", metavar="FILE"
        ),
    ] = None


class WorthSettings(VoteSources):
    """`jury value`. The seed is also that of the parts that the best seat is chosen on."""

    read: Read | None = None
    orders: Annotated[
        int,
        Field(ge=2, le=1_000_000),
        _counted(
            help="Orders of the seats that are drawn for the values of more than 12 seats; of fewer, all subsets count."
        ),
    ] = ORDERS
    seed: Annotated[Seed, _counted(help="Of the drawn orders.")] = SEED
    parquet: Annotated[
        Path | None,
        _results(
            help="Write every choice of seats and rounds, with its cost and accuracy, to this file too.",
            metavar="FILE",
        ),
    ] = None

    def model_post_init(self, context: object) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.seats and not self.files:
            raise SettingsRefused(
                "{seats} goes with {votes} FILE: of a store every subset of the panel's seats is tried"
            )
