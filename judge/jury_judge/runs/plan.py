"""A run as it is asked for: its cases, of files or of a store, its panel, its settings, and what is said of them."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import islice
from typing import BinaryIO, Protocol, Self

from jury_cases.case_files import load_example
from jury_cases.case_outlines import Fetch, Skip, batches, drawn, outlined
from jury_cases.errors import CaseFileError
from jury_cases.file_cases import ReadingNotes
from jury_cases.omissions import UnreadableRows, omissions_text, without_omissions
from jury_cases.options import EVERY_CASE, CaseOptions
from jury_events.case import Case
from jury_events.debate_history import DebateHistory
from jury_events.errors import DebateNotFound
from jury_events.ids import is_run_id, repeat_of, replaced_id, run_stream
from jury_events.run_facts import run_facts
from jury_events.text import pluralize, visible_line
from jury_events.verdict_scale import VerdictScale
from jury_judge.errors import SettingsRefused
from jury_judge.panels.files import LoadedPanel, load_panel
from jury_judge.panels.ladders import load_panel_or_ladder
from jury_judge.runs.cancelling import cancellations_at
from jury_judge.runs.case_stages import Again
from jury_judge.runs.cases_once import recorded_cases
from jury_judge.runs.preflight import PreflightReport, sees_images
from jury_judge.runs.run import CaseSource, RunInput, fresh_run_id
from jury_judge.seals.key_files import read_keys
from jury_judge.settings.cases import CaseSettings
from jury_judge.settings.run import RunSettings
from jury_judge.settings.store import load_settings
from jury_providers.simulated.script import NO_FAULTS, PERSUADED, Script
from jury_replay.recorded_case import operator_policy_of
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore
from jury_store.opening import open_store
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
        store_url: the store: that of the settings, of the environment, or the default.
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
        self.store_url = load_settings(self.environ, store_url=settings.store_url).store_url
        self.loaded = loaded or panel_of_run(settings, self.environ)
        source: CaseSource = cases
        if settings.strict:  # no case has a part that no juror would be shown
            images_seen = sees_images(self.loaded.panel)
            source = lambda fetch: without_omissions(cases(fetch), images_seen=images_seen)  # noqa: E731
        self.run = RunInput(
            run_id=settings.run_id or generated or fresh_run_id(),
            resolved=self.loaded.resolved,
            cases=self.loaded.redaction.cases(source),
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

    def over(self, run: RunInput, settings: RunSettings | None = None) -> "RunPlan":
        """Another run over the same files: other cases of them, another panel, other settings."""
        other = copy(self)
        other.run, other.loaded = run, self.loaded._replace(resolved=run.resolved)
        other.settings = settings or self.settings
        return other


def loaded_panel(settings: RunSettings, environ: Mapping[str, str] | None = None) -> LoadedPanel:
    """The panel, before cases are read; a ladder is refused. Raises as `RunPlan`.

    Args:
        environ: where settings are read; None is `os.environ`.
    """
    surroundings = os.environ if environ is None else environ
    return load_panel(settings.panel_name, surroundings, settings, read_keys(settings.trust))


def panel_of_run(settings: RunSettings, environ: Mapping[str, str] | None = None) -> LoadedPanel:
    """The panel of a run, or the first stage of its ladder; as `loaded_panel`."""
    surroundings = os.environ if environ is None else environ
    return load_panel_or_ladder(settings.panel_name, surroundings, settings, read_keys(settings.trust))


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
    yield from checked.fit.lines("warning: ", more)


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


RUN = "run:"
"""Before the id of a run whose cases are judged."""

_PAGE = 500
_OF_FILES = (
    *("fields", "mappings", "case_format", "rows", "question", "policy_file", "roles", "artifact_roots", "split"),
    "skip_unreadable",
)
"""Settings that say how rows of files are read."""


def cases_of(
    settings: RunSettings,
    paths: Sequence[str],
    *,
    stdin: BinaryIO | None = None,
    scale: VerdictScale | None = None,
    environ: Mapping[str, str] | None = None,
) -> Cases:
    """The cases of files, or with `run:ID` those of a run in the store of the settings, as the settings select them.

    Args:
        paths: files, folders and globs, `-` for standard input; or `run:ID` alone.
        stdin: for `-`.
        scale: of the panel that judges: labels are read in its words.
        environ: where settings are read; None is `os.environ`.
    """
    found = load_settings(os.environ if environ is None else environ, store_url=settings.store_url)
    if not any(path.startswith(RUN) for path in paths):
        return settings.files(paths, found.artifact_hosts, stdin=stdin, scale=scale)
    run_id = paths[0].removeprefix(RUN)
    if len(paths) > 1 or not is_run_id(run_id):
        raise SettingsRefused(
            f"{RUN}ID takes the cases of one run of the store, and stands alone; judge files by a call of their own"
        )
    defaults = CaseSettings()
    if (
        given := next((name for name in _OF_FILES if getattr(settings, name) != getattr(defaults, name)), None)
    ) is not None:
        raise SettingsRefused(
            f"{{{given}}} says how files are read; the cases of a run are in the store as they were read"
        )
    store = open_store(found.store_url, write=False)
    return ListedCases(store, run_id, settings.selection(scale=scale))


class ListedCases:
    """The cases of a run that its store has, in the order of its list; an erased one is left out, and noted.

    Args:
        store: open for reading, as long as the object is used.
    """

    def __init__(self, store: EventStore, run_id: str, options: CaseOptions = EVERY_CASE) -> None:
        first = next(iter(store.debates(run_id=run_id, waiting=None, counted=None, limit=1)), None)
        if first is None:
            raise DebateNotFound(f"there is no run {run_id!r} in this store; `jury runs` lists the runs")
        self._store = store
        self._run_id = run_id
        self._options = options
        self._sampled: frozenset[int] | None = None
        self.first = store.history(first.debate_id)
        self.facts = run_facts(store.read_stream(run_stream(run_id)))
        self.policy = _policy(self.first)
        self.notes = ReadingNotes()
        self.unreadable = UnreadableRows()
        if self.facts is not None and not self.facts.complete:
            self.notes.rest = (
                f"{pluralize(self.facts.listed, 'debate')} of run {run_id} listed, and the list is not complete: the "
                f"rest needs its files (jury run FILES --run {run_id})"
            )

    def __call__(self, _fetch: Fetch = lambda _case: False) -> Iterator[Case]:
        """The cases; their records were fetched before they were listed."""
        chosen: Iterable[Case] = self._chosen()
        if self._options.sample is not None:
            if self._sampled is None:
                self._sampled = drawn(self._chosen(), self._options.sample, self._options.seed)
            chosen = (case for number, case in enumerate(chosen) if number in (self._sampled or ()))
        return islice(iter(chosen), self._options.limit)

    def __iter__(self) -> Iterator[Case]:
        return self()

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def outline(self, skip: Skip, _fetch: Fetch) -> Iterator[Case | str]:
        """See `OutlinedCases`: of a case whose id is enough, no text is read. Raises as a call."""
        options = self._options
        if options.case_ids or options.where or options.sample is not None:
            return outlined(self(), skip)
        return islice(self._outline(skip), options.limit)

    def _outline(self, skip: Skip) -> Iterator[Case | str]:
        for listed in batches(self._rows()):
            skipped = skip([row.case_id for row in listed])
            cases = self._cases([row for row in listed if row.case_id not in skipped])
            for row in listed:
                found: Case | str | None = row.case_id if row.case_id in skipped else cases.get(row.debate_id)
                if found is not None:
                    yield found

    def _chosen(self) -> Iterator[Case]:
        options = self._options
        number = 0
        for rows in batches(row for row in self._rows() if options.admits(row.case_id, None)):
            for case in self._cases(rows).values():
                if options.admits(case.case_id, case):
                    number += 1
                    yield case
        if not number and (options.case_ids or options.where):
            raise CaseFileError(f"no case of run {self._run_id} matches --where and --case-id")

    def _rows(self) -> Iterator[DebateRow]:
        """The first debate of each case."""
        after = 0
        while rows := self._store.debates(run_id=self._run_id, waiting=None, limit=_PAGE, after=after):
            for row in rows:
                repeated = repeat_of(row.debate_id, self._run_id, row.case_id) > 1 or replaced_id(row.debate_id)
                if not repeated and row.stage in {None, 1} and row.status != "unreadable":
                    yield row
            after = rows[-1].position

    def _cases(self, rows: Sequence[DebateRow]) -> dict[str, Case]:
        """By debate id, of those whose texts are there; the others are noted."""
        cases = recorded_cases(self._store, [row.debate_id for row in rows])
        self.notes.erased.update((row.case_id, None) for row in rows if row.debate_id not in cases)
        return {row.debate_id: cases[row.debate_id] for row in rows if row.debate_id in cases}


def _policy(first: DebateHistory) -> str | None:
    opened = first.opened
    part = first.texts.get(opened.case.part)
    if part is None:
        return None
    return operator_policy_of(opened, Case.from_part(part), lambda ref: first.texts[ref.part])
