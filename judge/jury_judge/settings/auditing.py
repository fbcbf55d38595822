"""How recorded debates are verified, rescored and erased."""

from typing import Annotated

from jury_judge.errors import SettingsRefused
from jury_judge.settings.debates import WHERE, Processes, Selection
from jury_judge.settings.fields import RecordedConditions
from jury_judge.settings_model import Option, SettingsModel
from jury_replay.rescoring.settings import Grid, Mode
from jury_replay.sealed import NO_TRUST, Trust
from jury_store.seals.keys import PublicKey


class Verification(SettingsModel):
    """Which debates are verified, and against what.

    `keys` are whose signatures under seals count, of the whole store only; `checkpoints` signed notes over this log
    that were kept elsewhere, and `trust` witnesses and time-stamping authorities: both imply the whole store.
    """

    debate_ids: tuple[str, ...] = ()
    everything: Annotated[bool, Option(help="Check the whole store, its positions and seals too.", name="--all")] = (
        False
    )
    where: Annotated[RecordedConditions, WHERE] = ()
    deep: Annotated[
        bool,
        Option(
            help="Replay every debate, too: finds what was computed anew and does not follow from what the models said."
        ),
    ] = False
    keys: tuple[PublicKey, ...] = ()
    checkpoints: tuple[bytes, ...] = ()
    trust: Trust = NO_TRUST
    processes: Processes = None

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


class Rescoring(SettingsModel):
    """Which debates are rescored, and how: the settings under which results are computed, as of `replays.grids`."""

    selection: Selection
    grid: Grid
    mode: Mode = "strict"
    processes: Processes = None

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together.

        Raises:
            SettingRefused: the mode cannot answer a setting.
        """
        self.grid.check(self.mode)


class ErasureScope(SettingsModel):
    """Whose texts are erased: one of these.

    `exchange` is a debate, and the id of the model call of which the texts are erased; `review` a debate, and the
    number of the review whose reason is erased, or of its withdrawal; `case_id` all debates over this case, of
    all runs.
    """

    debate_id: str | None = None
    exchange: tuple[str, str] | None = None
    review: tuple[str, int] | None = None
    case_id: Annotated[
        str | None, Option(help="All debates over this case, of all runs.", name="--case", metavar="ID")
    ] = None

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        named = [bool(self.debate_id), self.exchange is not None, self.review is not None, self.case_id is not None]
        if named.count(True) != 1:
            raise SettingsRefused(
                "name a debate, or {exchange} DEBATE EXCHANGE, or {review} DEBATE NUMBER, or {case_id} ID"
            )

    @property
    def one_debate(self) -> str | None:
        """The debate; None: all over the case."""
        if self.exchange is not None:
            return self.exchange[0]
        return self.debate_id if self.review is None else self.review[0]

    @property
    def recorded(self) -> str:
        """The scope as the event of an erasure names it."""
        if self.exchange is not None:
            return self.exchange[1]
        if self.review is not None:
            return f"review/{self.review[1]}"
        return "debate" if self.case_id is None else "case"


class Erasure(ErasureScope):
    """An erasure that is ordered."""

    by: Annotated[str | None, Option(help="Who erases; recorded for ever.", metavar="WHO")] = None
    reason: Annotated[
        str | None, Option(help="Why, in one line without personal data; recorded for ever.", metavar="WHY")
    ] = None

    def model_post_init(self, context: object) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if not (self.by and self.reason):
            raise SettingsRefused("say {by} WHO and {reason} WHY: both are recorded")
