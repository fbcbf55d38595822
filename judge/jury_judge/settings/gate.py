"""What a gate compares, and by what it decides."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from jury_events.verdict import FAIL, PASS, REVIEW
from jury_judge.errors import SettingsRefused
from jury_judge.settings.debates import WHERE_OF_CASES, debate_filter
from jury_judge.settings.fields import DRIFT_CHECK, LABELS, STORE, Age, Conditions, Names, StoreUrl
from jury_judge.settings.statistics import (
    COUNT,
    FILTER,
    RESAMPLES,
    REVIEWS,
    SEED,
    SIMULATED,
    VOTES,
    Count,
    Kinds,
    Resamples,
    Seed,
    check_no_store,
    check_read_once,
    is_file,
)
from jury_judge.settings_model import Option, SettingsModel
from jury_store.debate_rows import DebateFilter

_SIDES = 2
_ASSUMED = ("discordance", "cluster_size", "correlation")
_OF_COMPARISONS = ("metric", "margin", "worse", "plan")
_OF_DECISIONS = ("junit", "markdown", "inconclusive", "worse", "require_drift_check")


_judges = partial(Option, group="Judges of files", metavar="A,B,C", typed="text")
_decision = partial(Option, group="Decision")
_plan = partial(Option, group="Plan")
_figures = partial(Option, group="Figures", rare=True)
_results = partial(Option, group="Results", metavar="FILE")
_LABELLED = "Labels, and what is counted"
_RUNS = "Runs of a store"


class GateSettings(SettingsModel):
    """`jury gate`: two runs of a store, two files of votes, or two lists of judges of the same files.

    `sources` are base and candidate, runs of a store or files of votes; with `base` the files of its judges. `order`
    and `categories`: the verdicts of a plan without votes are these words, from low to high, or without an order; a
    settings file has them, and no option. `metric`, `margin` and `worse` are those of
    `jury_analysis.gate.GateOptions`.
    """

    sources: Annotated[tuple[str, ...], Field(exclude=True)] = ()
    where: Annotated[Conditions, replace(WHERE_OF_CASES, group=_RUNS)] = ()
    filters: Annotated[dict[str, str], replace(FILTER, group=_RUNS)] = Field(default_factory=dict)
    store_url: Annotated[StoreUrl, replace(STORE, group=_RUNS)] = None
    votes: Annotated[tuple[str, ...], replace(VOTES, group="Judges of files")] = ()
    base: Annotated[Names, _judges(help="With --votes: the judges of the base.")] = ()
    candidate: Annotated[Names, _judges(help="With --votes: the judges of the candidate.", metavar="A,B,D")] = ()
    labels: Annotated[tuple[str, ...], replace(LABELS, group=_LABELLED)] = ()
    count: Annotated[Count | None, replace(COUNT, group=_LABELLED, rare=True)] = None
    order: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    include: Annotated[
        Kinds,
        Option(
            help="With --votes: count votes that repeat an earlier one (stale), or stand in for a blocked answer "
            "(synthetic).",
            group=_LABELLED,
            metavar="stale,synthetic",
            typed="text",
            rare=True,
        ),
    ] = ()
    include_simulated: Annotated[bool, replace(SIMULATED, group=_LABELLED)] = False
    true: Annotated[
        str | None,
        _decision(
            help="Compare nothing: decide whether this holds of what people say of the cases of one run, as "
            f"'{FAIL}<=2%', by the labels of a random draw (docs/gate-on-a-true-rate.md).",
            metavar="CLAIM",
        ),
    ] = None
    rate_of: Annotated[
        Literal["run", "agent"] | None,
        _decision(
            help="With --true: the cases of this run, or cases like these, which few labels rarely decide. "
            "[default: run]",
            name="--of",
            rare=True,
        ),
    ] = None
    metric: Annotated[
        str | None,
        _decision(
            help="accuracy, false_pass, false_fail, score, or a verdict: its share. [default: false_pass with labels, "
            f"else {FAIL}]",
            metavar="NAME",
        ),
    ] = None
    margin: Annotated[
        Annotated[float, Field(ge=0, le=100)] | None,
        _decision(help="Harm that is accepted, as a share; of the score in points. [default: 0.02, of the score 2]"),
    ] = None
    worse: Annotated[
        Literal["more", "less", "either"] | None,
        _decision(
            help="Which change of a verdict's share, or of the score, does harm. [default: either between two panels; "
            f"else more {FAIL} or {REVIEW}, less {PASS}, a lower score]",
            rare=True,
        ),
    ] = None
    inconclusive: Annotated[
        Literal["pass", "fail"] | None, _decision(help="What an inconclusive gate counts as. [default: exit 6]")
    ] = None
    require_drift_check: Annotated[Age | None, DRIFT_CHECK] = None
    plan: Annotated[
        Annotated[int, Field(ge=1, le=1_000_000_000)] | None,
        _plan(
            help="Decide nothing: say what so many cases could find. BASE, and CANDIDATE, are optional then; what was "
            "judged says how much pairs vary.",
            metavar="CASES",
        ),
    ] = None
    discordance: Annotated[
        Annotated[float, Field(ge=0, le=10_000)] | None,
        _plan(
            help="With --plan: assume that so many pairs change; of the score, this variance of a pair's change. "
            "[default: as measured, else 0.1, of the score 400]",
            metavar="SHARE",
            rare=True,
        ),
    ] = None
    cluster_size: Annotated[
        Annotated[float, Field(ge=1, le=1_000_000)] | None,
        _plan(
            help="With --plan: the mean number of cases of a cluster. [default: as in what was judged, else 1]",
            rare=True,
        ),
    ] = None
    correlation: Annotated[
        Annotated[float, Field(ge=0, le=1)] | None,
        _plan(
            help="With --plan: how much the changes of a cluster's cases correlate. [default: 0]",
            name="--icc",
            rare=True,
        ),
    ] = None
    resamples: Annotated[
        Resamples, _figures(help="Of the bootstrap of flips between repeats; 0: no such interval.")
    ] = RESAMPLES
    seed: Annotated[Seed, _figures(help="Of that bootstrap.")] = SEED
    junit: Annotated[Path | None, _results(help="Write the gate as JUnit XML to this file too.")] = None
    markdown: Annotated[Path | None, _results(help="Write a summary for the page of a CI job.")] = None

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
        check_no_store(self, ("where", "filters", "store_url", "require_drift_check"))
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
        if self.true is not None:
            self._check_true()
            return
        if self.rate_of is not None:
            raise SettingsRefused("{rate_of} says what a true rate is of: it goes with {true} CLAIM")
        if len(self.sources) > _SIDES or (len(self.sources) < _SIDES and self.plan is None):
            raise SettingsRefused("name two runs, BASE and CANDIDATE; or judges of files with {votes}, or {plan} CASES")

    def _check_true(self) -> None:
        if len(self.sources) != 1 or self.of_judges:
            raise SettingsRefused("{true} is about the cases of one run, or of one file of votes: name one")
        if given := [name for name in _OF_COMPARISONS if getattr(self, name) is not None]:
            raise SettingsRefused(f"{{{given[0]}}} is of a gate between two sides: leave it out with {{true}}")

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
