"""Two debates, or two runs, of a store side by side."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from jury_debate.recorded_panel import PanelDifference
from jury_events.errors import EventError
from jury_events.verdict import Verdict
from jury_events.verdict_scale import VerdictScale
from jury_judge.comparisons.comparison import DebateComparison, compare_debates
from jury_judge.comparisons.comparison_target import Kind, kind_of
from jury_judge.comparisons.run_comparison import Flip, RunComparison, compare_runs, run_panel_differences
from jury_judge.settings.statistics import Count
from jury_judge.stores.chosen_scale import ChosenScale, chosen_scale
from jury_judge.stores.debates import panel_of, rows_of_run, same_case, verdict_reasons
from jury_judge.stores.seat_efforts import effort_lines
from jury_replay.intact import intact_history
from jury_store.event_store import EventStore
from jury_views.debate_fold import role_of
from jury_views.reasons import VerdictReason

if TYPE_CHECKING:
    from jury_analysis.paired import Paired

T = TypeVar("T")

SHOWN = 200
"""Flips, differences and cases of one list."""


class ComparedDebates(NamedTuple):
    """Two debates; `roles` by juror id, of debate A where both have the juror.

    `dispositions` of A and B: the last human verdict, else the jury's; None where no person reviewed either.
    """

    compared: DebateComparison
    roles: dict[str, str]
    dispositions: tuple[Verdict | None, Verdict | None] | None


class ListedFlip(NamedTuple):
    """A flip with why the verdicts of A and B came, None without a verdict; `same_case` as in `DebateComparison`."""

    flip: Flip
    same_case: bool | None
    reasons: tuple[VerdictReason | None, VerdictReason | None]


class ComparedRuns(NamedTuple):
    """Two runs: differences of their panels, listed flips, and the outcomes.

    `panel` is None where the opening of a first debate cannot be decoded; so is whether two cases are the same.
    `efforts` are lines about seats that both have, at different efforts. `chosen` is what is counted of which scale.
    `paired` is the paired table, where it was asked for; None: there is none, and `unpaired` says why.
    """

    compared: RunComparison
    panel: tuple[PanelDifference, ...] | None
    flips: tuple[ListedFlip, ...]
    ends: tuple[str, ...]
    efforts: tuple[str, ...] = ()
    chosen: ChosenScale = ChosenScale()
    paired: "Paired | None" = None
    unpaired: str | None = None


def compared(
    store: EventStore,
    a: str,
    b: str,
    kind: Kind | None = None,
    *,
    flips: int | None = SHOWN,
    count: Count | None = None,
    strict: bool = False,
) -> ComparedDebates | ComparedRuns:
    """Compare two debates or two runs.

    Args:
        store: open for reading.
        a: a debate or a run.
        b: another one.
        kind: what they are, where both kinds fit.
        flips: of two runs, at most so many flips are listed; None: all.
        count: of two runs, what is counted under a scale of the panels' own; None: labels, where both are of one scale.
        strict: of two runs, a stored opening that cannot be decoded is an error.

    Raises:
        NotComparable: an id is unknown, both kinds fit, or the kinds differ.
        SettingError: labels are asked for, and the runs are judged in different scales.
        EventError: a stored body cannot be decoded.
    """
    if kind_of(store, a, b, kind) == "debates":
        return _debates(store, a, b)
    return _runs(store, a, b, flips, count, strict=strict)


def _debates(store: EventStore, a: str, b: str) -> ComparedDebates:
    readings = intact_history(store, a), intact_history(store, b)
    roles: dict[str, str] = {}
    for reading in reversed(readings):
        panel = reading.opened.panel
        roles |= {juror: role_of(panel, juror) for juror in panel.juror_ids}
    both = compare_debates(*readings)
    people = [reading.reviews.verdict for reading in readings]
    ends = (people[0] or both.a.verdict, people[1] or both.b.verdict) if any(people) else None
    return ComparedDebates(both, roles, ends)


def _runs(store: EventStore, a: str, b: str, most: int | None, count: Count | None, *, strict: bool) -> ComparedRuns:
    def read(reading: Callable[..., T], *of: str) -> T | None:
        try:
            return reading(store, *of)
        except EventError:
            if strict:
                raise
            return None

    firsts = [store.debates(run_id=run_id, limit=1)[0].debate_id for run_id in (a, b)]
    chosen = chosen_scale(read(_scales, *firsts) or (), count)
    both = compare_runs(a, rows_of_run(store, a), b, rows_of_run(store, b), chosen.labels_of)
    listed = both.flips[:most]
    same = [read(same_case, flip.a.debate_id, flip.b.debate_id) for flip in listed]
    reasons: dict[str, VerdictReason] = {}
    for start in range(0, len(listed), SHOWN):
        sides = (side for flip in listed[start : start + SHOWN] for side in (flip.a, flip.b))
        reasons |= verdict_reasons(store, [side.debate_id for side in sides])
    flips = [
        ListedFlip(flip, alike, (reasons.get(flip.a.debate_id), reasons.get(flip.b.debate_id)))
        for flip, alike in zip(listed, same, strict=True)
    ]
    panel = read(run_panel_differences, a, b)
    efforts = effort_lines(store, dict(zip("AB", firsts, strict=True)))
    return ComparedRuns(both, panel, tuple(flips), both.ends, tuple(efforts), chosen)


def _scales(store: EventStore, *debates: str) -> list[VerdictScale | None]:
    return [panel_of(store, debate).panel.scale for debate in debates]
