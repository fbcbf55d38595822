"""Comparisons as plain data: for `jury compare --json`, and over HTTP."""

from collections.abc import Iterable
from typing import Any

from jury_debate.recorded_panel import PanelDifference
from jury_judge.comparisons.comparison import DebateComparison
from jury_judge.comparisons.run_comparison import Flip, RunComparison, RunSide
from jury_judge.stores.chosen_scale import ChosenScale


def debates_object(compared: DebateComparison) -> dict[str, Any]:
    """Two debates, ready for JSON; what has not happened is null."""
    return {
        "kind": "debates",
        "a": compared.a._asdict(),
        "b": compared.b._asdict(),
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
    flips: Iterable[tuple[Flip, bool | None]],
    chosen: ChosenScale,
) -> dict[str, Any]:
    """Two runs, ready for JSON.

    Args:
        compared: the runs.
        panel: what their panels differ in; None where that cannot be read.
        flips: those that are listed, each with whether both judged the same case (None: its text was erased).
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
            {"case_id": flip.case_id, "a": flip.a._asdict(), "b": flip.b._asdict(), "same_case": same}
            for flip, same in flips
        ],
    }


def _side(side: RunSide) -> dict[str, Any]:
    found = {**vars(side), "ended_as": dict(side.ended_as)}
    del found["labels_of"]
    return found


def _differences(panel: Iterable[PanelDifference]) -> list[dict[str, Any]]:
    return [{"field": one.field, "a": one.before, "b": one.now} for one in panel]
