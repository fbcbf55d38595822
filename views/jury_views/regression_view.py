"""The result of a recorded debate under today's rules, as text."""

from collections.abc import Iterator

from jury_events.text.visible_text import visible_line
from jury_replay.difference import DifferenceKind
from jury_replay.regression import FinalVerdict, Regressed, RegressionStatus
from jury_views.difference_view import difference_lines

_EVENTS = 3
_PROMPTS = 2
"""How many differences of events and of prompts are shown."""


def regression_lines(found: Regressed) -> Iterator[str]:
    """Verdict and score, then the first differences: what happens first, prompts apart from it."""
    if found.status is RegressionStatus.UNREADABLE:
        yield visible_line(f"{found.name}: {found.detail}", 1000)
        return
    yield f"{found.name}: {_outcomes(found)}"
    if found.detail is not None:
        yield f"  {found.detail}"
    prompts = [one for one in found.differences if one.kind is DifferenceKind.PROMPT]
    happened = [one for one in found.differences if one.kind is not DifferenceKind.PROMPT]
    for some, shown, what in ((happened, _EVENTS, "other differences"), (prompts, _PROMPTS, "other prompts")):
        for difference in some[:shown]:
            yield from (f"  {line}" for line in difference_lines(difference))
        if len(some) > shown:
            yield f"  and {len(some) - shown} {what}"


def _outcomes(found: Regressed) -> str:
    if found.recorded == found.now:
        return f"still {_shown(found.now)}, but"
    return f"was {_shown(found.recorded)}, is {_shown(found.now)}"


def _shown(outcome: FinalVerdict | None) -> str:
    return "without a verdict" if outcome is None else f"{outcome.verdict} {outcome.score}"
