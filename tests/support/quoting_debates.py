"""Debates whose seats quote the case: exactly, with other spaces, and what it does not say."""

from typing import Any

from jury_events import Step
from support.debate_harness import SEATS, Answer, DebateHarness, Says, a_case, a_panel

GPT, CLAUDE, GEMINI = SEATS
EXACT, SPACED, ABSENT = "order 17", "Order  17", "Never said by anyone."


def quoting(*quotes: str, verdict: str = "unsafe_fail", item: int | None = 1) -> Says:
    return Says(verdict, evidence=tuple({"item": 1, "quote": one} for one in quotes), decisive_item=item)


def says(step: Step, _call: Any) -> Answer:
    if step.juror_id is None:
        return quoting(EXACT, ABSENT)
    return {
        GPT: quoting(EXACT, SPACED, item=1),
        CLAUDE: quoting(ABSENT, item=1),
        GEMINI: quoting(EXACT, verdict="safe_pass", item=None),
    }[step.juror_id]


def a_quoting_debate(**spec: Any) -> DebateHarness:
    panel = a_panel(*SEATS, **{"preset": "independent", **spec})
    return DebateHarness(panel, says, case=a_case()).run()
