"""Which debates of a store are worked on, and how they are listed, shown, verified, rescored and erased."""

import math
from collections.abc import Callable, Mapping
from typing import Any, get_args

from jury_events.conditions import Condition
from jury_events.debate_status import DebateStatus
from jury_events.ladder import MOST_STAGES
from jury_events.nearest import did_you_mean
from jury_events.text import visible_line
from jury_events.verdict import Verdict
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.settings.model import SettingsModel
from jury_replay.attested import NO_TRUST, Trust
from jury_replay.rescoring.settings import Grid, Mode
from jury_replay.selection import DebateSelection
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter
from jury_store.list_order import NEWEST, SortOrder
from jury_store.seals.keys import PublicKey


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


_MOST_COST = 1e12
_MOST_SEARCHED = 200
"""Characters of a search."""


def _one_of(*values: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in values:
            raise ValueError(f"must be one of {', '.join(values)}")
        return text

    return read


def _dollars(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found <= _MOST_COST:
        raise ValueError(f"must be dollars, from 0 to {_MOST_COST:g}")
    return found


def _searched(text: str) -> str:
    sought = text.strip()
    if not sought or len(sought) > _MOST_SEARCHED or not sought.isprintable():
        raise ValueError(
            f"must be 1 to {_MOST_SEARCHED} printable characters: a word that jurors wrote, a piece of an id"
        )
    return sought


def _stage(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_STAGES:
        raise ValueError(f"must be the number of a stage, from 1 to {MOST_STAGES}")
    return int(text)


_VERDICT = _one_of(*(verdict.value for verdict in Verdict))

_READ: dict[str, Callable[[str], Any]] = {
    "search": _searched,
    "status": _one_of(*get_args(DebateStatus)),
    "verdict": _VERDICT,
    "disposition": _VERDICT,
    "reviewed": lambda text: _one_of("yes", "no")(text) == "yes",
    "model": str,
    "quorum": lambda text: _one_of("met", "lost")(text) == "met",
    "partly-read": lambda text: _one_of("yes", "no")(text) == "yes",
    "split": lambda text: _one_of("yes", "no")(text) == "yes",
    "min-cost": _dollars,
    "max-cost": _dollars,
    "stage": _stage,
}
FILTERS = tuple(_READ)
"""Their names: those of the options of `jury list`."""


def debate_filter(filters: Mapping[str, str], where: tuple[Condition, ...] = ()) -> DebateFilter:
    """The filter of these pairs and conditions.

    Raises:
        SettingsRefused: there is no such filter, or it cannot have that value.
    """
    chosen: dict[str, Any] = {}
    for name, text in filters.items():
        shown = escaped(f"{visible_line(name, 60)}={visible_line(text, 60)}")
        if name not in _READ:
            raise SettingsRefused(
                f"{{filters}} {shown}: there is no such filter{escaped(did_you_mean(name, FILTERS))}; the filters are "
                f"{', '.join(FILTERS)}"
            )
        try:
            chosen[name.replace("-", "_")] = _READ[name](text)
        except ValueError as error:
            raise SettingsRefused(f"{{filters}} {shown}: {error}") from error
    return DebateFilter(where=where, **chosen)


class ListSettings(SettingsModel):
    """Debates, one row each, unless their groups, their totals or the runs are asked for.

    Attributes:
        chosen: which debates.
        sorted_by: the order of the rows.
        group_by: count the debates by this field of their cases.
        totals: add up the debates.
        of_runs: the runs of the store; no debate is chosen.
        columns: the columns of a table, parted by commas; None: a line a debate.
        why: say of each debate why its verdict came.
        limit: at most so many rows.
    """

    chosen: DebateFilter = EVERY_DEBATE
    sorted_by: SortOrder = NEWEST
    group_by: str | None = None
    totals: bool = False
    of_runs: bool = False
    columns: str | None = None
    why: bool = False
    limit: int | None = None

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        if self.of_runs and (self.chosen != EVERY_DEBATE or self.group_by or self.totals or self.columns):
            raise SettingsRefused(
                "{of_runs} lists all runs: it goes with {limit} and {as_json}, and with no other choice"
            )
        if (self.group_by or self.totals) and (self.limit or self.columns):
            which = "{group_by} counts" if self.group_by else "{totals} adds up"
            raise SettingsRefused(
                which + " all debates: leave {limit} and {columns} out, or choose with {run_id} and {where}"
            )
        if self.why and (self.of_runs or self.group_by or self.totals or self.columns):
            raise SettingsRefused("{why} is of debates, a line each: it goes with none of the other forms")
        if self.group_by and self.totals:
            raise SettingsRefused("give {group_by} or {totals}, not both")


class ShowSettings(SettingsModel):
    """The whole debate as people read it, unless its events, its prompts or its evidence are asked for.

    Attributes:
        as_events: the events, one line each.
        as_prompts: what models were sent, call by call.
        as_evidence: what the jurors quote, seat by seat, and the decisive items.
        full: the case is not shortened.
        step: prompts of this step only.
        marked: prompts with their marks, exactly as they were sent.
    """

    as_events: bool = False
    as_prompts: bool = False
    as_evidence: bool = False
    full: bool = False
    step: str | None = None
    marked: bool = False

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        if self.as_events and self.full:
            raise SettingsRefused("{as_events} shows no case; {full} goes without it")
        if self.as_prompts and (self.as_events or self.full):
            raise SettingsRefused("{as_prompts} shows what was sent; {as_events} and {full} go without it")
        if self.as_evidence and (self.as_events or self.as_prompts or self.full):
            raise SettingsRefused("{as_evidence} shows quotations; {as_events}, {as_prompts} and {full} go without it")
        if (self.step is not None or self.marked) and not self.as_prompts:
            raise SettingsRefused("{step} and {marked} go with {as_prompts}")


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


class ErasureScope(SettingsModel):
    """Whose texts are erased: one of these.

    Attributes:
        debate_id: all texts of this debate.
        exchange: a debate, and the id of the model call of which the texts are erased.
        review: a debate, and the number of the review whose reason is erased, or of its withdrawal.
        case_id: all texts of all debates over this case, of all runs.
    """

    debate_id: str | None = None
    exchange: tuple[str, str] | None = None
    review: tuple[str, int] | None = None
    case_id: str | None = None

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
    """An erasure that is ordered.

    Attributes:
        by: who erases; recorded for ever.
        reason: why, in one line without personal data; recorded for ever.
    """

    by: str | None = None
    reason: str | None = None

    def model_post_init(self, context: object) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if not (self.by and self.reason):
            raise SettingsRefused("say {by} WHO and {reason} WHY: both are recorded")
