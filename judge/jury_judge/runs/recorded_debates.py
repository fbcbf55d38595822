"""What the store has of the cases of a run, looked up for some cases at a time: never all of a run."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from jury_events.case import Case
from jury_events.codec import decode
from jury_events.debate_events import DebateOpened
from jury_events.ids import debate_stream
from jury_events.parts import Digest, PartRef, whole
from jury_judge.runs.case_stages import OpenStage, open_stages
from jury_judge.runs.run import Run
from jury_replay.recorded_case import recorded_case
from jury_store.debate_rows import CaseRow
from jury_store.event_store import EventStore

_T = TypeVar("_T")

Read = Callable[[Callable[[], Any]], Any]
"""Calls a function that reads the store, again where the store is away for a moment."""


def read_once(read: Callable[[], Any]) -> Any:
    """Calls it once."""
    return read()


class RecordedDebates:
    """The recorded debates of the cases that were looked up last. Debates are named by the first one of their case.

    Args:
        store: open for reading; None where it has no debate of the run.
        brief: of cases that are over only that is looked up; they have no `row`.
        read: see `Read`.
    """

    def __init__(self, run: Run, store: EventStore | None, *, brief: bool = False, read: Read = read_once) -> None:
        self._run = run
        self._store = store
        self._brief = brief
        self._read = read
        self._rows: Mapping[str, CaseRow] = {}
        self._ended: Mapping[str, int] = {}
        self._further: Mapping[str, OpenStage] = {}
        self._judged: frozenset[str] = frozenset()

    def load(self, case_ids: Sequence[str]) -> frozenset[str]:
        """Look up the debates of these cases, and return those cases whose debates are all over.

        What was looked up before is forgotten.
        """
        if self._store is None:
            return frozenset()
        store, ladder = self._store, self._run.ladder
        debates = {case_id: self._run.debate_ids(case_id) for case_id in case_ids}
        every = [one for of_case in debates.values() for one in of_case]
        self._rows = {} if self._brief else self._looked_up(store.cases_of, every)
        self._ended = self._looked_up(store.ended_positions, every) if self._brief else {}
        if ladder is not None:
            over = [one for one in every if self._has_ended(one)]
            further = partial(open_stages, store, over, ladder, self._run.successors)
            self._further = self._read(further) if over else {}
        self._judged = frozenset(one for one, of_case in debates.items() if all(map(self.is_over, of_case)))
        if self._brief:
            others = [one for case_id, of_case in debates.items() if case_id not in self._judged for one in of_case]
            self._rows = self._looked_up(store.cases_of, others) if others else {}
        return self._judged

    def _looked_up(self, look: Callable[[Collection[str]], Mapping[str, _T]], firsts: Collection[str]) -> dict[str, _T]:
        counting = {self._run.counts(one): one for one in firsts}
        found = self._read(partial(look, list(counting)))
        return {counting[debate]: value for debate, value in found.items()}

    def row(self, first: str) -> CaseRow | None:
        """The recorded case of a debate; None where the store does not have it."""
        return self._rows.get(first)

    def further(self, first: str) -> OpenStage | None:
        """The debate of a later stage of its case that is to be judged; None: there is none."""
        return self._further.get(first)

    def position(self, first: str) -> int | None:
        """The position of the opening event of a debate; None where the store does not have it."""
        row = self._rows.get(first)
        return self._ended.get(first) if row is None else row.position

    def is_over(self, first: str) -> bool:
        """Whether the debate is over, by a ladder with all that follow it."""
        return self._has_ended(first) and first not in self._further

    def has_verdict(self, first: str) -> bool:
        """Whether nothing is left of the case but its audit."""
        further = self._further.get(first)
        return self._has_ended(first) and (further is None or (further.place is not None and further.place.audit))

    def is_judged(self, case_id: str) -> bool:
        """Whether all debates of the case are over."""
        return case_id in self._judged

    def _has_ended(self, first: str) -> bool:
        row = self._rows.get(first)
        return first in self._ended if row is None else row.has_ended


def recorded_cases(store: EventStore, debate_ids: Sequence[str]) -> dict[str, Case]:
    """The cases that debates were opened with, by debate id in this order; of one with erased texts there is none."""
    openings = store.first_events([debate_stream(one) for one in debate_ids]) if debate_ids else {}
    opened = {one.debate_id: one for one in map(decode, openings.values()) if isinstance(one, DebateOpened)}
    wanted = {debate: [ref.digest for ref in _texts(one)] for debate, one in opened.items()}
    parts = store.named_parts(wanted) if wanted else {}
    found = {}
    for debate in filter(opened.__contains__, debate_ids):
        there = {part.digest: part.content for part in whole(parts.get(debate, {}).values())}
        if all(digest in there for digest in wanted[debate]):
            found[debate] = recorded_case(opened[debate], partial(_text, there))
    return found


def _texts(opened: DebateOpened) -> list[PartRef]:
    provenance = () if opened.provenance is None else (opened.provenance,)
    return [opened.case, *provenance, *(image.content for image in opened.images)]


def _text(there: Mapping[Digest, bytes], ref: PartRef) -> bytes:
    return there[ref.digest]
