"""A case compared with the one that a debate recorded."""

from jury_events.case import Case
from jury_events.parts import part_digest
from jury_store.debate_rows import CaseRow
from jury_store.event_store import EventStore


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
