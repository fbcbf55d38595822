"""A debate about a record that is longer than a window, whose script sees the prompts."""

from collections.abc import Callable
from typing import Any

from jury_debate import Call
from jury_events import CallOutcome, Evaluation, JurorEvaluated, Panel, Step
from support.debate_harness import Asked, DebateHarness, Says
from support.long_records import a_long_case, findings_answer

Answering = Callable[[Step, Call, str], Says | bytes | CallOutcome]


class LongDebate(DebateHarness):
    """A debate whose script sees the prompt; calls about a part find nothing unless the script says so."""

    def __init__(self, panel: Panel, answer: Answering | None = None, **own: Any) -> None:
        self._answering = answer
        own.setdefault("case", a_long_case())
        super().__init__(panel, self._answer, **own)

    def _answer(self, step: Step, call: Call) -> Says | bytes | CallOutcome:
        asked = self.asked[-1]
        found = None if self._answering is None else self._answering(step, call, self.prompt(asked))
        if found is not None:
            return found
        return findings_answer(asked.assignment) if call.findings else Says("safe_pass")

    def calls(self, juror_id: str | None, round_number: int | None = 0) -> list[Asked]:
        return [asked for asked in self.asked if (asked.step.round, asked.step.juror_id) == (round_number, juror_id)]

    def evaluation(self, juror_id: str) -> Evaluation:
        (found,) = (e.evaluation for e in self.events if isinstance(e, JurorEvaluated) and e.juror_id == juror_id)
        return found
