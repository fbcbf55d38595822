"""What is verified of a store."""

from jury_events.conditions import Condition
from jury_judge.errors import SettingsRefused
from jury_judge.settings.model import SettingsModel
from jury_replay.attested import NO_TRUST, Trust
from jury_store.seals.keys import PublicKey


class Verification(SettingsModel):
    """Which debates are verified, and against what.

    Attributes:
        debate_ids: these debates.
        where: the debates whose cases meet all of these conditions.
        everything: the whole store, its positions, schema and seals too.
        deep: also replay every debate.
        keys: whose signatures under seals count; the whole store only.
        checkpoints: signed notes over this log that were kept elsewhere; they imply the whole store.
        trust: witnesses and time-stamping authorities; they imply the whole store.
        processes: how many check debates; None: one a core where that is faster.
    """

    debate_ids: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    everything: bool = False
    deep: bool = False
    keys: tuple[PublicKey, ...] = ()
    checkpoints: tuple[bytes, ...] = ()
    trust: Trust = NO_TRUST
    processes: int | None = None

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        if [bool(self.debate_ids), self.whole, bool(self.where)].count(True) != 1:
            raise SettingsRefused("name the debates to check, or {everything}, or select with {where} COND")
        if self.keys and not self.whole:
            raise SettingsRefused("{keys} is for the seals, which are over the whole log: add {everything}")

    @property
    def whole(self) -> bool:
        """Whether the whole store is checked."""
        return self.everything or bool(self.checkpoints) or self.trust != NO_TRUST
