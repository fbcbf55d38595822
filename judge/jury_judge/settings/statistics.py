"""Which votes a report counts, and how."""

from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Annotated, Literal, get_args

from pydantic import Field

from jury_cases.containers.rows import STDIN
from jury_cases.containers.sources import is_known
from jury_events.ids import is_run_id
from jury_judge.errors import SettingsRefused
from jury_judge.settings.cases import Conditions
from jury_judge.settings.debates import debate_filter
from jury_judge.settings.model import SettingsModel
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


class VoteSources(SettingsModel):
    """Votes of a store, or of files, and human labels.

    Attributes:
        sources: runs of a store, or files of votes: see `is_file`.
        votes: files of votes.
        run_ids: the debates of these runs.
        everything: every debate of the store.
        where: conditions on cases, all of which must be met.
        filters: conditions on debates: see `FILTERS`.
        store_url: of the store; None: that of the environment, else the default.
        labels: files of labels that came later, or `REVIEWS`.
        seats: the votes of these seats alone; (): of all.
        judges: patterns of the columns of files with the votes of one judge each; (): as the files say.
        read: only debates of which every juror read the whole record, in one call or in parts; or only the others.
        count: of debates under a scale of the panel's own; None: what is usual for the report.

    Raises:
        SettingsRefused: no votes are named, or settings do not go together.
    """

    sources: tuple[str, ...] = ()
    votes: tuple[str, ...] = ()
    run_ids: tuple[str, ...] = ()
    everything: bool = False
    where: Conditions = ()
    filters: dict[str, str] = Field(default_factory=dict)
    store_url: str | None = None
    labels: tuple[str, ...] = ()
    seats: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    read: Read | None = None
    count: Count | None = None

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
        """Which debates of these runs.

        Raises:
            SettingsRefused: there is no such filter.
        """
        return debate_filter(self.filters, self.where)


def check_read_once(files: Iterable[str]) -> None:
    """Refuse standard input twice."""
    if list(files).count(STDIN) > 1:
        raise SettingsRefused("standard input (-) can be read once: name a file for the votes or for the labels")


def check_no_store(settings: SettingsModel, names: Iterable[str]) -> None:
    """Refuse fields that select debates of a store beside files of votes."""
    if given := [name for name in names if getattr(settings, name)]:
        raise SettingsRefused(f"{{{given[0]}}} selects debates of a store: leave it out with {{votes}}")


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
TOLERATED = 0.05
"""Of answers without content, which a juror may pass before that is a finding."""


Included = Literal["stale", "synthetic"]
"""Votes that repeat an earlier one, or stand in for a blocked answer."""

Grouping = Literal["panel", "variant", "run"]

Seed = Annotated[int, Field(ge=0, lt=2**63)]
Resamples = Annotated[int, Field(ge=0, le=100_000)]


class StatisticsSettings(VoteSources):
    """`jury stats`.

    Attributes:
        random_labels: the labelled cases are a random sample of all.
        by: a report for each panel, variant of cases, or run.
        include: kinds of votes that count too.
        include_simulated: debates of simulated jurors count too.
        resamples: of the bootstrap; 0: none.
        seed: of the bootstrap.
        epsilon: of the alternative-annotator test.
        parquet: the ballots that were read are written to this file; None: they are not.
    """

    random_labels: bool = False
    by: tuple[Grouping, ...] = ()
    include: tuple[Included, ...] = ()
    include_simulated: bool = False
    resamples: Resamples = RESAMPLES
    seed: Seed = SEED
    epsilon: Annotated[float, Field(ge=0, le=1)] = EPSILON
    parquet: Path | None = None


class WorthSettings(VoteSources):
    """`jury value`.

    Attributes:
        include_simulated: debates of simulated jurors count too.
        orders: orders of the seats that are drawn for the values of many seats.
        seed: of the drawn orders, and of the parts that the best seat is chosen on.
        parquet: every choice of seats and rounds is written to this file; None: they are not.
    """

    include_simulated: bool = False
    orders: Annotated[int, Field(ge=2, le=1_000_000)] = ORDERS
    seed: Seed = SEED
    parquet: Path | None = None

    def model_post_init(self, context: object) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.seats and not self.files:
            raise SettingsRefused(
                "{seats} goes with {votes} FILE: of a store every subset of the panel's seats is tried"
            )
