"""What the store has of the cases of a run, looked up for some cases at a time: never all of a run."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from jury_judge.runs.run import Run
from jury_store.debate_rows import CaseRow


class DebateIndex(Protocol):
    """The index of a store: an `EventStore`, or what waits for one."""

    def cases_of(self, debate_ids: Collection[str], /) -> Mapping[str, CaseRow]:
        """As `EventStore.cases_of`."""
        ...

    def ended_positions(self, debate_ids: Collection[str], /) -> Mapping[str, int]:
        """As `EventStore.ended_positions`."""
        ...


class RunIndex:
    """The recorded debates of the cases that were looked up last.

    Args:
        run: the input.
        store: its index; None where it has no debate of the run.
        brief: of cases whose debates are all over, only that is looked up; they have no `row`.
    """

    def __init__(self, run: Run, store: DebateIndex | None, *, brief: bool = False) -> None:
        self._run = run
        self._store = store
        self._brief = brief
        self._rows: Mapping[str, CaseRow] = {}
        self._ended: Mapping[str, int] = {}
        self._judged: frozenset[str] = frozenset()

    def load(self, case_ids: Sequence[str]) -> frozenset[str]:
        """Look up the debates of these cases, and return those cases whose debates are all over.

        What was looked up before is forgotten.
        """
        if self._store is None:
            return frozenset()
        debates = {case_id: self._run.debate_ids(case_id) for case_id in case_ids}
        if not self._brief:
            self._rows = self._store.cases_of([one for of_case in debates.values() for one in of_case])
            self._judged = frozenset(one for one, of_case in debates.items() if all(map(self.has_ended, of_case)))
            return self._judged
        self._ended = ended = self._store.ended_positions([one for of_case in debates.values() for one in of_case])
        self._judged = frozenset(one for one, of_case in debates.items() if all(map(ended.__contains__, of_case)))
        others = [one for case_id, of_case in debates.items() if case_id not in self._judged for one in of_case]
        self._rows = self._store.cases_of(others) if others else {}
        return self._judged

    def row(self, debate_id: str) -> CaseRow | None:
        """The recorded case of a debate; None where the store does not have it."""
        return self._rows.get(debate_id)

    def position(self, debate_id: str) -> int | None:
        """The position of the opening event of a debate; None where the store does not have it."""
        row = self._rows.get(debate_id)
        return self._ended.get(debate_id) if row is None else row.position

    def has_ended(self, debate_id: str) -> bool:
        """Whether the debate is over."""
        row = self._rows.get(debate_id)
        return debate_id in self._ended if row is None else row.has_ended

    def is_judged(self, case_id: str) -> bool:
        """Whether all debates of the case are over."""
        return case_id in self._judged
