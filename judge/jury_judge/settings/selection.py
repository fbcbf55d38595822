"""Which debates of a store are worked on."""

from jury_events.conditions import Condition
from jury_judge.errors import SettingsRefused
from jury_judge.settings.model import SettingsModel
from jury_replay.selection import DebateSelection


class Selection(SettingsModel):
    """Some debates, those of a run, or all; conditions select among those of a run, or all.

    Attributes:
        debate_ids: these debates.
        run_id: the debates of this run.
        everything: all debates.
        where: conditions on the cases, all of which must be met.
    """

    debate_ids: tuple[str, ...] = ()
    run_id: str | None = None
    everything: bool = False
    where: tuple[Condition, ...] = ()

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        if self.debate_ids and self.where:
            raise SettingsRefused("{where} selects among the debates of a run, or all: name no debates with it")
        named = [bool(self.debate_ids), self.run_id is not None, self.everything].count(True)
        if named > 1 or not (named or self.where):
            raise SettingsRefused(
                "name debates, or a run with {run_id} ID, or {everything}, or select with {where} COND"
            )

    @property
    def debates(self) -> DebateSelection:
        """The debates, each once."""
        return DebateSelection(tuple(dict.fromkeys(self.debate_ids)) or None, self.run_id, self.where)
