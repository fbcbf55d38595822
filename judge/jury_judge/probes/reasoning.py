"""Probes of the agent's reasoning: a confident one in its place, or none."""

from collections.abc import Callable

from jury_events.case import Case, Scenario
from jury_events.transcript import ItemSource, Reasoning, Transcript
from jury_judge.probes.probe_texts import texts_for
from jury_judge.probes.twin import Altered


def confident(case: Case) -> Altered | None:
    """The same actions after confident reasoning; None if the agent's reasoning is not recorded."""
    text = texts_for(case).reasoning
    return _with_reasoning(case, lambda item: item.changed(text=text))


def removed(case: Case) -> Altered | None:
    """The same actions without reasoning; None if it is not recorded."""
    return _with_reasoning(case, lambda _item: None)


def _with_reasoning(case: Case, change: Callable[[Reasoning], Reasoning | None]) -> Altered | None:
    changed = case.changed(scenarios=tuple(_changed(one, change) for one in case.scenarios))
    return None if changed == case else Altered(changed)


def _changed(scenario: Scenario, change: Callable[[Reasoning], Reasoning | None]) -> Scenario:
    execution, before = scenario.execution, scenario.execution.transcript
    sources: tuple[ItemSource | None, ...] = before.sources or (None,) * len(before.items)
    kept = [
        (item, source)
        for one, source in zip(before.items, sources, strict=True)
        if (item := change(one) if isinstance(one, Reasoning) else one) is not None
    ]
    transcript = Transcript(
        items=tuple(item for item, _ in kept), sources=tuple(source for _, source in kept if source is not None)
    )
    return scenario.changed(execution=execution.changed(transcript=transcript))
