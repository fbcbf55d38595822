"""Rescoring with every recorded position held fixed: who said what does not change, what the rules make of it does.

It assumes that the discussion would have gone the same way under the new setting, which nobody can know.
"""

from collections.abc import Sequence

from jury_debate.errors import DebateError
from jury_debate.rules_registry import rules_of
from jury_debate.state import SeatEvaluation
from jury_events.errors import EventError
from jury_events.evaluation import Evaluation
from jury_events.exact import exact
from jury_events.ids import FINAL, debate_stream
from jury_events.panel import Panel
from jury_events.rubric import DimensionScore, Rubric, Scores
from jury_replay.errors import JudgeMissing, ReplayError
from jury_replay.recorded import broken
from jury_replay.rescoring.assumptions import assumed
from jury_replay.rescoring.panels import Panels
from jury_replay.rescoring.positions import Positions, read_positions
from jury_replay.rescoring.results import Result, RowStatus
from jury_replay.rescoring.rows import Problem, Row, RowMaker
from jury_replay.rescoring.settings import Grid, Setting
from jury_store.event_store import EventStore


class Recount:
    """A grid of settings over debates, by their `debate/` streams alone."""

    def __init__(self, grid: Grid) -> None:
        self._panels = Panels(grid)

    def __call__(self, store: EventStore, debate_ids: Sequence[str]) -> list[list[Row] | Problem]:
        """The rows of each debate, a row a setting, or why there are none."""
        names = [debate_stream(one) for one in debate_ids]
        streams = store.read_streams(names)
        found: list[list[Row] | Problem] = []
        for debate_id, name in zip(debate_ids, names, strict=True):
            try:
                found.append(self.rows(read_positions(debate_id, streams.get(name, ()))))
            except (EventError, DebateError, ReplayError) as error:
                found.append(Problem(debate_id, str(error)))
            except Exception as error:  # noqa: BLE001  (one debate that breaks the rules keeps no other from its rows)
                found.append(Problem(debate_id, broken(debate_id, error)))
        return found

    def rows(self, positions: Positions) -> list[Row]:
        """One row a setting.

        Raises:
            UnknownRules: a newer Jury Judge held the debate.
        """
        end = positions.end
        maker = RowMaker("recount", positions.opened, end.result)
        if end.result is None:
            return [maker.open(setting, end.status, end.why) for setting in self._panels.settings]
        rows = []
        for setting, panel in self._panels.under(positions.opened.panel):
            if isinstance(panel, Panel):
                new = recounted(positions, setting, panel)
                rows.append(maker.answered(setting, new, assumed(positions, setting, panel, new)))
            elif isinstance(panel, JudgeMissing):
                rows.append(maker.open(setting, RowStatus.UNDETERMINED, str(panel), FINAL.id))
            else:
                rows.append(maker.open(setting, RowStatus.NOT_APPLICABLE, str(panel)))
        return rows


def recounted(positions: Positions, setting: Setting, panel: Panel) -> Result:
    """What the rules that the debate names make of its positions.

    Args:
        positions: of a debate with a result.
        setting: what changes of votes and scores.
        panel: the debate's, under the setting.
    """
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
    said = rules_of(opened.rules).recount(
        opened.model_copy(update={"panel": panel}), rounds, judge=judge, judge_failure=old.judgment.judge_failure
    )
    return Result(panel, said.judgment, said.rounds, said.end_reason)


def _counts(view: SeatEvaluation, setting: Setting) -> bool:
    if setting.synthetic == "leave_out" and view.evaluation.synthetic:
        return False
    return view.juror_id not in (setting.without or ())


def rescaled(evaluation: Evaluation, before: Rubric, after: Rubric) -> Evaluation:
    """The evaluation with each dimension's points scaled to its new maximum, in exact arithmetic, rounded once."""
    maxima = {one.name: one.maximum for one in before.dimensions}
    scores = Scores(
        dimensions=tuple(
            DimensionScore(
                dimension=one.name,
                points=float(exact(evaluation.scores.points(one.name)) * exact(one.maximum) / exact(maxima[one.name])),
            )
            for one in after.dimensions
        )
    )
    return evaluation.changed(scores=scores, overall=scores.overall)
