"""The assumptions of a recount: evaluations were given with other information than under the setting."""

from collections.abc import Iterator

from jury_debate.state import SeatEvaluation
from jury_events.panel import Panel
from jury_replay.rescoring.positions import Positions
from jury_replay.rescoring.results import Result
from jury_replay.rescoring.settings import Setting


def assumed(positions: Positions, setting: Setting, panel: Panel, new: Result) -> str:
    """The assumptions of the new result, in words; "" where it follows from the record.

    Phase 1 and each round are the same under fewer rounds, another threshold or another counting method. Phase 1 is the
    same without a seat too, as no juror is shown the others there. What seats would have said that were not asked, as
    they could change nothing, is not known where they could under the setting. No juror was asked under another rubric,
    nor in a discussion without a seat or a vote; and the final judge was shown every recorded round.
    """
    return "; ".join(_assumptions(positions, setting, panel, new))


def _assumptions(positions: Positions, setting: Setting, panel: Panel, new: Result) -> Iterator[str]:
    judged = panel.final.judge is not None
    speakers = "the others and the final judge" if judged else "the others"
    if new.end_reason is None:
        yield "the discussion goes on after the record, and changes nothing"
    if setting.without is not None and (judged or new.total_rounds):
        yield f"{speakers} say the same without {', '.join(setting.without)}"
    if setting.synthetic == "leave_out" and any(map(_synthetic, _up_to(positions, new.total_rounds))):
        yield f"{speakers} say the same without the evaluations that stand in for blocked answers"
    if _maxima(panel) != _maxima(positions.opened.panel):
        yield f"points under the rubric {positions.opened.panel.rubric.name} scale to those under {panel.rubric.name}"
    if not new.settled:
        yield f"{', '.join(positions.not_asked)}, not asked, would change nothing"
    old = positions.end.result
    if judged and old is not None and new.total_rounds < old.total_rounds:
        yield f"the final judge, who was shown {_rounds(old.total_rounds)}, says the same after {new.total_rounds}"


def _maxima(panel: Panel) -> list[tuple[str, float]]:
    return [(one.name, one.maximum) for one in panel.rubric.dimensions]


def _up_to(positions: Positions, last: int) -> Iterator[SeatEvaluation]:
    return (view for views in positions.rounds[: last + 1] for view in views)


def _synthetic(view: SeatEvaluation) -> bool:
    return view.evaluation.synthetic


def _rounds(count: int) -> str:
    return f"{count} round" if count == 1 else f"{count} rounds"
