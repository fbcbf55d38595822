"""What steps are shown of a case, read once for all the steps and seats of a debate that are shown the same parts.

A conversation keeps none of it while it waits for answers: the records used last are in memory, up to a bound, and
another one is read again from its parts, in about a tenth of a second for 5 MB."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from threading import Lock

from jury_debate.assignment import Assignment
from jury_debate.reading.shown_record import ShownRecord
from jury_debate.rules_1.evidence import searched_items
from jury_debate.rules_1.quotations import SearchedItems


class KeptRecord:
    """A record and its items, each read when it is first needed.

    Args:
        content: the case as shown.
        policy: the piece with the operator's policy; None: there is none.
        marker: of the debate.
    """

    def __init__(self, content: bytes, policy: bytes | None, marker: str) -> None:
        self.size = len(content)
        self._content = content
        self._policy = policy
        self._marker = marker

    @cached_property
    def record(self) -> ShownRecord:
        """The places of its items and headings."""
        return ShownRecord(self._content, self._marker)

    @cached_property
    def items(self) -> SearchedItems:
        """Its items, in which quotations are looked for."""
        return searched_items(self._content, self._policy, self._marker)


_Key = tuple[tuple[str, ...], str | None, str]
"""The parts of the case, that of the policy, and the marker: a part is named by its content."""


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
                self._size += made.size
            while self._size > self._most and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self._size -= dropped.size
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
    policy = None if spec is None or spec.policy is None else spec.policy.part
    marker = assignment.marker if spec is None else spec.marker
    case = tuple(ref.part for ref in reading.case)

    def parsed() -> KeptRecord:
        return KeptRecord(b"".join(map(content, case)), None if policy is None else content(policy), marker)

    return _KEPT.record((case, policy, marker), parsed)
