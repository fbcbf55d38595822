"""What a person reads of an acceptance, in both languages."""

from typing import Any

from jury_events import Acceptance, JudgmentRendered, Language, Verdict, debate_stream
from jury_views import event_lines
from support.debate_builder import DebateBuilder
from support.pages import stored
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


def said(language: Language, **fields: Any) -> str:
    """The line of the judgment among the events of a debate."""
    given = {"signal": "share", "verdict": Verdict.SAFE_PASS, "probability": 0.666666667, "threshold": 0.5}
    built = DebateBuilder().phase_1().judged()
    *events, rendered, completed = built.events
    assert isinstance(rendered, JudgmentRendered)
    judgment = rendered.judgment.changed(acceptance=Acceptance(**{**given, "accepted": True, **fields}))
    built.events = [*events, rendered.changed(judgment=judgment), completed]
    stream = stored(built).read_stream(debate_stream(built.opened.debate_id))
    return event_lines(stream[-2:-1], language=language)[0].said


def test_an_acceptance_is_said_in_one_sentence(printed: RefusalTables) -> None:
    printed.compare(
        "acceptances",
        {name: f"{said('en', **fields)}\n{said('ja', **fields)}" for name, fields in ACCEPTANCES.items()},
    )
