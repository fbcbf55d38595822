"""What a person reads of an acceptance, in both languages."""

from typing import Any

from jury_events import Acceptance, Verdict
from jury_views import LABELS
from jury_views.acceptance_line import acceptance_line
from support.refusals import RefusalTables

FAILED, OPEN = {"verdict": Verdict.UNSAFE_FAIL}, {"verdict": Verdict.NEEDS_REVIEW}
ACCEPTANCES: dict[str, dict[str, Any]] = {
    "accepted": {},
    "below the threshold": {"signal": "weights", "threshold": 0.75, "accepted": False},
    "another verdict than the calibrated one": {"signal": "dawid_skene", "threshold": 0.75, **FAILED},
    "verdict and decisive item": {"signal": "votes+step", "probability": 0.833333333, **FAILED},
    "needs review already": {"probability": None, "accepted": False, **OPEN},
    "a calibration that accepts none": {"probability": None, "accepted": False},
}


def said(language: Any, **fields: Any) -> str:
    given = {"signal": "share", "verdict": Verdict.SAFE_PASS, "probability": 0.666666667, "threshold": 0.5}
    return acceptance_line(Acceptance(**{**given, "accepted": True, **fields}), LABELS[language])


def test_an_acceptance_is_said_in_one_sentence(printed: RefusalTables) -> None:
    printed.compare(
        "acceptances",
        {name: f"{said('en', **fields)}\n{said('ja', **fields)}" for name, fields in ACCEPTANCES.items()},
    )
