"""What the stream of a run says of it, for people and as JSON."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from jury_events.text import pluralize, visible_line

if TYPE_CHECKING:
    from jury_events.run_facts import RunFacts


def run_facts_lines(facts: "RunFacts") -> Iterator[str]:
    """The run in a few lines: who judges, how much is listed, and how it stands."""
    opened = facts.opened
    seats = ", ".join(f"{one.juror_id} ({one.model})" for one in opened.panel.seats)
    complete = "" if facts.complete else "; the list is not complete"
    yield f"run {opened.run_id}: {pluralize(facts.listed, 'debate')} listed{complete}"
    yield f"  panel    {visible_line(f'{opened.panel.name}: {seats}', 300)}"
    if opened.ladder is not None:
        yield f"  ladder   {opened.ladder.digest[:16]}, whose first stage this is"
    for one in opened.endpoints:
        at = ", ".join(f"{name} {value}" for name, value in one.said.items())
        yield f"  reached  {visible_line(f'{one.provider}: {at}', 300)}"
    if opened.repeats > 1:
        yield f"  repeats  {opened.repeats} debates a case"
    if bounds := facts.budget.words:
        yield f"  budget   {bounds}"
    yield f"  by       {visible_line(opened.by, 100)}, with {visible_line(opened.program, 100)}"
    if facts.cancelled_by is not None:
        yield f"  state    cancelled by {visible_line(facts.cancelled_by, 100)}"
    if (ended := facts.ended) is not None:
        others = "".join(
            f", {count:,} {name}" for name, count in (("failed", ended.failed), ("cancelled", ended.cancelled)) if count
        )
        yield f"  ended    {ended.completed:,} completed{others}; {pluralize(ended.calls, 'call')}, ${ended.cost:.4f}"


def run_facts_object(facts: "RunFacts") -> dict[str, Any]:
    """The same as JSON, with the whole panel."""
    return {
        **facts.opened.model_dump(mode="json", exclude={"type", "budget"}),
        "budget": facts.budget.model_dump(mode="json"),
        "listed": facts.listed,
        "complete": facts.complete,
        "cancelled_by": facts.cancelled_by,
        "ended": None if facts.ended is None else facts.ended.model_dump(mode="json", exclude={"type", "number"}),
    }
