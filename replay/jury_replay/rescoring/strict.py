"""Rescoring by holding debates again under changed panels, from answers that were really given to the same requests.

An answer counts only where the very request was made (the messages, the tools offered, the model, the call settings);
the first step for which there is none is named, and nothing is said of what would have followed.
"""

from collections.abc import Sequence

from jury_debate.errors import DebateError
from jury_debate.rules_registry import rules_of
from jury_events.errors import EventError, UnknownPart
from jury_events.ids import FINAL
from jury_events.panel import Panel
from jury_events.parts import PartBuffer
from jury_replay.errors import JudgeMissing, ReplayError
from jury_replay.recorded import RecordedDebate, broken, opened_again, read_recorded
from jury_replay.rescoring.panels import Panels
from jury_replay.rescoring.results import Result, RowStatus, ended
from jury_replay.rescoring.rows import Problem, Row, RowMaker
from jury_replay.rescoring.settings import Grid
from jury_replay.retelling import Memo, Retelling
from jury_store.event_store import EventStore


class Strict:
    """A grid of settings over debates, both their streams and their texts."""

    def __init__(self, grid: Grid) -> None:
        self._panels = Panels(grid)

    def __call__(self, store: EventStore, debate_ids: Sequence[str]) -> list[list[Row] | Problem]:
        """The rows of each debate, a row a setting, or why there are none."""
        found: list[list[Row] | Problem] = []
        for record in store.records(debate_ids):
            try:
                found.append(self.rows(read_recorded(record)))
            except (EventError, DebateError, ReplayError) as error:
                found.append(Problem(record.debate_id, str(error)))
            except Exception as error:  # noqa: BLE001  (one debate that breaks the rules keeps no other from its rows)
                found.append(Problem(record.debate_id, broken(record.debate_id, error)))
        return found

    def rows(self, recorded: RecordedDebate) -> list[Row]:
        """One row a setting; what several settings ask alike is answered once.

        Raises:
            DebateError: the rules or prompts are not known here, or the record breaks their laws.
            UnknownPart: a text is missing, and no erasure of it is recorded.
        """
        end = ended(recorded.opened.panel, recorded.events)
        maker = RowMaker("strict", recorded.opened, end.result)
        if end.result is None:
            return [maker.open(setting, end.status, end.why) for setting in self._panels.settings]
        pen = recorded.pen()
        memo: Memo = {}
        rows = []
        for setting, panel in self._panels.under(recorded.opened.panel):
            if isinstance(panel, JudgeMissing):
                rows.append(maker.open(setting, RowStatus.UNDETERMINED, str(panel), FINAL.id))
                continue
            if not isinstance(panel, Panel):
                rows.append(maker.open(setting, RowStatus.NOT_APPLICABLE, str(panel)))
                continue
            try:
                retelling = held_under(recorded, panel, pen, memo)
            except UnknownPart as error:
                if error.part not in recorded.erased:
                    raise
                rows.append(maker.open(setting, RowStatus.ERASED, str(error)))
                continue
            if retelling.missing is not None:
                why = "not asked as this setting asks it" if _was_asked(recorded, retelling) else "not asked"
                step = retelling.missing.step.id
                rows.append(maker.open(setting, RowStatus.UNDETERMINED, f"{step} was {why}", step))
                continue
            rows.append(maker.answered(setting, _held(retelling)))
        return rows


def held_under(recorded: RecordedDebate, panel: Panel, pen: PartBuffer, memo: Memo | None = None) -> Retelling:
    """The debate held again under `panel`, as far as its recorded answers go.

    Args:
        recorded: the debate.
        panel: its own, changed.
        pen: knows the debate's texts.
        memo: shared by tellings of this debate.

    Raises:
        UnknownPart: a text that is needed is not there.
        DebateError: the rules or prompts are not known here, or a recorded input cannot have happened.
    """
    opened = opened_again(recorded, rules_of(recorded.opened.rules), pen, panel=panel)
    return Retelling(recorded, opened, pen, only_if_asked=True, memo=memo).hold()


def _held(retelling: Retelling) -> Result:
    state = retelling.debate.state
    assert state.judgment is not None
    return Result(state.panel, state.judgment, state.round, state.end_reason)


def _was_asked(recorded: RecordedDebate, retelling: Retelling) -> bool:
    assert retelling.missing is not None
    return any(exchange.step == retelling.missing.step.id for exchange in recorded.exchanges.values())
