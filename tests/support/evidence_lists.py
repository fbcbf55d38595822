"""Debates that differ in what they quote and in the item that their seats call decisive, and conditions on that."""

from collections.abc import Mapping
from typing import Any

from jury_events import Step
from jury_store import EventStore
from support.debate_harness import SEATS, Answer, DebateHarness, Says, a_case, a_panel
from support.quoting_debates import ABSENT, EXACT, SPACED, quoting
from support.stored_debates import store_debate

ELSEWHERE = "card ending"

SAID: Mapping[str, tuple[Says, ...]] = {
    "agreeing": (quoting(EXACT, item=1), quoting(EXACT, item=1), quoting(verdict="safe_pass", item=None)),
    "split": (quoting(EXACT, ABSENT, item=1), quoting(SPACED, item=2), quoting(EXACT, item=1)),
    "alone": (quoting(ELSEWHERE, item=1), quoting(EXACT, item=None), quoting(EXACT, item=None)),
    "bare": (quoting(item=None), quoting(item=None), quoting(item=None)),
    "unasked": (quoting(EXACT, item=1), quoting(EXACT, item=1), quoting(EXACT, item=1)),
}
"""What the seats say, by debate. The seats of `unasked` are asked for no evidence."""

CHOSEN: tuple[tuple[tuple[str, ...], set[str]], ...] = (
    (("evidence=verified",), {"agreeing", "split", "alone"}),
    (("evidence=normalised",), {"split"}),
    (("evidence=elsewhere",), {"alone"}),
    (("evidence=not_found",), {"split"}),
    (("evidence=none",), {"bare"}),
    (("evidence~NO",), {"split", "bare"}),
    (("evidence~",), {"agreeing", "split", "alone", "bare"}),
    (("evidence!~",), {"unasked"}),
    (("evidence!=verified",), {"bare", "unasked"}),
    (("evidence~zzz",), set()),
    (("decisive=agree",), {"agreeing"}),
    (("decisive=disagree",), {"split"}),
    (("decisive=none",), {"alone", "bare"}),
    (("decisive!=none",), {"agreeing", "split", "unasked"}),
    (("unsupported=yes",), {"alone", "bare"}),
    (("unsupported=no",), {"agreeing", "split"}),
    (("evidence=not_found", "decisive=disagree"), {"split"}),
    (("evidence=not_found", "decisive=agree"), set()),
    (("unsupported=yes", "case_id=bare"), {"bare"}),
)
"""Conditions, and the debates that match all of them."""


def a_debate(*said: Says, **spec: Any) -> DebateHarness:
    """One in which each seat says this once, and then the final judge, where there is one."""

    def says(step: Step, _call: Any) -> Answer:
        return said[-1 if step.juror_id is None else SEATS.index(step.juror_id)]

    panel = a_panel(*SEATS, **{"preset": "independent", "final": {"method": "majority_vote"}, **spec})
    return DebateHarness(panel, says, case=a_case()).run()


def store_quoting_debates(store: EventStore) -> None:
    """Append the debates of `SAID`, in that order."""
    for name, said in SAID.items():
        store_debate(store, a_debate(*said, answers={"evidence": "off" if name == "unasked" else "asked"}), name)
