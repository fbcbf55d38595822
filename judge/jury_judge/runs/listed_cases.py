"""The cases that a run is asked for: those of files, or those that a store has of a run, for it or for another one."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import BinaryIO

from jury_cases.errors import CaseFileError
from jury_cases.files import ReadingNotes, drawn
from jury_cases.omissions import UnreadableRows
from jury_cases.options import EVERY_CASE, CaseOptions
from jury_cases.outline import Fetch, Skip, batches, outlined
from jury_events.case import Case
from jury_events.debate_history import DebateHistory
from jury_events.errors import DebateNotFound
from jury_events.ids import is_run_id, repeat_of, replaced_id, run_stream
from jury_events.run_facts import run_facts
from jury_events.text import pluralize
from jury_events.verdict_scale import VerdictScale
from jury_judge.errors import SettingsRefused
from jury_judge.runs.cases_once import recorded_cases
from jury_judge.runs.plan import Cases
from jury_judge.settings.cases import CaseSettings
from jury_judge.settings.run import RunSettings
from jury_judge.settings.store import load_settings
from jury_replay.recorded_case import operator_policy_of
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore
from jury_store.opening import open_store

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
    hosts: frozenset[str] = frozenset(),
    *,
    stdin: BinaryIO | None = None,
    scale: VerdictScale | None = None,
    environ: Mapping[str, str] | None = None,
) -> Cases:
    """The cases of files, or with `run:ID` those of a run in the store of the settings, as the settings select them.

    Args:
        paths: files, folders and globs, `-` for standard input; or `run:ID` alone.
        hosts: where `http(s):` records may come from.
        stdin: for `-`.
        scale: of the panel that judges: labels are read in its words.
        environ: where settings are read; None is `os.environ`.
    """
    if not any(path.startswith(RUN) for path in paths):
        return settings.files(paths, hosts, stdin=stdin, scale=scale)
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
    surroundings = os.environ if environ is None else environ
    store = open_store(load_settings(surroundings, store_url=settings.store_url).store_url, write=False)
    return ListedCases(store, run_id, settings.selection(scale=scale))


class ListedCases:
    """The cases of a run that its store has, in the order of its list; an erased one is left out, and noted.

    Args:
        store: open for reading, as long as the object is used.
        own: they are judged in this run, so that an erased case has its result, if its debate is over.
    """

    def __init__(self, store: EventStore, run_id: str, options: CaseOptions = EVERY_CASE, *, own: bool = False) -> None:
        first = next(iter(store.debates(run_id=run_id, waiting=None, counted=None, limit=1)), None)
        if first is None:
            raise DebateNotFound(f"there is no run {run_id!r} in this store; `jury runs` lists the runs")
        self._store = store
        self._run_id = run_id
        self._options = options
        self._own = own
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
        if self._options.chooses or self._options.sample is not None:
            return outlined(self(), skip)
        return islice(self._outline(skip), self._options.limit)

    def _outline(self, skip: Skip) -> Iterator[Case | str]:
        for listed in batches(self._rows()):
            skipped = skip([row.case_id for row in listed])
            rows = listed if self._own else self._whole(listed)
            cases = self._cases([row for row in rows if row.case_id not in skipped])
            for row in rows:
                found: Case | str | None = row.case_id if row.case_id in skipped else cases.get(row.debate_id)
                if found is not None:
                    yield found

    def _chosen(self) -> Iterator[Case]:
        number = 0
        for rows in batches(row for row in self._rows() if self._options.admits_id(row.case_id)):
            for case in filter(self._options.admits, self._cases(rows).values()):
                number += 1
                yield case
        if not number and self._options.chooses:
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

    def _whole(self, rows: Sequence[DebateRow]) -> list[DebateRow]:
        """Those whose texts are there; the others are noted."""
        known = self._store.cases_of([row.debate_id for row in rows])
        erased = {row.debate_id for row in rows if known[row.debate_id].salt is None}
        self.notes.erased.update((row.case_id, None) for row in rows if row.debate_id in erased)
        return [row for row in rows if row.debate_id not in erased]

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
