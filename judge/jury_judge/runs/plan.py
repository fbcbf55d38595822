"""A run as it is asked for: its cases, its panel, its settings, and what is said of them."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import copy
from itertools import islice
from typing import Protocol, Self

from jury_cases.files import ReadingNotes, load_example
from jury_cases.omissions import UnreadableRows, omissions_text, without_omissions
from jury_events.case import Case
from jury_events.text import pluralize, visible_line
from jury_judge.panels.files import LoadedPanel, load_panel
from jury_judge.panels.ladders import load_panel_or_ladder
from jury_judge.runs.cancelling import cancellations_at
from jury_judge.runs.case_stages import Again
from jury_judge.runs.panel_actors import is_simulated
from jury_judge.runs.preflight import PreflightReport, sees_images
from jury_judge.runs.run import CaseSource, Run, fresh_run_id
from jury_judge.seals.key_files import read_keys
from jury_judge.settings.run import RunSettings
from jury_judge.settings.store import load_settings
from jury_providers.simulated.script import NO_FAULTS, PERSUADED, Script
from jury_store.seals.keys import PublicKey

_ONE_DIFFERS = Script(points={"initial/sim-misuse": 55.0}, scripted={"round-1/sim-misuse": (PERSUADED,)})
"""One of the default jurors finds less in the bundled case than the others, until it sees what they say."""


class Cases(Protocol):
    """Cases with notes of what was read, and the policy of those without one: `CaseFiles`."""

    notes: ReadingNotes
    unreadable: UnreadableRows

    @property
    def policy(self) -> str | None: ...

    def __call__(self, fetch: Callable[[Case], bool], /) -> Iterable[Case]:
        """See `CaseSource`."""
        ...

    def __iter__(self) -> Iterator[Case]: ...


class RunPlan:
    """Nothing is read, written or called before one of its methods is.

    Args:
        loaded: the panel, or the first of a ladder; None loads that of the settings.
        adopt: public keys of imported debates that count; None reads the files of the settings.
        environ: where settings are read; None is `os.environ`.
        generated: the run's id where the settings name none; None generates one.

    Attributes:
        again: which of its cases are judged again; None: none.
        reopens: how many cancellations of the run were known when it was asked for; None: when it is prepared.
    """

    def __init__(
        self,
        cases: Cases,
        settings: RunSettings,
        *,
        loaded: LoadedPanel | None = None,
        adopt: Collection[PublicKey] | None = None,
        environ: Mapping[str, str] | None = None,
        generated: str | None = None,
    ) -> None:
        self.again: Again | None = None
        self.reopens: int | None = None
        self.cases = cases
        self.settings = settings
        self.environ = os.environ if environ is None else environ
        self.loaded = loaded or panel_of_run(settings, self.environ)
        self.run = Run(
            run_id=settings.run_id or generated or fresh_run_id(),
            resolved=self.loaded.resolved,
            cases=self.loaded.redaction.cases(self._source()),
            concurrency=settings.concurrency,
            adopt=read_keys(settings.adopt) if adopt is None else adopt,
            repeats=settings.repeat,
            operator_policy=self.loaded.redaction.policy(cases.policy),
            batched=settings.batch,
            ladder=self.loaded.ladder,
            endpoints=self.loaded.endpoints,
        )

    @classmethod
    def of_example(cls, settings: RunSettings, generated: str, environ: Mapping[str, str] | None = None) -> Self:
        """The run of the bundled case, in the language of the panel, under a generated id.

        Of the simulated jurors that sit where no panel is chosen, one has a position of its own at first.
        """
        surroundings = os.environ if environ is None else environ
        if settings.panel_name is None and settings.simulate in ({}, NO_FAULTS):
            settings = settings.model_copy(update={"simulate": _ONE_DIFFERS})
        loaded = loaded_panel(settings, surroundings)
        case = load_example(loaded.panel.language)
        return cls(OneCase(case), settings, loaded=loaded, environ=surroundings, generated=generated)

    @property
    def is_new(self) -> bool:
        """Whether the run's id was generated."""
        return self.settings.run_id is None

    def cancellations(self) -> int:
        """How often the run was cancelled so far: `reopens`, or counted now. Raises as `cancellations_at`."""
        if self.reopens is not None:
            return self.reopens
        # A pass over batches is made by a timer: it ends those of a cancelled run, and takes nothing back.
        return 0 if self.is_new or self.settings.once else cancellations_at(self.store_url, self.run.run_id)

    @property
    def is_simulated(self) -> bool:
        """Whether no model is called: every juror is simulated."""
        return is_simulated(self.loaded)

    @property
    def store_url(self) -> str:
        """The store: that of the settings, of the environment, or the default."""
        return load_settings(self.environ, store_url=self.settings.store_url).store_url

    def over(self, run: Run, settings: RunSettings | None = None) -> "RunPlan":
        """Another run over the same files: other cases of them, another panel, other settings."""
        other = copy(self)
        other.run, other.loaded = run, self.loaded._replace(resolved=run.resolved)
        other.settings = settings or self.settings
        return other

    def _source(self) -> CaseSource:
        """The cases; with `strict` none of them has a part that no juror would be shown."""
        if not self.settings.strict:
            return self.cases
        images_seen = sees_images(self.loaded.panel)
        return lambda fetch: without_omissions(self.cases(fetch), images_seen=images_seen)


def loaded_panel(settings: RunSettings, environ: Mapping[str, str] | None = None) -> LoadedPanel:
    """The panel, before cases are read; a ladder is refused. Raises as `RunPlan`.

    Args:
        environ: where settings are read; None is `os.environ`.
    """
    surroundings = os.environ if environ is None else environ
    return load_panel(settings.panel_name, surroundings, settings.overrides, read_keys(settings.trust))


def panel_of_run(settings: RunSettings, environ: Mapping[str, str] | None = None) -> LoadedPanel:
    """The panel of a run, or the first stage of its ladder; as `loaded_panel`."""
    surroundings = os.environ if environ is None else environ
    return load_panel_or_ladder(settings.panel_name, surroundings, settings.overrides, read_keys(settings.trust))


class OneCase:
    """The cases of a run that has one more, whose records are in it."""

    policy = None

    def __init__(self, case: Case) -> None:
        self._case = case
        self.notes = ReadingNotes()
        self.unreadable = UnreadableRows()

    def __call__(self, _fetch: Callable[[Case], bool]) -> Iterable[Case]:
        """See `CaseSource`."""
        return [self._case]

    def __iter__(self) -> Iterator[Case]:
        yield self._case


_NAMED = 6


def remarks(planned: RunPlan, checked: PreflightReport) -> Iterator[str]:
    """Lines about the cases: further repeats, columns that nearly have a name that is read, what is not shown, what
    is too long.
    """
    if checked.stored.beyond:
        further = "1 further repeat" if checked.stored.beyond == 1 else f"{checked.stored.beyond} further repeats"
        yield f"the run has {further} of its cases from an earlier call; they stay recorded and are not printed"
    yield from planned.cases.notes.lines()
    if checked.total is not None:
        yield from planned.cases.notes.unmatched_roles()
    if (blind := checked.omissions.blind_line()) is not None:
        yield blind
    line = checked.omissions.line()
    if line is not None and checked.total is None:
        line += f" (of the first {pluralize(checked.omissions.cases, 'case')}; jury cases reads them all)"
    if line is not None:
        yield line
    more = "" if checked.total is not None else " (of the cases read so far; jury cases --summary reads them all)"
    yield from checked.changed.lines()
    yield from checked.families.lines()
    if checked.fit.too_long is not None:
        yield f"warning: {checked.fit.too_long}{more}"
    if checked.fit.not_whole is not None:
        yield f"{checked.fit.not_whole}{more}"


def closing_remarks(planned: RunPlan, checked: PreflightReport, *, whole: bool) -> Iterator[str]:
    """Lines about the cases at the end of a run; `whole`: it was not interrupted."""
    yield from checked.changed.lines()
    if erased := planned.cases.notes.erased:
        yield f"{pluralize(len(erased), 'case')} left out, whose texts were erased: {_named(erased)}"
    # Of a resumed run not all cases are built, so that a role may occur in the others.
    if whole and checked.total is None and checked.stored.row is None:
        yield from planned.cases.notes.unmatched_roles()


def not_shown(checked: PreflightReport) -> Iterator[tuple[str, str]]:
    """The cases that were read and have parts that jurors are not shown: the id, and these parts."""
    if checked.omissions.line() is None:
        return
    for case in checked.cases.kept():
        if omissions := checked.omissions.of(case):
            yield case.case_id, omissions_text(omissions)


def _named(ids: Iterable[str]) -> str:
    first = [visible_line(one, 60) for one in islice(ids, _NAMED + 1)]
    return ", ".join(first[:_NAMED]) + (" …" if len(first) > _NAMED else "")
