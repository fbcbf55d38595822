"""Cases whose jurors do not see what the agent thought, or see it once they have judged (`Panel.reasoning`)."""

from jury_debate.prompts_1.case_items import case_items, marker_of, render_item
from jury_debate.prompts_1.texts import CaseTexts, fill
from jury_events.case import Case, Scenario
from jury_events.panel import Marking
from jury_events.transcript import Item, NotShown, Reasoning, Transcript

WHAT = "reasoning"


def without_reasoning(case: Case) -> Case:
    """The case with a line that it is not shown in place of each piece of the agent's reasoning.

    The items keep their numbers and sources, so that votes under both rules name the same ones.
    """
    return case.changed(scenarios=tuple(map(_scenario, case.scenarios)))


def reasoning_alone(case: Case, texts: CaseTexts, sign: str, *, marking: Marking, first: int = 1) -> str:
    """What the agent thought, under the numbers that the items have in the whole case; "" where nothing is recorded.

    Args:
        texts, sign, marking, first: as for `render_case`.
    """
    items = [
        item
        for scenario, numbered in zip(case.scenarios, case_items(case, texts, {}, first), strict=True)
        for item in numbered.items
        if item.place is not None and isinstance(scenario.execution.transcript.items[item.place], Reasoning)
    ]
    if not items:
        return ""
    marked = marker_of(marking, sign)
    return "\n\n".join(
        [fill(texts.all_reasoning, total=len(items)), *(render_item(item, texts, marked) for item in items)]
    )


def _scenario(scenario: Scenario) -> Scenario:
    execution = scenario.execution
    items = tuple(map(_item, execution.transcript.items))
    transcript = Transcript(items=items, sources=execution.transcript.sources)
    return scenario.changed(execution=execution.changed(transcript=transcript))


def _item(item: Item) -> Item:
    if not isinstance(item, Reasoning):
        return item
    return NotShown(origin=item.origin, what=WHAT, size=len(item.text.encode("utf-8", "surrogatepass")))
