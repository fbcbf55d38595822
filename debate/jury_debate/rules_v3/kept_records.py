"""The record that a step reads, parsed once for the steps of a debate that read it at the same time."""

from collections.abc import Callable
from functools import cached_property
from weakref import WeakValueDictionary

from jury_debate.assignment import Assignment
from jury_debate.reading.shown_record import ShownRecord
from jury_debate.rules_v3.quotations import SearchedItems
from jury_debate.rules_v3.shown_items import searched_items
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
_KEPT: WeakValueDictionary[_Key, KeptRecord] = WeakValueDictionary()
"""As long as a conversation holds them."""


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
    found = _KEPT.get(key)
    if found is None:
        joined = b"".join([content(ref.part) for ref in reading.case])
        found = KeptRecord(ShownRecord(joined, marker), None if policy is None else content(policy.part))
        _KEPT[key] = found
    return found
