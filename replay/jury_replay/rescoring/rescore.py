"""Rescoring: recorded debates under other settings, each read once; nothing is written to them.

Strict: a recorded answer counts only where the same request was made (messages, offered tools, model, call settings).
The first step without such an answer is named, and nothing after it is determined.

Recount: recorded positions stay as they are; consensus, end and judgment are computed again from them. It assumes an
unchanged discussion, which the record cannot show.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from jury_debate.errors import DebateError
from jury_debate.rules_registry import rules_of
from jury_debate.state import SeatEvaluation
from jury_events.codec import SCHEMAS, DebateEvent, types_of
from jury_events.debate_events import DebateOpened
from jury_events.debate_history import DebateHistory
from jury_events.errors import DebateNotFound, EventError, UnknownPart
from jury_events.evaluation import Evaluation
from jury_events.exact import exact
from jury_events.ids import FINAL, Step
from jury_events.panel import Panel
from jury_events.parts import PartBuffer
from jury_events.reading import ReadingPlan
from jury_events.rubric import DimensionScore, Rubric, Scores
from jury_events.text import pluralize
from jury_events.verdict_scale import VerdictScale
from jury_replay.errors import JudgeMissing, RecordDamaged, ReplayError
from jury_replay.replayer import Memo, Replayer, crash_message, pen_of, reopen
from jury_replay.rescoring.rows import RecordedEnd, RescoreProblem, RescoreRow, RescoreStatus, Result, RowMaker, end_of
from jury_replay.rescoring.settings import Grid, Mode, Panels, Setting
from jury_replay.selection import CHUNK, DebateSelection, spread
from jury_store.event_store import EventStore

_SECONDS: Mapping[Mode, tuple[float, float]] = {"strict": (0.003, 0.001), "recount": (0.0004, 0.0001)}
"""Seconds to read a debate, and for each setting, about (see `benchmarks/replay.py`)."""

_CHUNK = 0.5
"""Most seconds of work in a chunk of several debates: a worker is not stopped within one."""

_SHARED_FROM = 4.0
"""Seconds of work from which on more processes pay for their start, which takes one or two."""


def worth_sharing(grid: Grid, mode: Mode) -> int:
    """The number of debates from which on several processes are quicker than one."""
    return int(_SHARED_FROM / _seconds(grid, mode))


def _seconds(grid: Grid, mode: Mode) -> float:
    reading, setting = _SECONDS[mode]
    return reading + setting * len(grid.settings)


def rescore(
    store: EventStore,
    selection: DebateSelection,
    grid: Grid,
    *,
    mode: Mode = "strict",
    url: str = "",
    processes: int = 1,
) -> Iterator[list[RescoreRow] | RescoreProblem]:
    """Each debate under every setting, in the order of the selection, in memory that does not grow with their number.

    Args:
        mode: `strict` uses only answers to identical requests; `recount` keeps every recorded position.
        url: of the store; needed for more than one process.

    Yields:
        The rows of a debate, one a setting in the order of the grid, or why its record cannot be used.
    """
    grid.check(mode)
    work = RecountRescoring(grid) if mode == "recount" else StrictRescoring(grid)
    size = max(1, min(CHUNK, int(_CHUNK / _seconds(grid, mode))))
    for found in spread(store, selection.chunks(store, size), work, url=url, processes=processes):
        yield from found


class StrictRescoring:
    """A grid of settings over debates: their events, exchanges and texts."""

    def __init__(self, grid: Grid) -> None:
        self._panels = Panels(grid)

    def __call__(self, store: EventStore, debate_ids: Sequence[str]) -> list[list[RescoreRow] | RescoreProblem]:
        """The rows of each debate, one a setting, or why there are none."""
        found: list[list[RescoreRow] | RescoreProblem] = []
        for history in store.histories(debate_ids):
            try:
                found.append(self.rows(history))
            except (EventError, DebateError, ReplayError, DebateNotFound) as error:
                found.append(RescoreProblem(history.debate_id, str(error)))
            except Exception as error:  # noqa: BLE001  (one debate on which the rules fail does not stop the others)
                found.append(RescoreProblem(history.debate_id, crash_message(history.debate_id, error)))
        return found

    def rows(self, history: DebateHistory) -> list[RescoreRow]:
        """One row a setting; equal requests of several settings are replayed once."""
        opened = history.opened
        end = end_of(opened.panel, history.events)
        maker = RowMaker("strict", history.labelled, end.result)
        if end.result is None:
            return [maker.open(setting, end.status, end.why) for setting in self._panels.settings]
        pen = pen_of(history)
        memo: Memo = {}
        rows = []
        for setting, panel in self._panels.under(opened):
            if isinstance(panel, JudgeMissing):
                rows.append(maker.open(setting, RescoreStatus.UNDETERMINED, str(panel), FINAL.id))
                continue
            if not isinstance(panel, Panel):
                rows.append(maker.open(setting, RescoreStatus.NOT_APPLICABLE, str(panel)))
                continue
            try:
                replayer = replay_under(history, panel, pen, memo)
            except UnknownPart as error:
                if error.part not in history.erased:
                    raise
                rows.append(maker.open(setting, RescoreStatus.ERASED, str(error)))
                continue
            if replayer.missing is not None:
                step = replayer.missing.step.id
                asked = any(exchange.step == step for exchange in history.exchanges)
                why = "not asked as this setting asks it" if asked else "not asked"
                if setting.reading is not None:
                    why += _needed(replayer.debate.state.debate.reading, replayer.missing.step)
                rows.append(maker.open(setting, RescoreStatus.UNDETERMINED, f"{step} was {why}", step))
                continue
            rows.append(maker.answered(setting, _result(replayer)))
        return rows


def replay_under(history: DebateHistory, panel: Panel, pen: PartBuffer, memo: Memo | None = None) -> Replayer:
    """The debate replayed under `panel`, as far as its recorded answers go.

    Args:
        memo: shared by replayers of this debate.
    """
    opened = reopen(history, rules_of(history.opened.rules), pen, panel=panel)
    return Replayer(history, opened, pen, strict=True, memo=memo).run()


def _needed(plan: ReadingPlan | None, step: Step) -> str:
    """How a step would read the record under another rule."""
    planned = None if plan is None else plan.of(step.juror_id)
    if planned is None:
        return ": with the whole record"
    if planned.mode == "windows" and not step.round:
        return f": in {pluralize(len(planned.windows), 'part')}, a call each, and one that closes"
    return ": by tools" if planned.mode == "tools" and not step.round else ": with the items that others cite"


def _result(replayer: Replayer) -> Result:
    state = replayer.debate.state
    assert state.judgment is not None
    return Result(state.panel, state.judgment, state.round, state.end_reason)


_ROUND: str = "round_started"
_SKIPPED = types_of("input", "addendum", "decision") - {"seats_not_asked"}
"""They follow from the others, or contain no position: decoding takes most of the time, so it is not done."""

_ENDS = types_of("result", "end", "stop")


class Positions(NamedTuple):
    """`rounds` are phase 1, then each round: the evaluations made there, in speaker order.

    Phase 1 has those before and after the agent's reasoning was shown, where it was. `not_asked`: the seats that
    were not asked.
    """

    opened: DebateOpened
    rounds: tuple[tuple[SeatEvaluation, ...], ...]
    end: RecordedEnd
    not_asked: tuple[str, ...] = ()


def read_positions(history: DebateHistory) -> Positions:
    """The positions in the stream `debate/`."""
    opened = history.opened
    seats = opened.panel.juror_ids
    rounds: list[list[SeatEvaluation]] = [[]]
    ends: list[DebateEvent] = []
    not_asked: tuple[str, ...] = ()
    for index, stored in enumerate(history.stored_events[1:], 1):
        if stored.type in _SKIPPED and stored.schema <= SCHEMAS[stored.type]:
            if stored.type == _ROUND:
                rounds.append([])
            continue
        event = history.events[index]
        # By type: to ask for the class costs more than to make the view.
        if event.type == "statement_made":
            view = SeatEvaluation(event.round, event.juror_id, event.statement.evaluation, event.peer_text)
        elif event.type == "juror_evaluated":
            again = event.reasoning is True
            view = SeatEvaluation(0, event.juror_id, event.evaluation, event.peer_text, again)
        elif event.type in _ENDS:
            ends.append(event)
            continue
        elif event.type == "seats_not_asked":
            not_asked = event.juror_ids
            continue
        else:
            raise _misplaced(history, stored.event_id)
        if view.round != len(rounds) - 1 or view.juror_id not in seats:
            raise _misplaced(history, stored.event_id)
        rounds[-1].append(view)
    return Positions(history.labelled, tuple(map(tuple, rounds)), end_of(opened.panel, ends), not_asked)


def _misplaced(history: DebateHistory, event_id: str) -> RecordDamaged:
    debate_id = history.debate_id
    return RecordDamaged(f"debate {debate_id}: the event {event_id} is misplaced; see jury verify {debate_id}")


def assumed(positions: Positions, setting: Setting, panel: Panel, new: Result) -> str:
    """The assumptions of the new result, in words; "" where it follows from the record.

    Phase 1 and each round are the same under fewer rounds, another threshold or another counting method. Phase 1 is the
    same without a seat too, as no juror is shown the others there, and so are its first votes without the agent's
    reasoning, which the seats were shown later. What seats would have said that were not asked, as
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
    if panel.reasoning != positions.opened.panel.reasoning and (judged or new.total_rounds):
        shown = " and ".join(["the discussion"] * bool(new.total_rounds) + ["the final judge"] * judged)
        yield f"the first votes are as recorded; {shown} would be the same without the agent's reasoning"
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
