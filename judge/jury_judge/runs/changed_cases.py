"""Cases that read otherwise now than when they were listed.

The text and the label of a case are recorded when its debate opens, so that what was counted once can be counted again.
"""

from collections.abc import Iterator

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
