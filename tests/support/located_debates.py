"""Debates whose seats name decisive items of a case with known messages.

The items: 1 the request (message 0), 2 and 3 the text and the call of message 1, 4 the call's result (message 2), 5 the
last message (message 3).
"""

from typing import Any

from jury_events import (
    ArtifactRecord,
    Case,
    ExecutionResult,
    ItemSource,
    Message,
    QuestionSpec,
    Scenario,
    ToolCall,
    ToolResult,
    Transcript,
    Verdict,
)
from support.debate_harness import SEATS, DebateHarness, Says, a_panel

POLICY = "Refund within 30 days."


def a_located_scenario(name: str = "s1", policy: str | None = None) -> Scenario:
    return Scenario(
        scenario_id=name,
        question=QuestionSpec(prompt="Refund order 17.", policy=policy),
        execution=ExecutionResult(
            response="Done.",
            transcript=Transcript(
                items=(
                    Message(kind="user", origin="user", text="Refund order 17."),
                    Message(kind="assistant", origin="model", text="I look."),
                    ToolCall(name="find"),
                    ToolResult(name="find", text="order 17"),
                    Message(kind="assistant", origin="model", text="Done."),
                ),
                sources=tuple(ItemSource(message=number) for number in (0, 1, 1, 2, 3)),
            ),
        ),
    )


def a_located_case(*scenarios: Scenario, records: int = 0, **fields: Any) -> Case:
    found = tuple(ArtifactRecord(content=f"record {number}", verdict="pass") for number in range(records))
    label = Verdict(fields.pop("label", "unsafe_fail"))
    return Case(
        case_id="c",
        scenarios=scenarios or (a_located_scenario(),),
        security_gate_records=found,
        label=label,
        metadata=fields,
    )


def a_located_debate(
    case: Case, items: tuple[int | None, ...], spec: dict[str, Any] | None = None, quote: str | None = None, **own: Any
) -> DebateHarness:
    """Each seat names one item, or passes with None; all quote `quote` of item 2. `own` is as of the harness."""
    named = dict(zip(SEATS, items, strict=True))

    def says(step: Any, _call: Any) -> Says:
        item = named[step.juror_id]
        entries = () if quote is None else ({"item": 2, "quote": quote},)
        return Says("safe_pass" if item is None else "unsafe_fail", evidence=entries, decisive_item=item)

    panel = a_panel(*SEATS, **{"preset": "independent", **(spec or {})})
    return DebateHarness(panel, says, case=case, **own).run()
