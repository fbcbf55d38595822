"""What a case is about, in two lines."""

from collections.abc import Iterator

from jury_events.case import Case
from jury_events.text import visible_line
from jury_events.transcript import ToolCall

_LONGEST = 300
"""Characters of the question, and of the answer."""


def case_lines(case: Case) -> Iterator[str]:
    """What the user asked and what the agent did, in the first scenario of the case."""
    scenario = case.scenarios[0]
    execution = scenario.execution
    called = [item.name for item in execution.transcript.items if isinstance(item, ToolCall)]
    calls = f"called {', '.join(called)} and " if called else ""
    yield f"the user asked:  {_text(scenario.question.prompt)}"
    yield f"the agent {calls}answered:  {_text(execution.response)}"


def _text(text: str) -> str:
    return visible_line(text.strip(), _LONGEST)
