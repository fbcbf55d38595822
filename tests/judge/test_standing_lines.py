"""What readers are told of a pass: what capped it, and what it stands by that silence does not cap."""

import pytest

from jury_events.outcome import CallOutcome
from jury_views.debate_labels import DebateLabels
from jury_views.standing_lines import cap_lines, exception_lines
from support.debate_harness import Answer, DebateHarness, Says, a_panel, by_round

WORDS = DebateLabels("en")
PASSES, FAILS, SILENT = Says("safe_pass", 90.0), Says("unsafe_fail", 10.0), CallOutcome.BAD_REQUEST
CAPPED = (
    "1 of 4 seats gave no evaluation of their own; with these counted as needs_review the votes do not pass: safe_pass "
    "became needs_review (capped)"
)
ROUND = {"max_rounds": 1, "always_discuss": True, "end_early": False}
JUDGE = {"method": "final_judge", "judge": {"model": "simulated/x"}}


@pytest.mark.parametrize(
    ("answers", "final", "caps", "exceptions"),
    [
        ([[PASSES]] * 3, {}, [], []),
        ([[PASSES], [SILENT], [SILENT]], {}, ["quorum lost: safe_pass became needs_review (capped)"], []),
        (
            [[PASSES], [PASSES], [FAILS], [SILENT]],
            {},
            [CAPPED],
            [],
        ),
        (
            [[PASSES], [PASSES, SILENT], [FAILS]],
            {},
            [],
            ["earlier evaluations of seats that gave no answer later, which count as any other vote: 1"],
        ),
        (
            [[PASSES], [FAILS], [SILENT]],
            JUDGE,
            [],
            ["1 of 3 seats gave no evaluation of their own; the final judge's verdict is not capped for that"],
        ),
        ([[FAILS], [FAILS, SILENT], [SILENT]], {}, [], []),
    ],
)
def test_a_reader_is_told_what_capped_a_pass_and_what_did_not(
    answers: list[list[Answer]], final: dict[str, object], caps: list[str], exceptions: list[str]
) -> None:
    table = {f"j{number}": list(each) for number, each in enumerate(answers)}
    panel = a_panel(*table, discussion=ROUND, final={"method": "majority_vote", **final})
    judgment = DebateHarness(panel, by_round(table, Says("safe_pass", 80.0))).run().debate.state.judgment

    assert judgment is not None
    assert (caps, exceptions) == (cap_lines(judgment, WORDS), exception_lines(judgment, WORDS))
