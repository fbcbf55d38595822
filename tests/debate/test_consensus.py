"""Document 004 §4.2 and the design's reading of it, as a truth table written out by hand."""

from fractions import Fraction

from jury_debate.rules_1.checks import check_consensus, meets_threshold
from jury_events import ConsensusStatus, Verdict
from support.debate_harness import a_panel
from support.each_row import each_row

P, R, F = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
UNANIMOUS, MAJORITY, SPLIT = ConsensusStatus

TABLE = [
    # positions, seats, status, largest, majority position, reached at 2.0, 1.0, 0.67, 0.5 (phase 1)
    ([P, P, P], 3, UNANIMOUS, 3, P, (False, True, True, True)),
    ([P, P, F], 3, MAJORITY, 2, P, (False, False, True, True)),
    ([P, R, F], 3, SPLIT, 1, None, (False, False, False, False)),
    ([P, P], 3, MAJORITY, 2, P, (False, False, True, True)),
    ([P], 3, SPLIT, 1, None, (False, False, False, False)),
    ([], 3, SPLIT, 0, None, (False, False, False, False)),
    ([F], 1, UNANIMOUS, 1, F, (False, True, True, True)),
    ([P, P, F, F], 4, SPLIT, 2, None, (False, False, False, False)),
    ([P, P, P, F], 4, MAJORITY, 3, P, (False, False, True, True)),
    ([R, R, R], 5, MAJORITY, 3, R, (False, False, False, True)),
    ([P, F], 2, SPLIT, 1, None, (False, False, False, False)),
]


@each_row(("positions", "seats", "status", "largest", "majority", "reached"), TABLE)
def test_phase_1_is_reached_by_the_threshold_alone(positions, seats, status, largest, majority, reached) -> None:
    for threshold, expected in zip((2.0, 1.0, 0.67, 0.5), reached, strict=True):
        rules = a_panel(discussion={"threshold": threshold}).discussion
        check = check_consensus(positions, seats, rules, round_number=0)

        assert (status, largest, seats, majority) == (
            check.status, check.largest, check.seats, check.majority_position
        )  # fmt: skip
        assert expected == check.reached


@each_row(("unanimity_ends", "expected"), [(True, True), (False, False)])
def test_a_unanimous_round_is_reached_unless_unanimity_is_off(unanimity_ends, expected) -> None:
    rules = a_panel(discussion={"threshold": 2.0, "unanimity_ends": unanimity_ends}).discussion

    assert expected == check_consensus([P, P, P], 3, rules, round_number=1).reached
    assert not check_consensus([P, P, F], 3, rules, round_number=1).reached


def test_a_failed_juror_never_makes_a_panel_look_unanimous() -> None:
    check = check_consensus([P, P], 3, a_panel().discussion, round_number=1)

    assert check.status is MAJORITY
    assert not check.reached


@each_row(
    ("agreement", "threshold", "expected"),
    [
        (Fraction(2, 3), 0.67, True),
        (Fraction(2, 3), 0.66, True),
        (Fraction(2, 3), 0.68, False),
        (Fraction(2, 3), 0.6700001, False),
        (Fraction(199, 200), 1.0, False),
        (Fraction(199, 200), 0.995, True),
        (Fraction(1), 1.0, True),
        (Fraction(1), 1.0000001, False),
        (Fraction(1), 2.0, False),
        (Fraction(3, 5), 0.6, True),
        (Fraction(7, 10), 0.7, True),
    ],
)
def test_thresholds_are_compared_in_exact_fractions(agreement, threshold, expected) -> None:
    assert expected == meets_threshold(agreement, threshold)
