"""What a seat, or the final judge, said in one step, ready to be shown."""

from collections.abc import Mapping
from typing import NamedTuple

from jury_events.debate_events import JurorAbstained, JurorEvaluated, StatementMade
from jury_events.evaluation import Evaluation, ScenarioVerdict
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.panel import Panel
from jury_events.verdict import Verdict
from jury_judge.views.answered import is_stand_in, other_model
from jury_judge.views.debate_record import role_of
from jury_judge.views.position_changes import Change
from jury_judge.web.pages.texts import Text, TextShelf
from jury_store.debate_history import DebateHistory


class Subscore(NamedTuple):
    """Points in one dimension of the rubric; `maximum` is None where the rubric does not have it."""

    dimension: str
    points: float
    maximum: float | None


class Held(NamedTuple):
    """An evaluation. `other_model` answered instead of `model`; `stand_in`: somebody simulated did."""

    verdict: Verdict
    overall: float
    confidence: float
    subscores: tuple[Subscore, ...]
    rationale: Text | None
    model: str
    other_model: str | None
    stand_in: bool
    synthetic: bool
    scenarios: tuple[ScenarioVerdict, ...]


class CallLine(NamedTuple):
    """One model call behind a step. `number` counts in the stream of calls; `tools` are the names asked for.

    `recorded_at` is when it was stored, microseconds since 1970: just after it ended.
    """

    number: int
    exchange: ExchangeRecorded
    recorded_at: int

    @property
    def tools(self) -> tuple[str, ...]:
        """In the order in which they were asked for."""
        return tuple(call.name for call in self.exchange.tool_calls)


def call_lines(history: DebateHistory, up_to: int | None = None) -> list[CallLine]:
    """The model calls of a debate, recorded up to a position of the log.

    Raises:
        EventError: a stored body does not decode.
    """
    return [
        CallLine(stored.version, history.exchanges[index], stored.recorded_at)
        for index, stored in enumerate(history.stored_exchanges)
        if up_to is None or stored.position <= up_to
    ]


class Said(NamedTuple):
    """One thing said. `version` is that of its event, `round` 0 in phase 1. Who abstains has no `held`, but reasons.

    `focus` is what the seat looks at; `stands`: an earlier evaluation of it stands; `change` whose change of position
    it is.
    """

    version: int
    juror_id: str
    role: str
    focus: str
    round: int
    change: Change | None = None
    statement: Text | None = None
    held: Held | None = None
    abstained: tuple[str, ...] = ()
    stands: bool = False
    calls: tuple[CallLine, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """Every tool that was asked for in the step."""
        return tuple(name for call in self.calls for name in call.tools)


class Speakers:
    """Makes `Said` of the events of one debate.

    Args:
        panel: who sits.
        shelf: the texts.
        versions: event ids to versions in the debate's stream.
        calls: exchange ids to calls.
        changes: the steps that changed a position.
    """

    def __init__(
        self,
        panel: Panel,
        shelf: TextShelf,
        versions: Mapping[str, int],
        calls: Mapping[str, CallLine],
        changes: Mapping[Step, Change],
    ) -> None:
        self._panel = panel
        self._shelf = shelf
        self._versions = versions
        self._calls = calls
        self._changes = changes

    def said(self, event: JurorEvaluated | StatementMade | JurorAbstained, number: int) -> Said:
        """What was said in round `number`, 0 for phase 1."""
        base = Said(
            version=self._versions[event.event_id],
            juror_id=event.juror_id,
            role=role_of(self._panel, event.juror_id),
            focus=self._focus(event.juror_id),
            round=number,
            calls=self.calls(event.exchanges),
        )
        match event:
            case JurorEvaluated():
                return base._replace(held=self.held(event.evaluation))
            case StatementMade():
                return base._replace(
                    held=self.held(event.statement.evaluation),
                    change=self._changes.get(Step(event.round, event.juror_id)),
                    statement=self._shelf.text(event.statement.statement),
                )
            case JurorAbstained():
                reasons = (event.reason, event.refusal) if event.refusal else (event.reason,)
                return base._replace(abstained=tuple(one.value for one in reasons), stands=event.stale)

    def held(self, evaluation: Evaluation) -> Held:
        """An evaluation with the maxima of the rubric."""
        maxima = {dimension.name: dimension.maximum for dimension in self._panel.rubric.dimensions}
        return Held(
            verdict=evaluation.verdict,
            overall=evaluation.overall,
            confidence=evaluation.confidence,
            subscores=tuple(
                Subscore(score.dimension, score.points, maxima.get(score.dimension))
                for score in evaluation.scores.dimensions
            ),
            rationale=self._shelf.text(evaluation.rationale),
            model=evaluation.model,
            other_model=other_model(evaluation),
            stand_in=is_stand_in(evaluation),
            synthetic=evaluation.synthetic,
            scenarios=evaluation.scenarios,
        )

    def calls(self, exchanges: tuple[str, ...]) -> tuple[CallLine, ...]:
        """The calls that an event names, as far as they are stored."""
        return tuple(self._calls[one] for one in exchanges if one in self._calls)

    def _focus(self, juror_id: str) -> str:
        try:
            return self._panel.seat(juror_id).role_focus
        except KeyError:
            return ""
