"""The cases of a call, each read once, and what the store has of them, looked up for some at a time.

What is read ahead of its turn is kept until it is taken.
"""

import json
import weakref
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import Any, NamedTuple, TypeVar

from jury_cases.case_outlines import Fetch, Skip, batches, outline_of
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

_IN_MEMORY = 64 * 1024 * 1024
"""Bytes of cases that are kept in memory; beyond, they are on disk."""


class ReadCase(NamedTuple):
    """A case as it was read.

    Attributes:
        case_id: its id.
        content: the case with its label, as JSON; None where its id was enough.
        submission_id: see `Run.submission_id`.
        read: the case, where it was read just now.
    """

    case_id: str
    content: bytes | None
    submission_id: str | None = None
    read: Case | None = None

    @property
    def case(self) -> Case:
        """The case; its id was not enough."""
        assert self.content is not None, "the case was read"
        return self.read or Case.model_validate_json(self.content)


class CasesOnce:
    """Reads the input of a run from the first case to the last; one thread at a time.

    Args:
        passes: whether cases may be passed by their ids, several at a time; else each comes as soon as it is read.
        keeps: whether there is a reader after the first one.
    """

    def __init__(self, run: Run, *, passes: bool, keeps: bool = True) -> None:
        self._run = run
        self._keeps = keeps
        self._skip: Skip = no_case
        self._fetch: Fetch = _never
        self._kept = SpooledTemporaryFile(max_size=_IN_MEMORY, prefix="jury-cases-")  # noqa: SIM115  (closed below)
        weakref.finalize(self, self._kept.close)
        self._rest = self._read(passes=passes)

    def ahead(self, skip: Skip, fetch: Fetch) -> Iterator[ReadCase]:
        """The cases from the first on; all that were read so far are given again to the next reader.

        Args:
            skip: takes the ids of the next cases, and returns those of which the id is enough.
            fetch: whether to read the records that a case's URIs refer to.
        """
        yield from self._again(skip)
        self._skip, self._fetch = skip, fetch
        for one in self._rest:
            if self._keeps:
                self._keep(one)
            yield one

    def taken(self, skip: Skip, fetch: Fetch) -> Iterator[ReadCase]:
        """The same for the last reader: nothing is kept any more. Raises as `ahead`."""
        yield from self._again(skip)
        self._kept.close()
        self._skip, self._fetch = skip, fetch
        yield from self._rest

    def kept(self) -> Iterator[Case]:
        """The cases that were read ahead and not taken yet."""
        return (one.case for one in self._read_back() if one.content is not None)

    def _read(self, *, passes: bool) -> Iterator[ReadCase]:
        cases = self._run.cases

        asked: Skip | None = None

        def skipped(case_ids: Sequence[str]) -> Container[str]:
            nonlocal asked
            asked = self._skip  # of the reader that reads at this moment
            return asked(case_ids)

        def fetched(case: Case) -> bool:
            return self._fetch(case)

        for found in outline_of(cases, skipped, fetched) if passes else cases(fetched):
            case_id = found if isinstance(found, str) else found.case_id
            # The reader before stopped within a batch: this one was not asked of the rest of it.
            passed = passes and self._skip is not asked and case_id in self._skip([case_id])
            if passed or isinstance(found, str):
                yield ReadCase(case_id, None)
            else:
                content = found.model_dump_json().encode()
                yield ReadCase(found.case_id, content, self._run.submission_id(found), found)

    def _keep(self, one: ReadCase) -> None:
        self._kept.seek(0, 2)
        name = json.dumps(one.submission_id).encode()
        self._kept.write(b"\n".join((one.case_id.encode(), name, one.content or b"", b"")))

    def _again(self, skip: Skip) -> Iterator[ReadCase]:
        for batch in batches(self._read_back()):
            skipped = skip([one.case_id for one in batch])
            for one in batch:
                yield one._replace(content=None) if one.case_id in skipped else one

    def _read_back(self) -> Iterator[ReadCase]:
        place = 0
        while True:
            self._kept.seek(place)
            case_id, name, content = self._kept.readline(), self._kept.readline(), self._kept.readline()
            if not case_id:
                return
            place += len(case_id) + len(name) + len(content)
            yield ReadCase(case_id[:-1].decode(), content[:-1] or None, json.loads(name))


def no_case(_case_ids: object) -> frozenset[str]:
    """A `Skip` that passes no case by its id."""
    return frozenset()


def _never(_case: Case) -> bool:
    return False


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
