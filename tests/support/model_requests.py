"""Requests as jurors make them, from debates run by the pure rules."""

from collections.abc import Sequence
from typing import Any

from jury_actors import StepExecution, StepRequest
from jury_events import VERDICTS, ArtifactRecord, Case, PartBuffer
from jury_providers import ModelRequest
from support.debate_harness import DebateHarness, Says, a_case, a_panel, by_round

GATE_AND_CARD = {
    "security_gate_records": tuple(
        ArtifactRecord.from_json({"id": f"gate-{number}", "verdict": verdict, "reason": "leaked a key"})
        for number, verdict in enumerate(("fail", "pass", "fail"))
    ),
    "agent_card_records": (ArtifactRecord.from_json({"skill": "refunds", "verdict": "fail"}),),
}

THREE = tuple(verdict.value for verdict in VERDICTS.values())


def requests_of_a_debate(case: Case | None = None, *, prompts: int = 2, **spec: Any) -> dict[str, ModelRequest]:
    """The first request of each step, by the step's id; answers are scripted, and split at first."""
    case = case or a_case(**GATE_AND_CARD)
    panel = a_panel(prompts=prompts, **spec)
    fail, *_, better, good = THREE if panel.scale is None else panel.scale.ids
    table: dict[str, Sequence[Says]] = {
        "gpt": [Says(good, 90), Says(better, 60)],
        "claude": [Says(fail, 10, 0.9)],
        "gemini": [Says(better, 50), Says(fail, 20)],
    }
    harness = DebateHarness(panel, by_round(table, Says(better)), case=case, prompts=prompts).run()
    found: dict[str, ModelRequest] = {}
    for asked in harness.asked:
        part = harness.debate.state.debate.case if asked.assignment.tools else None
        ask = StepRequest(asked.assignment, harness.pen.texts, part, ())
        execution = StepExecution(ask, dict(harness.pen.texts), PartBuffer(lambda: bytes(16)))
        found.setdefault(asked.step.id, execution.request(execution.conversation.calls[0]))
    return found
