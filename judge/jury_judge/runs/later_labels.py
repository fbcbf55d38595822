"""Labels that cases have and the debates of an earlier session were opened without: they are named, not taken.

A label is recorded when a debate opens, so that what was counted once can be counted again.
"""

from jury_events.case import Case
from jury_events.text.pluralize import pluralize
from jury_events.text.visible_text import visible_line
from jury_store.debate_rows import CaseRow


class LaterLabels:
    """Collects the cases that have another label than one of their debates recorded."""

    def __init__(self) -> None:
        self._cases: dict[str, None] = {}
        self._said = 0

    def add(self, case: Case, row: CaseRow) -> None:
        """Compare the label of a case with the one that a debate recorded; a case without a label changes nothing."""
        if case.label is not None and case.label.value != row.label:
            self._cases[case.case_id] = None

    def line(self) -> str | None:
        """What is to be said of those collected so far; None: nothing that was not said before."""
        found = len(self._cases)
        if found == self._said:
            return None
        self._said = found
        first = visible_line(next(iter(self._cases)), 120)
        cases = pluralize(found, "case")
        return (
            f"labels of {cases}, first of {first!r}, are not those that the debates were opened with, and are not "
            "taken: give them to the commands that count, with --labels FILE"
        )
