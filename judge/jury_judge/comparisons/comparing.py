"""Two debates, or two runs, of a store side by side."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, get_args

from jury_debate.recorded_panel import PanelDifference
from jury_events.errors import EventError
from jury_events.ids import debate_stream
from jury_events.text import visible_line
from jury_events.verdict import Verdict
from jury_events.verdict_scale import VerdictScale
from jury_judge.comparisons.comparison import DebateComparison, compare_debates
from jury_judge.comparisons.run_comparison import Flip, RunComparison, RunSide, compare_runs, run_panel_differences
from jury_judge.errors import NotComparable
from jury_judge.settings.statistics import Count
from jury_judge.store_access.counted_panels import ChosenScale, chosen_scale, effort_lines
from jury_judge.store_access.debates import panel_of, rows_of_run, same_case, verdict_reasons
from jury_replay.intact import intact_history
from jury_store.event_store import EventStore
from jury_views.debate_fold import role_of
from jury_views.reasons import VerdictReason, reason_data

if TYPE_CHECKING:
    from jury_analysis.paired import Paired


Kind = Literal["debates", "runs"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def kind_of(store: EventStore, a: str, b: str, wanted: Kind | None = None) -> Kind:
    """Whether both are debates or runs."""
    kinds: list[set[Kind]] = []
    for one in (a, b):
        found: set[Kind] = {name for name, there in zip(KINDS, _there(store, one), strict=True) if there}
        if not found:
            raise NotComparable(
                f"{visible_line(one)!r} is neither a debate nor a run of this store; `jury list` shows its debates, "
                "`jury list --runs` its runs"
            )
        if wanted is not None and wanted not in found:
            raise NotComparable(f"{one} is no {wanted.removesuffix('s')}, but a {found.pop().removesuffix('s')}")
        kinds.append(found if wanted is None else {wanted})
    both = kinds[0] & kinds[1]
    if not both:
        of_a, of_b = (found.pop().removesuffix("s") for found in kinds)
        raise NotComparable(f"{a} is a {of_a} and {b} is a {of_b}; name two debates, or two runs")
    if len(both) > 1:
        raise NotComparable(f"{a} and {b} are debates and runs; say which with --kind debates or --kind runs")
    return both.pop()


def _there(store: EventStore, name: str) -> tuple[bool, bool]:
    # No store can be asked for an id with such a character, and none has one.
    if not name.isprintable():
        return False, False
    return bool(store.heads([debate_stream(name)])), bool(store.debates(run_id=name, limit=1))


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
        flips: of two runs, at most so many flips are listed; None: all.
        count: of two runs, what is counted under a scale of the panels' own; None: labels, where both are of one scale.
        strict: of two runs, a stored opening that cannot be decoded is an error.
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


def debates_object(compared: DebateComparison) -> dict[str, Any]:
    """Two debates, ready for JSON; what has not happened is null."""
    return {
        "kind": "debates",
        "a": {**compared.a._asdict(), **reason_data(compared.a.reason)},
        "b": {**compared.b._asdict(), **reason_data(compared.b.reason)},
        "same_case": compared.same_case,
        "panel_differences": _differences(compared.panel),
        "positions": [
            {
                **row.step._asdict(),
                "differs": row.differs,
                "a": row.a._asdict() if row.a else None,
                "b": row.b._asdict() if row.b else None,
            }
            for row in compared.rows
        ],
    }


def runs_object(
    compared: RunComparison,
    panel: Iterable[PanelDifference] | None,
    flips: Iterable[ListedFlip],
    chosen: ChosenScale,
) -> dict[str, Any]:
    """Two runs, ready for JSON.

    Args:
        panel: what their panels differ in; None where that cannot be read.
        chosen: what is counted of which scale of the panels' own.
    """
    a, b = (_side(side) for side in (compared.a, compared.b))
    return {
        "kind": "runs",
        "scale": chosen.to_dict(),
        "a": a,
        "b": b,
        "panel_differences": None if panel is None else _differences(panel),
        "verdicts": [{"a": old, "b": new, "cases": count} for (old, new), count in sorted(compared.table.items())],
        "judged_by_both": compared.judged,
        "agreed": compared.agreed,
        "agreement": compared.agreement,
        "mean_absolute_score_difference": compared.score_difference,
        "without_evaluation": compared.without_evaluation,
        "only_in_a": compared.only_in_a,
        "only_in_b": compared.only_in_b,
        "flips": [
            {"case_id": flip.case_id, **_ends(flip, reasons), "same_case": same} for flip, same, reasons in flips
        ],
    }


def _ends(flip: Flip, reasons: tuple[VerdictReason | None, VerdictReason | None]) -> dict[str, Any]:
    ends = zip("ab", (flip.a, flip.b), reasons, strict=True)
    return {name: {**end._asdict(), **reason_data(reason)} for name, end, reason in ends}


def _side(side: RunSide) -> dict[str, Any]:
    found = {**vars(side), "ended_as": dict(side.ended_as)}
    del found["labels_of"]
    return found


def _differences(panel: Iterable[PanelDifference]) -> list[dict[str, Any]]:
    return [{"field": one.field, "a": one.before, "b": one.now} for one in panel]
