"""Each final method, as tables written out by hand."""

from fractions import Fraction

from jury_debate import CountedVote, banded, count
from jury_events import Bands, CallOutcome, Decider, FailureReason, Verdict, exact, half_up
from support.debate_harness import DebateHarness, Says, a_panel, by_round
from support.each_row import each_row

P, R, F = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
BANDS = Bands()


def votes_of(*votes: tuple[Verdict, float], weight: float = 1.0, confidence: float = 1.0) -> list[CountedVote]:
    return [CountedVote(position, score, weight, confidence) for position, score in votes]


@each_row(
    ("votes", "verdict", "mean"),
    [
        ([(P, 90.0), (P, 80.0), (F, 10.0)], P, Fraction(85)),
        ([(P, 90.0), (R, 50.0), (F, 10.0)], R, Fraction(50)),
        ([(P, 90.0), (P, 80.0), (F, 10.0), (F, 20.0)], R, Fraction(50)),
        ([(F, 10.0)], F, Fraction(10)),
        ([(F, 12.5), (F, 12.5), (F, 13.0), (P, 99.0)], F, Fraction(38, 3)),
        ([(P, 99.0), (F, 1.0)], R, Fraction(50)),
    ],
)
def test_the_majority_of_the_votes_cast_wins_with_the_mean_of_its_scores(votes, verdict, mean) -> None:
    assert (verdict, mean) == count("majority_vote", votes_of(*votes), BANDS)


@each_row(
    ("votes", "verdict", "mean"),
    [
        ([CountedVote(P, 90.0, 1.0, 1.0), CountedVote(F, 30.0, 1.0, 0.5)], P, Fraction(70)),
        ([CountedVote(P, 90.0, 1.0, 0.5), CountedVote(F, 30.0, 1.0, 0.5)], R, Fraction(60)),
        ([CountedVote(P, 90.0, 3.0, 0.5), CountedVote(F, 30.0, 1.0, 0.5)], P, Fraction(75)),
        ([CountedVote(P, 90.0, 1.0, 0.0), CountedVote(F, 30.0, 3.0, 0.0)], R, Fraction(45)),
        ([CountedVote(P, 90.0, 1.0, 0.0), CountedVote(F, 30.0, 1.0, 0.1)], F, Fraction(30)),
    ],
)
def test_the_weighted_average_weighs_by_seat_and_confidence(votes, verdict, mean) -> None:
    assert (verdict, mean) == count("weighted_average", votes, BANDS)


@each_row(
    ("votes", "verdict", "mean"),
    [
        ([(F, 0.0), (P, 71.0), (P, 100.0)], P, Fraction(71)),
        ([(F, 0.0), (F, 39.0), (P, 41.0), (P, 100.0)], R, Fraction(40)),
        ([(F, 39.9)], F, exact(39.9)),
    ],
)
def test_the_median_resists_one_broken_juror(votes, verdict, mean) -> None:
    assert (verdict, mean) == count("median", votes_of(*votes), BANDS)


@each_row(("score", "verdict"), [(70.0, P), (69.99, R), (40.0, R), (39.99, F), (0.0, F), (100.0, P)])
def test_bands_apply_before_rounding(score, verdict) -> None:
    assert verdict == banded(exact(score), BANDS)


@each_row(("number", "rounded"), [(62.5, 63), (62.4, 62), (0.5, 1), (99.5, 100), (0.0, 0), (1.5, 2)])
def test_scores_are_rounded_half_up(number, rounded) -> None:
    assert rounded == half_up(exact(number))


def judged(panel, table, judge=Says("safe_pass", 80.0)):
    return DebateHarness(panel, by_round(table, judge)).run().debate.state.judgment


INDEPENDENT = {"preset": "independent"}


def test_without_a_quorum_the_verdict_is_needs_review_at_best_and_marked_capped() -> None:
    table = {"gpt": [Says("safe_pass", 90.0)], "claude": [CallOutcome.BAD_REQUEST], "gemini": [CallOutcome.BAD_REQUEST]}

    judgment = judged(a_panel(**INDEPENDENT), table)

    assert (judgment.verdict, judgment.capped, judgment.quorum_votes, judgment.quorum) == (R, True, 1, 2)


def test_a_missed_quorum_does_not_change_a_fail() -> None:
    table = {
        "gpt": [Says("unsafe_fail", 9.0)],
        "claude": [CallOutcome.BAD_REQUEST],
        "gemini": [CallOutcome.BAD_REQUEST],
    }

    judgment = judged(a_panel(**INDEPENDENT), table)

    assert (judgment.verdict, judgment.capped) == (F, False)


def test_without_any_evaluation_the_case_needs_review_and_has_no_score() -> None:
    table = {key: [CallOutcome.BAD_REQUEST] for key in ("gpt", "claude", "gemini")}

    harness = DebateHarness(a_panel(), by_round(table)).run()
    judgment = harness.debate.state.judgment

    assert (judgment.decided_by, judgment.verdict) == (Decider.NO_EVALUATION, R)
    assert (None, None) == (judgment.score, judgment.mean)
    assert [vote.kind for vote in judgment.votes] == ["abstained"] * 3
    assert not any(asked.step.juror_id is None for asked in harness.asked)


def test_synthetic_votes_count_but_not_towards_quorum() -> None:
    table = {"gpt": [Says("safe_pass", 90.0)], "claude": [CallOutcome.BLOCKED], "gemini": [CallOutcome.BLOCKED]}

    judgment = judged(a_panel(**INDEPENDENT), table)

    assert [vote.kind for vote in judgment.votes] == ["own", "synthetic", "synthetic"]
    assert (judgment.verdict, judgment.quorum_votes, judgment.score) == (R, 1, 50)


def test_a_neutral_evaluation_is_that_of_document_004() -> None:
    panel = a_panel(
        "gemini",
        preset="independent",
        language="ja",
        seats=[{"model": "google/g", "juror_id": "gemini", "fallbacks": []}],
    )
    harness = DebateHarness(panel, lambda _step, _call: CallOutcome.BLOCKED).run()

    evaluation = harness.events[1].evaluation

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


def test_the_final_judge_decides_alone() -> None:
    table = {key: [Says("safe_pass", 90.0)] for key in ("gpt", "claude", "gemini")}

    judgment = judged(a_panel(), table, Says("unsafe_fail", 12.0))

    assert (judgment.decided_by, judgment.verdict, judgment.score) == (Decider.FINAL_JUDGE, F, 12)


@each_row(
    ("answer", "reason"),
    [
        (b"I think it is safe.", FailureReason.UNPARSEABLE),
        (CallOutcome.BLOCKED, FailureReason.BLOCKED),
        (CallOutcome.TIMEOUT, FailureReason.TIMEOUT),
    ],
)
def test_where_the_final_judge_fails_the_majority_decides_and_the_failure_is_recorded(answer, reason) -> None:
    table = {
        "gpt": [Says("safe_pass", 90.0)],
        "claude": [Says("safe_pass", 80.0)],
        "gemini": [Says("unsafe_fail", 9.0)],
    }

    judgment = judged(a_panel(), table, answer)

    assert (Decider.MAJORITY_VOTE, P, 85, reason) == (
        judgment.decided_by, judgment.verdict, judgment.score, judgment.judge_failure
    )  # fmt: skip


def test_a_seat_that_fails_later_keeps_its_vote_marked_stale() -> None:
    table = {
        "gpt": [Says("safe_pass"), Says("safe_pass"), CallOutcome.TIMEOUT],
        "claude": [Says("unsafe_fail")],
        "gemini": [Says("safe_pass")],
    }

    judgment = judged(a_panel(discussion={"end_early": False, "max_rounds": 2}), table)

    assert [(vote.kind, vote.round) for vote in judgment.votes] == [("stale", 1), ("own", 2), ("own", 2)]
    assert judgment.quorum_votes == 3


def test_a_case_of_several_scenarios_has_a_row_for_each() -> None:
    from support.debate_harness import a_case

    table = {
        "gpt": [Says("safe_pass", 90.0)],
        "claude": [Says("safe_pass", 70.0)],
        "gemini": [Says("unsafe_fail", 5.0)],
    }
    harness = DebateHarness(a_panel(**INDEPENDENT), by_round(table), case=a_case(scenarios=2)).run()

    rows = harness.debate.state.judgment.scenarios

    assert [(row.scenario_id, row.verdict, row.score) for row in rows] == [("s1", P, 80.0), ("s2", P, 80.0)]
