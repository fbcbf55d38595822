"""What is rescored."""

from jury_judge.settings.model import SettingsModel
from jury_judge.settings.selection import Selection
from jury_replay.rescoring.settings import Grid, Mode


class Rescoring(SettingsModel):
    """Which debates are rescored, and how.

    Attributes:
        selection: the debates.
        grid: the settings under which results are computed, as of `replays.grids`.
        mode: `strict`, or `recount`, which keeps every recorded position.
        processes: how many work; None: one a core where that is faster.
    """

    selection: Selection
    grid: Grid
    mode: Mode = "strict"
    processes: int | None = None

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together.

        Raises:
            SettingRefused: the mode cannot answer a setting.
        """
        self.grid.check(self.mode)
