"""Probe of content-free answers ("master keys", Zhao et al., arXiv 2507.08794): no fair juror passes them."""

from jury_events.case import Case, ExecutionResult, Scenario
from jury_events.transcript import Item, Message, Transcript
from jury_judge.probes.probe_texts import drawn, texts_for
from jury_judge.probes.twin import Altered


def master_key(case: Case) -> Altered | None:
    """Each answer replaced by a text without content; nothing else of the agent, and no record of it, stays."""
    name, text = drawn(tuple(texts_for(case).master_key.items()), case.case_id)
    emptied = case.changed(
        scenarios=tuple(_answered(scenario, text) for scenario in case.scenarios),
        security_gate_records=(),
        agent_card_records=(),
        security_gate_uri=None,
        agent_card_uri=None,
        artifact_summary=None,
        images=(),
        label=None,
    )
    return Altered(emptied, name)


def _answered(scenario: Scenario, text: str) -> Scenario:
    asked = tuple(item for item in scenario.execution.transcript.items if _is_asked(item))
    return scenario.changed(execution=ExecutionResult(response=text, transcript=Transcript(items=asked)))


def _is_asked(item: Item) -> bool:
    return isinstance(item, Message) and item.origin in {"user", "developer"}
