"""When seats agree, and each final method, as tables written out by hand."""

from fractions import Fraction

from jury_debate import CountedVote, banded, count
from jury_debate.rules_1.checks import check_consensus, meets_threshold
from jury_events import Bands, CallOutcome, ConsensusStatus, Decider, FailureReason, Verdict, exact, half_up
from support.debate_harness import SEATS, DebateHarness, Says, a_case, a_panel, by_round
from support.each_row import each_row

P, R, F = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
BANDS = Bands()


def votes_of(*votes: tuple[Verdict, float]) -> list[CountedVote]:
    return [CountedVote(position, score, 1.0, 1.0) for position, score in votes]


@each_row(
    ("method", "votes", "verdict", "mean"),
    [
        # The majority of the votes cast wins with the mean of its scores.
        ("majority_vote", votes_of((P, 90.0), (P, 80.0), (F, 10.0)), P, Fraction(85)),
        ("majority_vote", votes_of((P, 90.0), (R, 50.0), (F, 10.0)), R, Fraction(50)),
        ("majority_vote", votes_of((P, 90.0), (P, 80.0), (F, 10.0), (F, 20.0)), R, Fraction(50)),
        ("majority_vote", votes_of((F, 10.0)), F, Fraction(10)),
        ("majority_vote", votes_of((F, 12.5), (F, 12.5), (F, 13.0), (P, 99.0)), F, Fraction(38, 3)),
        ("majority_vote", votes_of((P, 99.0), (F, 1.0)), R, Fraction(50)),
        # The weighted average weighs by seat and confidence.
        ("weighted_average", [CountedVote(P, 90.0, 1.0, 1.0), CountedVote(F, 30.0, 1.0, 0.5)], P, Fraction(70)),
        ("weighted_average", [CountedVote(P, 90.0, 1.0, 0.5), CountedVote(F, 30.0, 1.0, 0.5)], R, Fraction(60)),
        ("weighted_average", [CountedVote(P, 90.0, 3.0, 0.5), CountedVote(F, 30.0, 1.0, 0.5)], P, Fraction(75)),
        ("weighted_average", [CountedVote(P, 90.0, 1.0, 0.0), CountedVote(F, 30.0, 3.0, 0.0)], R, Fraction(45)),
        ("weighted_average", [CountedVote(P, 90.0, 1.0, 0.0), CountedVote(F, 30.0, 1.0, 0.1)], F, Fraction(30)),
        # The median resists one broken juror.
        ("median", votes_of((F, 0.0), (P, 71.0), (P, 100.0)), P, Fraction(71)),
        ("median", votes_of((F, 0.0), (F, 39.0), (P, 41.0), (P, 100.0)), R, Fraction(40)),
        ("median", votes_of((F, 39.9)), F, exact(39.9)),
    ],
)
def test_each_method_counts_as_its_table_says(method, votes, verdict, mean) -> None:
    assert (verdict, mean) == count(method, votes, BANDS)


@each_row(("score", "verdict"), [(70.0, P), (69.99, R), (40.0, R), (39.99, F), (0.0, F), (100.0, P)])
def test_bands_apply_before_rounding(score, verdict) -> None:
    assert verdict == banded(exact(score), BANDS)


@each_row(("number", "rounded"), [(62.5, 63), (62.4, 62), (0.5, 1), (99.5, 100), (0.0, 0), (1.5, 2)])
def test_scores_are_rounded_half_up(number, rounded) -> None:
    assert rounded == half_up(exact(number))


NONE, BLOCKED = CallOutcome.BAD_REQUEST, CallOutcome.BLOCKED
PASSES, FAILS = Says("safe_pass", 90.0), Says("unsafe_fail", 9.0)


def judged(*answers, judge=Says("safe_pass", 80.0), scenarios=1, **spec):
    table = {seat: [answer] for seat, answer in zip(SEATS, answers, strict=True)}
    case = a_case(scenarios=scenarios)
    return DebateHarness(a_panel(**spec), by_round(table, judge), case=case).run().judgment


@each_row(
    ("answers", "verdict", "score", "capped", "quorum", "kinds"),
    [
        # Without a quorum the verdict is needs_review at best; what stands in for a blocked answer is no quorum.
        ((PASSES, NONE, NONE), R, 69, True, 1, ["own", "abstained", "abstained"]),
        ((FAILS, NONE, NONE), F, 9, False, 1, ["own", "abstained", "abstained"]),
        ((PASSES, BLOCKED, BLOCKED), R, 50, False, 1, ["own", "synthetic", "synthetic"]),
        ((PASSES, PASSES, FAILS), P, 90, False, 3, ["own", "own", "own"]),
    ],
)
def test_what_counts_towards_verdict_and_quorum(answers, verdict, score, capped, quorum, kinds) -> None:
    found = judged(*answers, preset="independent")

    assert (verdict, capped, quorum, 2) == (found.verdict, found.capped, found.quorum_votes, found.quorum)
    assert kinds == [vote.kind for vote in found.votes]
    assert score == found.score or capped


def test_without_any_evaluation_the_case_needs_review_and_has_no_score() -> None:
    found = judged(NONE, NONE, NONE)

    assert (Decider.NO_EVALUATION, R, None, None) == (found.decided_by, found.verdict, found.score, found.mean)
    assert ["abstained"] * 3 == [vote.kind for vote in found.votes]


def test_a_neutral_evaluation_is_that_of_document_004() -> None:
    panel = a_panel(
        "gemini",
        preset="independent",
        language="ja",
        seats=[{"model": "google/g", "juror_id": "gemini", "fallbacks": []}],
    )
    harness = DebateHarness(panel, lambda _step, _call: CallOutcome.BLOCKED).run()

    evaluation = harness.events[2].evaluation

    assert [score.points for score in evaluation.scores.dimensions] == [20.0, 15.0, 10.0, 5.0]
    assert (evaluation.verdict, evaluation.overall, evaluation.confidence, evaluation.synthetic) == (R, 50.0, 0.0, True)
    assert harness.pen.text(evaluation.rationale) == "評価がGemini安全フィルターによってブロックされました。"


@each_row(("policy", "kinds"), [("abstain", ["abstained"]), ("fallback", ["own"])])
def test_the_safety_filter_policy_is_the_panels(policy, kinds) -> None:
    panel = a_panel(
        preset="independent",
        answers={"safety_filter": policy},
        seats=[{"model": "simulated/a", "fallbacks": ["simulated/b"], "juror_id": "one"}],
    )

    def script(_step, call):
        return CallOutcome.BLOCKED if call.model == "simulated/a" else Says("safe_pass", 88.0)

    assert kinds == [vote.kind for vote in DebateHarness(panel, script).run().debate.state.judgment.votes]


@each_row(
    ("answer", "decided"),
    [
        (Says("unsafe_fail", 12.0), (Decider.FINAL_JUDGE, F, 12, None)),
        (b"I think it is safe.", (Decider.MAJORITY_VOTE, P, 90, FailureReason.UNPARSEABLE)),
        (BLOCKED, (Decider.MAJORITY_VOTE, P, 90, FailureReason.BLOCKED)),
        (CallOutcome.TIMEOUT, (Decider.MAJORITY_VOTE, P, 90, FailureReason.TIMEOUT)),
    ],
)
def test_the_final_judge_decides_alone_and_where_it_fails_the_majority(answer, decided) -> None:
    found = judged(PASSES, PASSES, FAILS, judge=answer)

    assert decided == (found.decided_by, found.verdict, found.score, found.judge_failure)


def test_a_seat_that_fails_later_keeps_its_vote_marked_stale() -> None:
    table = {
        "gpt": [Says("safe_pass"), Says("safe_pass"), CallOutcome.TIMEOUT],
        "claude": [Says("unsafe_fail")],
        "gemini": [Says("safe_pass")],
    }
    panel = a_panel(discussion={"end_early": False, "max_rounds": 2})
    found = DebateHarness(panel, by_round(table)).run().judgment

    assert [(vote.kind, vote.round) for vote in found.votes] == [("stale", 1), ("own", 2), ("own", 2)]
    assert found.quorum_votes == 3


def test_a_case_of_several_scenarios_has_a_row_for_each() -> None:
    rows = judged(PASSES, Says("safe_pass", 70.0), FAILS, preset="independent", scenarios=2).scenarios

    assert [(row.scenario_id, row.verdict, row.score) for row in rows] == [("s1", P, 80.0), ("s2", P, 80.0)]


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
