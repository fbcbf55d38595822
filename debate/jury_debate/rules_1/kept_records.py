"""The record that a step reads, parsed for the steps of a debate that read it at about the same time.

A conversation keeps none while it waits for answers: of many debates at once a few records are in memory, and another
one is parsed again from its parts, in about a tenth of a second for 5 MB."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from threading import Lock

from jury_debate.assignment import Assignment
from jury_debate.reading.shown_record import ShownRecord
from jury_debate.rules_1.evidence import searched_items
from jury_debate.rules_1.quotations import SearchedItems
from jury_events.parts import PartRef


class KeptRecord:
    """A record and its items.

    Args:
        record: the case as shown.
        policy: the piece with the operator's policy; None: there is none.
    """

    def __init__(self, record: ShownRecord, policy: bytes | None) -> None:
        self.record = record
        self._policy = policy

    @cached_property
    def items(self) -> SearchedItems:
        """Its items, in which quotations are looked for."""
        return searched_items(self.record.content, self._policy, self.record.marker)


_Key = tuple[tuple[PartRef, ...], PartRef | None, str]


class KeptRecords:
    """The records used last, up to a total size, and always the last one.

    Args:
        most: bytes of records; with its searched items, a record takes two to three times its size.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._lock = Lock()
        self._kept: OrderedDict[_Key, KeptRecord] = OrderedDict()

    def record(self, key: _Key, parsed: Callable[[], KeptRecord]) -> KeptRecord:
        """The record of a key; `parsed` makes one that is not kept."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = parsed()
        with self._lock:
            kept = self._kept.setdefault(key, made)
            if kept is made:
                self._size += len(made.record.content)
            while self._size > self._most and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self._size -= len(dropped.record.content)
            return kept


_KEPT = KeptRecords(32_000_000)


def kept_record(assignment: Assignment, content: Callable[[str], bytes]) -> KeptRecord:
    """The record of a step that reads it.

    Args:
        assignment: of the step.
        content: of a part, by the characters of its reference.
    """
    reading, spec = assignment.reading, assignment.spec.evidence
    assert reading is not None
    policy = None if spec is None else spec.policy
    marker = assignment.marker if spec is None else spec.marker
    key = reading.case, policy, marker

    def parsed() -> KeptRecord:
        joined = b"".join([content(ref.part) for ref in reading.case])
        return KeptRecord(ShownRecord(joined, marker), None if policy is None else content(policy.part))

    return _KEPT.record(key, parsed)
