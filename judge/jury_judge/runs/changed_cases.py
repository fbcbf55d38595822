"""Cases that read otherwise now than when they were listed, and the order of the debates of a call.

The text and the label of a case are recorded when its debate opens, so that what was counted once can be counted again.
"""

import json
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import NamedTuple

from jury_events.case import Case
from jury_events.parts import part_digest
from jury_events.text import pluralize, visible_line
from jury_store.debate_rows import CaseRow
from jury_store.event_store import EventStore


class ChangedCases:
    """Collects cases whose text or label is not that of one of their debates."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}
        self._labels: dict[str, None] = {}
        self._said = (0, 0)

    @property
    def first(self) -> str | None:
        """The id of the first case whose text is not the recorded one; None: there is none."""
        return next(iter(self._texts), None)

    def add_text(self, case: Case) -> None:
        """The text of a case is not the recorded one."""
        self._texts[case.case_id] = None

    def compare_label(self, case: Case, row: CaseRow) -> None:
        """Compare the label of a case with the one that a debate recorded; a case without a label changes nothing."""
        if case.label is not None and case.label.value != row.label:
            self._labels[case.case_id] = None

    def lines(self) -> Iterator[str]:
        """What is to be said of those collected since this was called last."""
        before, self._said = self._said, (len(self._texts), len(self._labels))
        if len(self._texts) > before[0]:
            yield (
                f"{_counted(self._texts)}, read otherwise now than when they were listed (or the panel file redacts "
                "them otherwise), and are judged as listed: to judge them as they are now, give another --run id"
            )
        if len(self._labels) > before[1]:
            yield (
                f"labels of {_counted(self._labels)}, are not those that the debates were opened with, and are not "
                "taken: give them to the commands that count, with --labels FILE"
            )


def _counted(cases: dict[str, None]) -> str:
    return f"{pluralize(len(cases), 'case')}, first of {visible_line(next(iter(cases)), 120)!r}"


def is_same_case(case: Case, debate: str, row: CaseRow, salt: bytes, store: EventStore) -> bool:
    """Whether a case is the recorded one; records behind a URI, which were read when the debate opened, aside."""
    if part_digest(salt, case.to_part()) == row.case_part:
        return True
    recorded = Case.from_part(store.parts(debate, [row.case_part])[row.case_part].content)
    fetched = {
        f"{kind}_records": ()
        for kind, uri in (("security_gate", recorded.security_gate_uri), ("agent_card", recorded.agent_card_uri))
        if uri is not None
    }
    return bool(fetched) and case.to_part() == recorded.changed(**fetched).to_part()


_BLOCK = 4096
"""Entries that are kept in memory before they are written, and that are read at once."""

_OVER, _LEFT = "+", "-"

_IN_MEMORY = 1024 * 1024
"""Bytes."""


class OrderedDebate(NamedTuple):
    """A debate at its place; `over`: it had ended before this call."""

    debate_id: str
    over: bool


class DebateOrder:
    """Written by the thread that reads the cases, and read by the one that gives the lines."""

    def __init__(self) -> None:
        self._blocks = SpooledTemporaryFile(max_size=_IN_MEMORY, prefix="jury-order-")  # noqa: SIM115  (closed below)
        weakref.finalize(self, self._blocks.close)
        self._ends: list[int] = [0]
        self._last: list[str] = []
        self._unread: deque[str] = deque()
        self._read = 0
        self._lock = threading.Lock()

    def add(self, debate_id: str, *, over: bool) -> None:
        """The next debate."""
        with self._lock:
            self._last.append(f"{_OVER if over else _LEFT}{debate_id}")
            if len(self._last) == _BLOCK:
                self._blocks.seek(self._ends[-1])
                written = self._blocks.write(json.dumps(self._last).encode())
                self._ends.append(self._ends[-1] + written)
                self._last = []

    def first(self) -> OrderedDebate | None:
        """The first debate that was not removed; None: none was added since."""
        with self._lock:
            if not self._unread:
                block, place = divmod(self._read, _BLOCK)
                self._unread.extend(self._block(block)[place:])
            found = self._unread[0] if self._unread else None
        return None if found is None else OrderedDebate(found[1:], found[0] == _OVER)

    def remove(self) -> None:
        """Go on to the next debate."""
        with self._lock:
            self._unread.popleft()
            self._read += 1

    def __iter__(self) -> Iterator[str]:
        """The ids of all debates, from the first on."""
        block = 0
        while True:
            with self._lock:
                found = self._block(block)
            yield from (one[1:] for one in found)
            if len(found) < _BLOCK:
                return
            block += 1

    def _block(self, number: int) -> list[str]:
        if number == len(self._ends) - 1:
            return self._last
        start, end = self._ends[number : number + 2]
        self._blocks.seek(start)
        found: list[str] = json.loads(self._blocks.read(end - start))
        return found
