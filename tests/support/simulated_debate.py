"""A debate of simulated jurors, decided by the pure rules alone, with every request kept."""

import json
from typing import Any, NamedTuple

from jury_debate import Call, newest_rules
from jury_events import (
    CallSettings,
    Case,
    Evaluation,
    Evidence,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    Marking,
    StatementMade,
    Step,
    quotes_of,
)
from jury_providers import ModelMessage, ModelRequest, SimulatedReader
from support.debate_harness import SEATS, DebateHarness, a_panel


class Quoted(NamedTuple):
    """One quotation of an answer: its text, and its entry in the event."""

    quote: str
    entry: Evidence


class SimulatedDebate:
    """One debate, to its end; `requests` are by step, the first of each.

    Args:
        case: what is judged.
        seed: of every seat.
        marking: of judged text.
        operator_policy: as of `open_debate`.
        spec: as in a panel file.
    """

    def __init__(
        self,
        case: Case,
        *,
        seed: int = 0,
        marking: Marking = "lines",
        operator_policy: str | None = None,
        **spec: Any,
    ) -> None:
        self.requests: dict[str, ModelRequest] = {}
        self._seed = seed
        self._reader = SimulatedReader()
        panel = a_panel(*SEATS, marking=marking, **spec)
        self._evidence = panel.answers.evidence != "off"
        self.harness = DebateHarness(panel, self._answer, case=case, operator_policy=operator_policy)
        self._panel = panel
        self.harness.run()

    @property
    def evaluations(self) -> list[Evaluation]:
        """All of them in order, that of the final judge last."""
        found: list[Evaluation] = []
        for event in self.harness.events:
            if isinstance(event, JurorEvaluated):
                found.append(event.evaluation)
            elif isinstance(event, StatementMade):
                found.append(event.statement.evaluation)
            elif isinstance(event, JudgmentRendered) and event.judgment.judge is not None:
                found.append(event.judgment.judge)
        return found

    @property
    def refused(self) -> list[object]:
        """Why seats abstained."""
        return [event.refusal for event in self.harness.events if isinstance(event, JurorAbstained)]

    def quoted(self, evaluation: Evaluation) -> list[Quoted]:
        """The quotations of an evaluation with their entries."""
        quotes = () if evaluation.quotes is None else quotes_of(self.harness.pen.content(evaluation.quotes.part))
        return [Quoted(*one) for one in zip(quotes, evaluation.evidence or (), strict=True)]

    def _answer(self, step: Step, call: Call) -> bytes:
        pen = self.harness.pen
        messages = (
            ModelMessage(message.role, "".join(map(pen.text, message.parts)))
            for message in call.messages
            if message.parts
        )
        schema = newest_rules().answer_schema(self._panel.rubric, evidence=self._evidence, scale=self._panel.scale)
        request = ModelRequest(
            model="juror",
            messages=tuple(messages),
            tools=(),
            schema=schema,
            settings=CallSettings(seed=self._seed),
            trace=f"d/{step.id}/simulated%2Fjuror/1/1",
        )
        self.requests.setdefault(step.id, request)
        return json.dumps(self._reader.read(request).answer, ensure_ascii=False).encode()
