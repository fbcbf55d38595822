"""Rescoring: recorded debates under other settings, each read once; nothing is written to them.

Strict: a recorded answer counts only where the same request was made (messages, offered tools, model, call settings).
The first step without such an answer is named, and nothing after it is determined.
"""

from collections.abc import Iterator, Mapping, Sequence

from jury_debate.errors import DebateError
from jury_debate.rules_registry import rules_of
from jury_events.debate_history import DebateHistory
from jury_events.errors import DebateNotFound, EventError, UnknownPart
from jury_events.ids import FINAL, Step
from jury_events.panel import Panel
from jury_events.parts import PartBuffer
from jury_events.reading import ReadingPlan
from jury_events.text import pluralize
from jury_replay.errors import JudgeMissing, ReplayError
from jury_replay.replayer import Memo, Replayer, crash_message, pen_of, reopen
from jury_replay.rescoring.recount import RecountRescoring
from jury_replay.rescoring.rows import RescoreProblem, RescoreRow, RescoreStatus, Result, RowMaker, end_of
from jury_replay.rescoring.settings import Grid, Mode, Panels
from jury_replay.selection import CHUNK, DebateSelection, spread
from jury_store.event_store import EventStore


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
        maker = RowMaker("strict", opened, end.result)
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
