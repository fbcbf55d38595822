"""Recount: recorded positions stay as they are; consensus, end and judgment are computed again from them.

A recount assumes an unchanged discussion, which the record cannot show.
"""

from collections.abc import Sequence

from jury_debate.errors import DebateError
from jury_debate.rules_registry import rules_of
from jury_debate.state import SeatEvaluation
from jury_events.errors import DebateNotFound, EventError
from jury_events.evaluation import Evaluation
from jury_events.exact import exact
from jury_events.ids import FINAL
from jury_events.panel import Panel
from jury_events.rubric import DimensionScore, Rubric, Scores
from jury_events.verdict_scale import VerdictScale
from jury_replay.errors import JudgeMissing, ReplayError
from jury_replay.reopening import crash_message
from jury_replay.rescoring.assumptions import assumed
from jury_replay.rescoring.panels import Panels
from jury_replay.rescoring.positions import Positions, read_positions
from jury_replay.rescoring.results import RescoreStatus, Result
from jury_replay.rescoring.rows import RescoreProblem, RescoreRow, RowMaker
from jury_replay.rescoring.settings import Grid, Setting
from jury_store.event_store import EventStore


class RecountRescoring:
    """A grid of settings over debates, by their `debate/` streams alone."""

    def __init__(self, grid: Grid) -> None:
        self._panels = Panels(grid)

    def __call__(self, store: EventStore, debate_ids: Sequence[str]) -> list[list[RescoreRow] | RescoreProblem]:
        """The rows of each debate, one a setting, or why there are none."""
        found: list[list[RescoreRow] | RescoreProblem] = []
        for history in store.event_histories(debate_ids):
            try:
                found.append(self.rows(read_positions(history)))
            except (EventError, DebateError, ReplayError, DebateNotFound) as error:
                found.append(RescoreProblem(history.debate_id, str(error)))
            except Exception as error:  # noqa: BLE001  (one debate on which the rules fail does not stop the others)
                found.append(RescoreProblem(history.debate_id, crash_message(history.debate_id, error)))
        return found

    def rows(self, positions: Positions) -> list[RescoreRow]:
        """One row a setting."""
        end = positions.end
        maker = RowMaker("recount", positions.opened, end.result)
        if end.result is None:
            return [maker.open(setting, end.status, end.why) for setting in self._panels.settings]
        rows = []
        for setting, panel in self._panels.under(positions.opened):
            if isinstance(panel, Panel):
                new = recounted(positions, setting, panel)
                rows.append(maker.answered(setting, new, assumed(positions, setting, panel, new)))
            elif isinstance(panel, JudgeMissing):
                rows.append(maker.open(setting, RescoreStatus.UNDETERMINED, str(panel), FINAL.id))
            else:
                rows.append(maker.open(setting, RescoreStatus.NOT_APPLICABLE, str(panel)))
        return rows


def recounted(positions: Positions, setting: Setting, panel: Panel) -> Result:
    """The result of the positions under the rules that the debate names."""
    opened, old = positions.opened, positions.end.result
    assert old is not None
    judge, rounds = old.judgment.judge, positions.rounds
    if setting.without is not None or setting.synthetic == "leave_out":
        rounds = tuple(tuple(view for view in views if _counts(view, setting)) for views in rounds)
    if setting.rubric is not None:
        before, after = opened.panel.rubric, panel.rubric
        rounds = tuple(
            tuple(view._replace(evaluation=rescaled(view.evaluation, before, after)) for view in views)
            for views in rounds
        )
        judge = None if judge is None else rescaled(judge, before, after)
    if setting.outcomes is not None and panel.scale is not None:
        rounds = tuple(
            tuple(view._replace(evaluation=with_outcomes(view.evaluation, panel.scale)) for view in views)
            for views in rounds
        )
        judge = None if judge is None else with_outcomes(judge, panel.scale)
    counted = rules_of(opened.rules).recount(
        opened.model_copy(update={"panel": panel}),
        rounds,
        judge=judge,
        judge_failure=old.judgment.judge_failure,
        not_asked=positions.not_asked,
    )
    return Result(panel, counted.judgment, counted.rounds, counted.end_reason, counted.settled)


def _counts(view: SeatEvaluation, setting: Setting) -> bool:
    if setting.synthetic == "leave_out" and view.evaluation.synthetic:
        return False
    return view.juror_id not in (setting.without or ())


def with_outcomes(evaluation: Evaluation, scale: VerdictScale) -> Evaluation:
    """The evaluation with the outcomes that its labels have under a scale; what has no label keeps its outcome."""
    return evaluation.changed(
        verdict=evaluation.verdict if evaluation.label is None else scale.verdict(evaluation.label),
        scenarios=tuple(
            row if row.label is None else row.changed(verdict=scale.verdict(row.label)) for row in evaluation.scenarios
        ),
    )


def rescaled(evaluation: Evaluation, before: Rubric, after: Rubric) -> Evaluation:
    """The evaluation with each dimension's points scaled to its new maximum, in exact arithmetic, rounded once.

    One without points stays as it is.
    """
    given = evaluation.scores
    if given is None:
        return evaluation
    maxima = {one.name: one.maximum for one in before.dimensions}
    scores = Scores(
        dimensions=tuple(
            DimensionScore(
                dimension=one.name,
                points=float(exact(given.points(one.name)) * exact(one.maximum) / exact(maxima[one.name])),
            )
            for one in after.dimensions
        )
    )
    return evaluation.changed(scores=scores, overall=scores.overall)
