"""What a gate compares, and by what it decides."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from jury_judge.errors import SettingsRefused
from jury_judge.settings.cases import Conditions
from jury_judge.settings.debates import debate_filter
from jury_judge.settings.model import SettingsModel
from jury_judge.settings.statistics import (
    RESAMPLES,
    REVIEWS,
    SEED,
    Count,
    Included,
    Resamples,
    Seed,
    check_no_store,
    check_read_once,
    is_file,
)
from jury_judge.settings.store import STORE_URL
from jury_store.debate_rows import DebateFilter

_SIDES = 2
_ASSUMED = ("discordance", "cluster_size", "correlation")
_OF_DECISIONS = ("junit", "markdown", "inconclusive", "worse")


class GateSettings(SettingsModel):
    """`jury gate`: two runs of a store, two files of votes, or two lists of judges of the same files.

    Attributes:
        sources: base and candidate: runs of a store or files of votes; with `base` the files of its judges.
        votes: files with the votes of `base` and `candidate`.
        base: the judges of the base.
        candidate: the judges of the candidate.
        where: conditions on cases of runs, all of which must be met.
        filters: conditions on debates of runs: see `FILTERS`.
        store_url: of the store; None: that of the environment, else the default.
        labels: files of labels that came later, or `REVIEWS`.
        count: of debates under a scale of the panels' own; None: outcomes.
        order: the verdicts of a plan without votes are these words, from low to high.
        categories: likewise, without an order.
        include: kinds of votes of files that count too.
        include_simulated: debates of simulated jurors count too.
        metric: see `jury_analysis.gate.GateOptions`, as of `margin` and `worse`.
        inconclusive: what an inconclusive gate counts as; None: as itself.
        plan: decide nothing: say what so many cases could find.
        discordance: of a plan: share of pairs that change; of the score, the variance of a pair's change.
        cluster_size: of a plan: mean number of cases of a cluster.
        correlation: of a plan: of the changes of a cluster's cases.
        resamples: of the bootstrap of flips between repeats; 0: none.
        seed: of that bootstrap.
        junit: where the gate is written as JUnit XML; None: nowhere.
        markdown: where a summary is written; None: nowhere.

    Raises:
        SettingsRefused: sides are missing, or settings do not go together.
    """

    file_names: ClassVar[Mapping[str, str]] = {"store_url": "store", "filters": "filter", "correlation": "icc"}
    variables: ClassVar[Mapping[str, str]] = {"store_url": STORE_URL}

    sources: Annotated[tuple[str, ...], Field(exclude=True)] = ()
    votes: tuple[str, ...] = ()
    base: tuple[str, ...] = ()
    candidate: tuple[str, ...] = ()
    where: Conditions = ()
    filters: dict[str, str] = Field(default_factory=dict)
    store_url: str | None = None
    labels: tuple[str, ...] = ()
    count: Count | None = None
    order: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    include: tuple[Included, ...] = ()
    include_simulated: bool = False
    metric: str | None = None
    margin: Annotated[float, Field(ge=0, le=100)] | None = None
    worse: Literal["more", "less", "either"] | None = None
    inconclusive: Literal["pass", "fail"] | None = None
    plan: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    discordance: Annotated[float, Field(ge=0, le=10_000)] | None = None
    cluster_size: Annotated[float, Field(ge=1, le=1_000_000)] | None = None
    correlation: Annotated[float, Field(ge=0, le=1)] | None = None
    resamples: Resamples = RESAMPLES
    seed: Seed = SEED
    junit: Path | None = None
    markdown: Path | None = None

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        check_read_once((*self.files, *self.labels))
        if self.files:
            self._check_files()
        else:
            self._check_runs()
        self._check_plan()
        if self.metric != "score":
            for name in ("margin", "discordance"):
                if (share := getattr(self, name)) is not None and share > 1:
                    raise SettingsRefused(f"{{{name}}} {share:g} is more than all cases: it is a share, as 0.02")
        if self.junit and self.markdown and self.junit.resolve() == self.markdown.resolve():
            raise SettingsRefused("{junit} and {markdown} name the same file: give each its own")

    @property
    def files(self) -> tuple[str, ...]:
        """The files of votes; (): the sides are runs of a store, or nothing was judged."""
        return (*filter(is_file, self.sources), *self.votes)

    @property
    def of_judges(self) -> bool:
        """Whether the sides are lists of judges of the same files; else each side is a run, or a file."""
        return bool(self.votes or self.base or self.candidate)

    @property
    def chosen(self) -> DebateFilter:
        """Which debates of the runs.

        Raises:
            SettingsRefused: there is no such filter.
        """
        return debate_filter(self.filters, self.where)

    def _check_files(self) -> None:
        if REVIEWS in self.labels:
            raise SettingsRefused(f"{{labels}} {REVIEWS} are those of a store: name its runs, or a file ./{REVIEWS}")
        check_no_store(self, ("where", "filters", "store_url"))
        if self.sources and (self.votes or len(self.files) < len(self.sources)):
            raise SettingsRefused(
                "BASE and CANDIDATE are runs of a store; with {votes} give {base} and {candidate}"
                if self.votes
                else "BASE and CANDIDATE are two runs of a store, or two files of votes, not one of each"
            )
        if not self.of_judges:
            self._check_sides()
        elif not self.base or not (self.candidate or self.plan is not None):
            raise SettingsRefused("with {votes} name the judges of both sides: {base} A,B,C {candidate} A,B,D")

    def _check_runs(self) -> None:
        if filed := [name for name in ("base", "candidate", "include") if getattr(self, name)]:
            raise SettingsRefused(f"{{{filed[0]}}} is about votes of files: it goes with {{votes}} FILE")
        self._check_sides()
        if not self.sources and self.labels:
            raise SettingsRefused("{labels} are of cases that were judged: name BASE, or files with {votes}")
        _ = self.chosen

    def _check_sides(self) -> None:
        if len(self.sources) > _SIDES or (len(self.sources) < _SIDES and self.plan is None):
            raise SettingsRefused("name two runs, BASE and CANDIDATE; or judges of files with {votes}, or {plan} CASES")

    def _check_plan(self) -> None:
        if self.plan is not None:
            if given := [name for name in _OF_DECISIONS if getattr(self, name) is not None]:
                raise SettingsRefused(f"{{plan}} decides nothing: leave {{{given[0]}}} out")
        elif given := [name for name in _ASSUMED if getattr(self, name) is not None]:
            raise SettingsRefused(f"{{{given[0]}}} is an assumption of a plan: it goes with {{plan}} CASES")
        if (self.order or self.categories) and (self.files or self.sources):
            raise SettingsRefused(
                "{order} and {categories} are of a plan without votes: jury votes reads those of files"
            )
