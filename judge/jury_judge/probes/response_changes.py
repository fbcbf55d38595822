"""Changes of what the agent said last: its response, or the last message of its transcript where there is none."""

from collections.abc import Callable

from jury_events.case import Case, Scenario
from jury_events.transcript import Item, Message, Transcript

Change = Callable[[str], str]


def with_response(case: Case, change: Change) -> Case | None:
    """The case with the answer of its last scenario changed; None if the agent said nothing there."""
    *others, last = case.scenarios
    changed = _changed(last, change)
    return None if changed is None else case.changed(scenarios=(*others, changed))


def answers_length(case: Case) -> int:
    """Characters of what the agent said, in all scenarios: responses, or its messages where there is no response."""
    return sum(map(_length, case.scenarios))


def _length(scenario: Scenario) -> int:
    said = (_said(item) or "" for item in scenario.execution.transcript.items)
    return len(scenario.execution.response) or sum(map(len, said))


def _changed(scenario: Scenario, change: Change) -> Scenario | None:
    execution = scenario.execution
    if execution.response.strip():
        return scenario.changed(execution=execution.changed(response=change(execution.response)))
    items = list(execution.transcript.items)
    for index in reversed(range(len(items))):
        item = items[index]
        if isinstance(item, Message) and (_said(item) or "").strip():
            items[index] = item.changed(text=change(item.text))
            return scenario.changed(execution=execution.changed(transcript=Transcript(items=tuple(items))))
    return None


def _said(item: Item) -> str | None:
    """The agent's words; None for everything else."""
    if isinstance(item, Message) and item.kind == "assistant" and item.origin == "model":
        return item.text
    return None
