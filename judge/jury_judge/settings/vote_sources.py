"""Where the votes of a report come from: runs and debates of a store, or files of votes."""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Literal, get_args

from pydantic import Field

from jury_cases.containers.rows import STDIN
from jury_cases.containers.sources import is_known
from jury_events.ids import is_run_id
from jury_judge.errors import SettingsRefused
from jury_judge.settings.cases import Conditions
from jury_judge.settings.debate_filters import debate_filter
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
