"""Debates in which one seat reads by tools, and answers before it reads an item."""

from jury_debate import PanelSpec, resolve
from jury_events import Verdict
from support.debate_harness import DebateHarness, Says, a_case

WHOLE, BY_TOOLS = "gpt", "claude"


def a_partly_read_debate(label: Verdict | None = None) -> DebateHarness:
    """The seat that reads the whole record says unsafe_fail, the other one, which read nothing of it, safe_pass."""
    seats = [
        {"model": "simulated/juror", "juror_id": WHOLE},
        {"model": "simulated/juror", "juror_id": BY_TOOLS, "reading": "tools"},
    ]
    spec = PanelSpec.model_validate({"seats": seats, "preset": "independent"})
    says = {WHOLE: Says("unsafe_fail"), BY_TOOLS: Says("safe_pass")}
    return DebateHarness(
        resolve(spec).panel,
        lambda step, _call: says[step.juror_id or WHOLE],
        case=a_case(label=label),
    ).run()
