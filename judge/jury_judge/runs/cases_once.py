"""The cases of a call, each read once: what is read ahead of its turn is kept until it is taken."""

import json
import weakref
from collections.abc import Container, Iterator, Sequence
from tempfile import SpooledTemporaryFile
from typing import NamedTuple

from jury_cases.case_source import Fetch, Skip, batches, outline_of
from jury_events.case import Case
from jury_judge.runs.run import Run

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
        source = run.cases if passes else _Built(run)
        self._rest = outline_of(source, self._passed, self._fetched)

    def ahead(self, skip: Skip, fetch: Fetch) -> Iterator[ReadCase]:
        """The cases from the first on; all that were read so far are given again to the next reader.

        Args:
            skip: takes the ids of the next cases, and returns those of which the id is enough.
            fetch: whether to read the records that a case's URIs refer to.
        """
        yield from self._again(skip)
        self._skip, self._fetch = skip, fetch
        for found in self._rest:
            one = self._as_read(found)
            if self._keeps:
                self._keep(one)
            yield one

    def taken(self, skip: Skip, fetch: Fetch) -> Iterator[ReadCase]:
        """The same for the last reader: nothing is kept any more. Raises as `ahead`."""
        yield from self._again(skip)
        self._kept.close()
        self._skip, self._fetch = skip, fetch
        yield from map(self._as_read, self._rest)

    def kept(self) -> Iterator[Case]:
        """The cases that were read ahead and not taken yet."""
        return (one.case for one in self._read_back() if one.content is not None)

    def _passed(self, case_ids: Sequence[str]) -> Container[str]:
        return self._skip(case_ids)

    def _fetched(self, case: Case) -> bool:
        return self._fetch(case)

    def _as_read(self, found: Case | str) -> ReadCase:
        if isinstance(found, str):
            return ReadCase(found, None)
        return ReadCase(found.case_id, found.model_dump_json().encode(), self._run.submission_id(found), found)

    def _keep(self, one: ReadCase) -> None:
        self._kept.seek(0, 2)
        name = json.dumps(one.submission_id).encode()
        self._kept.write(b"\n".join((one.case_id.encode(), name, one.content or b"", b"")))

    def _again(self, skip: Skip) -> Iterator[ReadCase]:
        for batch in batches(self._read_back()):
            skipped = skip([one.case_id for one in batch])
            yield from (one._replace(content=None) if one.case_id in skipped else one for one in batch)

    def _read_back(self) -> Iterator[ReadCase]:
        place = 0
        while True:
            self._kept.seek(place)
            lines = [self._kept.readline() for _ in range(3)]
            place += sum(map(len, lines))
            case_id, name, content = (line[:-1] for line in lines)
            if not case_id:
                return
            yield ReadCase(case_id.decode(), content or None, json.loads(name))


class _Built:
    def __init__(self, run: Run) -> None:
        self._run = run

    def outline(self, _skip: Skip, fetch: Fetch) -> Iterator[Case | str]:
        """See `OutlinedCases`: none is passed by its id."""
        yield from self._run.cases(fetch)


def no_case(_case_ids: object) -> frozenset[str]:
    """A `Skip` that passes no case by its id."""
    return frozenset()


def _never(_case: Case) -> bool:
    return False
