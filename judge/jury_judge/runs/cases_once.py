"""The cases of a call, each read once, and what the store has of them, looked up for some at a time.

What is read ahead of its turn is kept until it is taken.
"""

import asyncio
import weakref
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import Any, NamedTuple, TypeVar

from jury_cases.case_outlines import Skip, batches, outline_of
from jury_events.case import Case
from jury_events.codec import decode
from jury_events.debate_events import DebateOpened
from jury_events.ids import debate_stream, review_stream
from jury_events.parts import Digest, PartRef, whole
from jury_events.review_facts import review_facts
from jury_judge.runs.case_stages import OpenStage, open_stages
from jury_judge.runs.run import RunInput
from jury_replay.recorded_case import recorded_case
from jury_store.debate_rows import CaseRow
from jury_store.event_store import EventStore

_IN_MEMORY = 64 * 1024 * 1024
"""Bytes of cases that are kept in memory; beyond, they are on disk."""


class ReadCase(NamedTuple):
    """A case as it was read.

    Attributes:
        case_id: its id.
        content: the case with its label, as JSON; None where its id was enough.
        read: the case, where it was read just now.
    """

    case_id: str
    content: bytes | None
    read: Case | None = None

    @property
    def case(self) -> Case:
        """The case; its id was not enough."""
        assert self.content is not None, "the case was read"
        return self.read or Case.model_validate_json(self.content)


class CasesOnce:
    """Reads the input of a run from the first case to the last; one thread at a time.

    Args:
        store: open for reading, where it has the run: cases may then be passed by their ids, several at a time; else
            each comes as soon as it is read.
        judged: whether the run is to be judged: else nothing behind a URI is read, and no case is kept for another
            reader.
    """

    def __init__(self, run: RunInput, store: EventStore | None, *, judged: bool = True) -> None:
        self._run = run
        self._store = store
        self._judged = judged
        self._skip: Skip = no_case
        self._stopping: asyncio.Event | None = None
        self._kept = SpooledTemporaryFile(max_size=_IN_MEMORY, prefix="jury-cases-")  # noqa: SIM115  (closed below)
        weakref.finalize(self, self._kept.close)
        self._rest = self._read()

    def read(self, skip: Skip, stopping: asyncio.Event | None = None, *, last: bool = False) -> Iterator[ReadCase]:
        """The cases from the first on, those that were read before too.

        Args:
            skip: takes the ids of the next cases, and returns those of which the id is enough.
            stopping: once set, nothing behind a URI is read.
            last: nothing is kept for another reader any more.
        """
        for batch in batches(self._read_back()):
            skipped = skip([one.case_id for one in batch])
            for one in batch:
                yield one._replace(content=None) if one.case_id in skipped else one
        if last:
            self._kept.close()
        self._skip, self._stopping = skip, stopping
        for one in self._rest:
            if self._judged and not last:
                self._kept.seek(0, 2)
                self._kept.write(b"\n".join((one.case_id.encode(), one.content or b"", b"")))
            yield one

    def kept(self) -> Iterator[Case]:
        """The cases that were read ahead and not taken yet."""
        return (one.case for one in self._read_back() if one.content is not None)

    def _read(self) -> Iterator[ReadCase]:
        cases, passes = self._run.cases, self._store is not None

        asked: Skip | None = None

        def skipped(case_ids: Sequence[str]) -> Container[str]:
            nonlocal asked
            asked = self._skip  # of the reader that reads at this moment
            return asked(case_ids)

        for found in outline_of(cases, skipped, self._is_wanted) if passes else cases(self._is_wanted):
            case_id = found if isinstance(found, str) else found.case_id
            # The reader before stopped within a batch: this one was not asked of the rest of it.
            passed = passes and self._skip is not asked and case_id in self._skip([case_id])
            if passed or isinstance(found, str):
                yield ReadCase(case_id, None)
            else:
                yield ReadCase(found.case_id, found.model_dump_json().encode(), found)

    def _is_wanted(self, case: Case) -> bool:
        """Whether the records behind the URIs of a case are needed: a debate of it is new."""
        if not self._judged or (self._stopping is not None and self._stopping.is_set()):
            return False
        if self._store is None or (case.security_gate_uri is None and case.agent_card_uri is None):
            return True
        debates = [debate_stream(one) for one in self._run.debate_ids(case)]
        return len(self._store.heads(debates)) < len(debates)

    def _read_back(self) -> Iterator[ReadCase]:
        place = 0
        while True:
            self._kept.seek(place)
            case_id, content = self._kept.readline(), self._kept.readline()
            if not case_id:
                return
            place += len(case_id) + len(content)
            yield ReadCase(case_id[:-1].decode(), content[:-1] or None)


def no_case(_case_ids: object) -> frozenset[str]:
    """A `Skip` that passes no case by its id."""
    return frozenset()


_T = TypeVar("_T")

Read = Callable[[Callable[[], Any]], Any]
"""Calls a function that reads the store, again where the store is away for a moment."""


def read_once(read: Callable[[], Any]) -> Any:
    """Calls it once."""
    return read()


class RecordedDebate(NamedTuple):
    """What the store has of a debate.

    Attributes:
        position: of its opening event.
        ended: whether the debate has ended.
        row: its recorded case; None: nothing is left of the case, and it was not looked up.
        further: the debate of a later stage of its case that is to be judged; None: there is none.
    """

    position: int
    ended: bool
    row: CaseRow | None
    further: OpenStage | None = None

    @property
    def over(self) -> bool:
        """Whether it is over, by a ladder with all that follow it."""
        return self.ended and self.further is None

    @property
    def has_verdict(self) -> bool:
        """Whether nothing is left of the case but its audit."""
        return self.over or (self.further is not None and self.further.place is not None and self.further.place.audit)


@dataclass
class RecordedDebates:
    """The recorded debates of the cases that were looked up last. Debates are named by the first one of their case.

    Attributes:
        store: open for reading; None where it has no debate of the run.
        brief: of cases that are over no `row` is looked up.
        read: see `Read`.
    """

    run: RunInput
    store: EventStore | None
    brief: bool = False
    read: Read = read_once
    found: dict[str, RecordedDebate] = field(default_factory=dict)

    def load(self, case_ids: Sequence[str]) -> frozenset[str]:
        """Look up the debates of these cases, and return those cases whose debates are all over.

        What was looked up before is forgotten.
        """
        if self.store is None:
            return frozenset()
        store, ladder = self.store, self.run.ladder
        debates = {case_id: self.run.debate_ids(case_id) for case_id in case_ids}
        every = [one for of_case in debates.values() for one in of_case]
        if self.brief:
            ended = self._looked_up(store.ended_positions, every)
            self.found = {one: RecordedDebate(position, ended=True, row=None) for one, position in ended.items()}
        else:
            self._add_rows(every)
        if ladder is not None and (over := [one for one in every if one in self.found and self.found[one].ended]):
            for one, stage in self.read(partial(open_stages, store, over, ladder, self.run.successors)).items():
                self.found[one] = self.found[one]._replace(further=stage)
        judged = frozenset(case_id for case_id, of_case in debates.items() if all(map(self._is_over, of_case)))
        if self.brief:
            self._add_rows([one for case_id, of_case in debates.items() if case_id not in judged for one in of_case])
        return judged

    def _is_over(self, first: str) -> bool:
        return first in self.found and self.found[first].over

    def _add_rows(self, firsts: Collection[str]) -> None:
        assert self.store is not None, "there is a store where debates are looked up"
        rows = self._looked_up(self.store.cases_of, firsts) if firsts else {}
        for one, row in rows.items():
            further = self.found[one].further if one in self.found else None
            self.found[one] = RecordedDebate(row.position, row.has_ended, row, further)

    def _looked_up(self, look: Callable[[Collection[str]], Mapping[str, _T]], firsts: Collection[str]) -> dict[str, _T]:
        counting = {self.run.counts(one): one for one in firsts}
        found = self.read(partial(look, list(counting)))
        return {counting[debate]: value for debate, value in found.items()}


def recorded_cases(store: EventStore, debate_ids: Sequence[str]) -> dict[str, Case]:
    """The cases that debates were opened with, with their newest labels, by debate id in this order.

    Of one with erased texts there is none.
    """
    openings = store.first_events([debate_stream(one) for one in debate_ids]) if debate_ids else {}
    opened = {one.debate_id: one for one in map(decode, openings.values()) if isinstance(one, DebateOpened)}
    wanted = {debate: [ref.digest for ref in _texts(one)] for debate, one in opened.items()}
    parts = store.named_parts(wanted) if wanted else {}
    reviews = store.read_streams(list(map(review_stream, opened))) if opened else {}
    found = {}
    for debate in filter(opened.__contains__, debate_ids):
        there = {part.digest: part.content for part in whole(parts.get(debate, {}).values())}
        if all(digest in there for digest in wanted[debate]):
            said = review_facts(reviews.get(review_stream(debate), ()))
            found[debate] = recorded_case(said.with_label(opened[debate]), partial(_text, there))
    return found


def _texts(opened: DebateOpened) -> list[PartRef]:
    provenance = () if opened.provenance is None else (opened.provenance,)
    return [opened.case, *provenance, *(image.content for image in opened.images)]


def _text(there: Mapping[Digest, bytes], ref: PartRef) -> bytes:
    return there[ref.digest]
