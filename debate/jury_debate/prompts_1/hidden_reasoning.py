"""Cases whose jurors do not see what the agent thought (`Panel.reasoning`)."""

from jury_events.case import Case, Scenario
from jury_events.transcript import Item, NotShown, Reasoning, Transcript

WHAT = "reasoning"


def without_reasoning(case: Case) -> Case:
    """The case with a line that it is not shown in place of each piece of the agent's reasoning.

    The items keep their numbers and sources, so that votes under both rules name the same ones.
    """
    return case.changed(scenarios=tuple(map(_scenario, case.scenarios)))


def _scenario(scenario: Scenario) -> Scenario:
    execution = scenario.execution
    items = tuple(map(_item, execution.transcript.items))
    transcript = Transcript(items=items, sources=execution.transcript.sources)
    return scenario.changed(execution=execution.changed(transcript=transcript))


def _item(item: Item) -> Item:
    if not isinstance(item, Reasoning):
        return item
    return NotShown(origin=item.origin, what=WHAT, size=len(item.text.encode("utf-8", "surrogatepass")))
