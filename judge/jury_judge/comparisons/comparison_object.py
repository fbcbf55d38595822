"""Comparisons as plain data: for `jury compare --json`, and over HTTP."""

from collections.abc import Iterable
from typing import Any

from jury_debate.recorded_panel import PanelDifference
from jury_judge.comparisons.comparing import ListedFlip
from jury_judge.comparisons.comparison import DebateComparison
from jury_judge.comparisons.run_comparison import Flip, RunComparison, RunSide
from jury_judge.stores.chosen_scale import ChosenScale
from jury_views.reasons import VerdictReason, reason_data


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
                "juror_id": row.juror_id,
                "round": row.round,
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
        compared: the runs.
        panel: what their panels differ in; None where that cannot be read.
        flips: those that are listed.
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
