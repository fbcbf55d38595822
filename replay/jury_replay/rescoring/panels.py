"""The recorded panels of a log under the settings of a grid; those of one run are equal, and worked out once."""

from collections.abc import Sequence

from jury_events.debate_events import DebateOpened
from jury_events.panel import Panel
from jury_replay.errors import JudgeMissing, NotApplicable
from jury_replay.rescoring.settings import Grid, Setting

_KEPT = 64
"""Different panels whose answers are remembered."""

Applied = Panel | NotApplicable | JudgeMissing
"""A panel under a setting, or why there is none."""


class Panels:
    """Applies every setting of a grid to panels."""

    def __init__(self, grid: Grid) -> None:
        self.settings = grid.settings
        self._known: dict[tuple[int, str], list[tuple[Setting, Applied]]] = {}

    def under(self, opened: DebateOpened) -> Sequence[tuple[Setting, Applied]]:
        """The panel of a debate under each setting, in the order of the grid."""
        key = (opened.prompts, opened.panel.model_dump_json())
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            found = self._known[key] = [(setting, _applied(setting, opened)) for setting in self.settings]
        return found


def _applied(setting: Setting, opened: DebateOpened) -> Applied:
    try:
        return setting.apply(opened.panel)
    except (NotApplicable, JudgeMissing) as error:
        return error
