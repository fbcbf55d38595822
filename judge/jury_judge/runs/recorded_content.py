"""A case compared with the one that a debate recorded."""

from collections.abc import Iterator
from itertools import zip_longest

from jury_events.case import Case, Scenario
from jury_events.parts import part_digest
from jury_events.text.visible_text import visible_line
from jury_judge.errors import ReadOtherwise
from jury_store.debate_rows import CaseRow
from jury_store.event_store import EventStore

_SHOWN = 60
"""Characters of a text in a message."""


def is_same_case(case: Case, debate: str, row: CaseRow, salt: bytes, store: EventStore) -> bool:
    """Whether a case is the recorded one, or the debate is over and recorded another reading of it.

    Records behind a URI were read when the debate opened and are left out. A case that an earlier version wrote is
    compared by its fields, as its bytes differ.

    Raises:
        ReadOtherwise: an earlier version read the case otherwise, and the debate is not over.
    """
    if part_digest(salt, case.to_part()) == row.case_part:
        return True
    recorded = Case.from_part(store.parts(debate, [row.case_part])[row.case_part].content)
    fetched = {
        f"{kind}_records": ()
        for kind, uri in (("security_gate", recorded.security_gate_uri), ("agent_card", recorded.agent_card_uri))
        if uri is not None
    }
    before, now = recorded.changed(**fetched, reading=0), case.changed(reading=0)
    if now.to_part() == before.to_part():
        return True
    if recorded.reading >= case.reading:
        return False
    if row.has_ended:
        return True
    raise ReadOtherwise(
        f"case {visible_line(case.case_id, 120)!r} is read otherwise than when debate {debate} opened: "
        f"{_difference(before, now)}; the debate stays as it is; judge the case in a run of another name"
    )


def _difference(before: Case, now: Case) -> str:
    """The first difference, in words."""
    for one, other in zip_longest(before.scenarios, now.scenarios):
        if one is None or other is None:
            return f"{len(before.scenarios)} scenarios, now {len(now.scenarios)}"
        found = next(_differences(one, other), None)
        if found is not None:
            return found
    return "its records"


def _differences(before: Scenario, now: Scenario) -> Iterator[str]:
    old, new = before.execution, now.execution
    for name, one, other in (
        ("request", before.question.prompt, now.question.prompt),
        ("policy", before.question.policy, now.question.policy),
        ("expected behaviour", before.question.expected_behavior, now.question.expected_behavior),
        ("final response", old.response, new.response),
        ("error", old.error, new.error),
    ):
        if one != other:
            yield f"the {name} was {_shown(one)}, now {_shown(other)}"
    if len(old.transcript) != len(new.transcript):
        yield f"the transcript had {len(old.transcript)} items, now {len(new.transcript)}"
    for number, (item, other_item) in enumerate(zip(old.transcript.items, new.transcript.items, strict=False), 1):
        if item != other_item:
            yield f"item {number} of the transcript was of kind {item.kind}, now {other_item.kind}, or its texts differ"


def _shown(text: str | None) -> str:
    if not text:
        return "empty"
    return repr(visible_line(text, _SHOWN))
