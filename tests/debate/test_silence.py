"""Silence never helps a pass, and score and verdict agree: over random panels and failures, and as tables by hand."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from jury_debate import CountedVote, PanelError, banded, count
from jury_debate.rules_1.judgment import whole_score
from jury_events import Bands, CallOutcome, Decider, Judgment, Verdict, exact
from support.debate_harness import Answer, DebateHarness, Says, a_case, a_panel, by_round
from support.each_row import each_row
from support.scales import ANSWERS, LEVELS, YES_NO, scales, written

P, R, F = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
ORDER = [F, R, P]
SILENT, BLOCKED = CallOutcome.BAD_REQUEST, CallOutcome.BLOCKED
SILENCE = (SILENT, BLOCKED)
PASSES, REVIEWS, FAILS = Says(P, 90.0, 1.0), Says(R, 50.0, 1.0), Says(F, 10.0, 1.0)
GRADES = {
    "scale": {
        "labels": [
            {"id": word, "outcome": "fail" if word == "bad" else "pass", "meaning": f"It is {word}."}
            for word in ("bad", "fair", "good", "best")
        ]
    }
}


def judged(said: Sequence[Answer], *, scenarios: int = 1, **spec: Any) -> Judgment:
    """The judgment of an independent panel whose seats answer so."""
    ids = [f"j{number}" for number in range(len(said))]
    spec = {"preset": "independent", **spec}
    weights = spec.pop("weights", [1.0] * len(ids))
    seats = [
        {"model": "simulated/juror", "juror_id": juror, "weight": weight}
        for juror, weight in zip(ids, weights, strict=True)
    ]
    panel = a_panel(**spec, seats=seats)
    table = {juror: [answer] for juror, answer in zip(ids, said, strict=True)}
    harness = DebateHarness(panel, by_round(table, Says(P, 80.0)), case=a_case(scenarios=scenarios)).run()
    return harness.judgment


@each_row(
    ("method", "answers", "expected"),
    [
        # Without the cap two passes of three votes would pass; with both fails heard the case fails.
        ("majority_vote", [FAILS, SILENT, SILENT, PASSES, PASSES], (R, 90, "silence")),
        ("majority_vote", [FAILS, BLOCKED, BLOCKED, PASSES, PASSES], (R, 58, None)),
        ("majority_vote", [FAILS, FAILS, SILENT, PASSES, PASSES], (R, 50, None)),
        ("majority_vote", [FAILS, SILENT, PASSES, PASSES, PASSES], (P, 90, None)),
        ("majority_vote", [SILENT, SILENT, PASSES, PASSES, PASSES], (P, 90, None)),
        ("majority_vote", [FAILS, FAILS, SILENT, SILENT, FAILS], (F, 10, None)),
        ("majority_vote", [SILENT, SILENT, REVIEWS, FAILS, FAILS], (F, 10, None)),
        ("majority_vote", [SILENT, SILENT, SILENT, PASSES, PASSES], (R, 90, "quorum")),
        ("majority_vote", [SILENT, PASSES, PASSES], (P, 90, None)),
        ("majority_vote", [SILENT, FAILS, PASSES, PASSES], (R, 90, "silence")),
        # (3 * 90 + 2 * 50) / 5 = 74 passes; (2 * 90 + 70 + 2 * 50) / 5 = 70 still does; with 69 it does not.
        ("weighted_average", [SILENT, SILENT, PASSES, PASSES, PASSES], (P, 90, None)),
        ("weighted_average", [SILENT, BLOCKED, PASSES, PASSES, Says(R, 70.0, 1.0)], (P, 83, None)),
        ("weighted_average", [SILENT, BLOCKED, PASSES, PASSES, Says(R, 69.0, 1.0)], (R, 69, "silence")),
        ("weighted_average", [BLOCKED, BLOCKED, PASSES, PASSES, Says(R, 69.0, 1.0)], (R, 69, "silence")),
        ("weighted_average", [SILENT, SILENT, FAILS, FAILS, FAILS], (F, 10, None)),
        # A silent seat is certain: votes without any confidence do not pass against it.
        ("weighted_average", [SILENT, Says(P, 95.0, 0.0), Says(P, 95.0, 0.0)], (R, 69, "silence")),
        ("weighted_average", [Says(P, 95.0, 0.0), Says(P, 95.0, 0.0)], (P, 95, None)),
        # 50, 50, 60, 75, 90: without the silent seats the median is 75, with them 60.
        ("median", [SILENT, SILENT, PASSES, Says(P, 75.0), Says(P, 60.0)], (R, 69, "silence")),
        ("median", [SILENT, SILENT, PASSES, Says(P, 75.0), Says(P, 70.0)], (P, 75, None)),
    ],
)
def test_a_pass_must_stand_with_the_silent_seats_counted(
    method: str, answers: list[Answer], expected: tuple[Any, ...]
) -> None:
    found = judged(answers, final={"method": method})

    assert expected == (found.verdict, found.score, found.capped_by)
    assert (expected[2] is not None) == found.capped


def test_the_mean_of_a_capped_judgment_stays_that_of_the_votes() -> None:
    found = judged([SILENT, SILENT, PASSES, Says(P, 75.0), Says(P, 60.0)], final={"method": "median"})

    assert (69, 75.0, ("j0", "j1")) == (found.score, found.mean, found.silent)


def test_a_heavy_seat_is_silent_with_all_of_its_weight() -> None:
    final = {"method": "weighted_average", "quorum": 2}

    assert P is judged([SILENT, PASSES, PASSES], final=final).verdict
    assert R is judged([SILENT, PASSES, PASSES], final=final, weights=[3.0, 1.0, 1.0]).verdict


def test_a_final_judge_decides_for_itself_and_the_majority_where_it_fails_does_not() -> None:
    def one(judge: Answer) -> Judgment:
        ids = [f"j{number}" for number in range(5)]
        panel = a_panel(*ids, preset="independent", final={"method": "final_judge", "judge": {"model": "simulated/x"}})
        answers = [FAILS, SILENT, SILENT, PASSES, PASSES]
        table = {juror: [answer] for juror, answer in zip(ids, answers, strict=True)}
        return DebateHarness(panel, by_round(table, judge)).run().judgment

    decided, failed = one(Says(P, 88.0)), one(SILENT)

    assert (Decider.FINAL_JUDGE, P, None) == (decided.decided_by, decided.verdict, decided.capped_by)
    assert (Decider.MAJORITY_VOTE, R, "silence") == (failed.decided_by, failed.verdict, failed.capped_by)


def test_an_earlier_evaluation_is_no_silence() -> None:
    ids = [f"j{number}" for number in range(5)]
    rounds = {"max_rounds": 1, "always_discuss": True, "end_early": False}
    panel = a_panel(*ids, discussion=rounds, final={"method": "majority_vote"})
    table = {juror: [PASSES] if number < 2 else [FAILS] for number, juror in enumerate(ids)}
    table["j2"] = [PASSES, SILENT]

    found = DebateHarness(panel, by_round(table)).run().judgment

    assert (P, None, "stale") == (found.verdict, found.capped_by, found.votes[2].kind)


def test_halves_of_votes_without_support_are_silent() -> None:
    answers = {"unsupported": "halve"}
    votes = [PASSES, PASSES, FAILS, FAILS, FAILS]

    majority = judged(votes, answers=answers)
    average = judged([PASSES, PASSES, Says(F, 45.0, 1.0)], answers=answers, final={"method": "weighted_average"})

    # Two whole votes of five seats; (2 * 90 + 45 / 2) / 2.5 = 81, and with the other half (81 * 2.5 + 25) / 3 = 75.8.
    assert (R, "silence", ()) == (majority.verdict, majority.capped_by, majority.silent)
    assert (P, 81, None) == (average.verdict, average.score, average.capped_by)


@each_row(
    ("fields", "method", "words", "expected"),
    [
        (ANSWERS, "majority_vote", ["right", "right", "wrong", SILENT, SILENT], (R, None, "silence")),
        (ANSWERS, "majority_vote", ["right", "right", "right", SILENT, SILENT], (P, "right", None)),
        # The outcome has three of five seats; of the labels, most of the votes decide.
        (LEVELS, "majority_vote", ["4", "5", "5", SILENT, SILENT], (P, "5", None)),
        # The middle rank is 2: with ranks 4, 4, 4 the mean is 3.2, level 4, which passes; with 3, 3, 2 it is 2.4.
        (LEVELS, "weighted_average", ["5", "5", "5", SILENT, SILENT], (P, "5", None)),
        (LEVELS, "weighted_average", ["4", "4", "3", SILENT, BLOCKED], (R, None, "silence")),
        (LEVELS, "median", ["4", "4", "4", SILENT, SILENT], (P, "4", None)),
        (LEVELS, "median", ["4", "4", "3", SILENT, BLOCKED], (R, None, "silence")),
        # Between no and yes.
        (YES_NO, "weighted_average", ["yes", "yes", "yes", SILENT, SILENT], (P, "yes", None)),
        (YES_NO, "weighted_average", ["yes", "yes", "no", SILENT, SILENT], (P, "yes", None)),
        (YES_NO, "median", ["yes", "yes", "no", SILENT, SILENT], (R, None, "silence")),
        # The middle rank, 1.5, would pass: silence is between bad and fair.
        (GRADES, "median", ["bad", "fair", "best", SILENT, SILENT], (R, None, "silence")),
    ],
)
def test_under_a_scale_it_is_the_outcome_that_must_stand(
    fields: dict[str, Any], method: str, words: list[Any], expected: tuple[Any, ...]
) -> None:
    answers = [Says(word, 90.0, 1.0) if isinstance(word, str) else word for word in words]
    found = judged(
        answers, final={"method": method}, **{name: one for name, one in fields.items() if name != "criteria"}
    )

    assert expected == (found.verdict, found.label, found.capped_by)


def test_a_critical_criterion_must_keep_its_points_with_the_silent_seats_counted() -> None:
    def one(share: float) -> Judgment:
        facts, form = ANSWERS["criteria"]
        criteria = [{**facts, "critical_below": share}, form]
        final = {"method": "weighted_average", "bands": {"safe_pass": 60.0, "needs_review": 30.0}}
        return judged([PASSES, PASSES, PASSES, SILENT], criteria=criteria, final=final)

    # Points of nine tenths from three seats, and of a half from the silent one: eight tenths.
    assert (P, R) == (one(0.8).verdict, one(0.81).verdict)
    assert ("silence", None) == (one(0.81).capped_by, one(0.81).shortfalls)


def test_scenarios_are_capped_as_the_case_is_and_named() -> None:
    silence = judged([FAILS, SILENT, SILENT, PASSES, PASSES], scenarios=2)
    quorum = judged([PASSES, SILENT, SILENT], scenarios=2)
    neither = judged([PASSES, PASSES, SILENT], scenarios=2)

    assert [("s1", R), ("s2", R)] == [(row.scenario_id, row.verdict) for row in silence.scenarios]
    assert [("s1", "s2"), ("s1", "s2"), None] == [one.capped_scenarios for one in (silence, quorum, neither)]


# Properties, over random panels and failures.

methods = st.sampled_from(["majority_vote", "weighted_average", "median"])
confidences = st.sampled_from([0.0, 0.1, 0.5, 1.0])
words = st.sampled_from([P, P, R, F])
votes = st.tuples(words, st.integers(0, 100).map(float), confidences).map(lambda said: Says(*said))
answers_of = st.lists(votes | votes | st.sampled_from(SILENCE), min_size=1, max_size=7)


@st.composite
def bands(draw: st.DrawFn) -> Bands:
    edges = sorted(draw(st.lists(st.decimals(0, 100, places=1).map(float), min_size=2, max_size=2)))
    try:
        return Bands(needs_review=edges[0], safe_pass=edges[1])
    except ValidationError:
        assume(condition=False)
        raise


@st.composite
def specs(draw: st.DrawFn, seats: int, *, own_scale: bool = False) -> dict[str, Any]:
    final: dict[str, Any] = {"method": draw(methods), "quorum": draw(st.integers(1, seats))}
    weights = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=seats, max_size=seats))
    if own_scale:
        return {"final": final, "weights": weights, "scale": written(draw(scales()))}
    return {"final": {**final, "bands": draw(bands()).model_dump()}, "weights": weights}


@given(answers_of, st.data())
def test_a_pass_by_majority_stands_whatever_the_silent_seats_vote(answers: list[Answer], data: st.DataObject) -> None:
    spec = data.draw(specs(len(answers)))
    spec["final"]["method"] = "majority_vote"
    heard = [data.draw(votes) if answer in SILENCE else answer for answer in answers]

    if judged(answers, **spec).verdict is P:
        assert P is judged(heard, **spec).verdict


@given(answers_of, st.data())
def test_a_pass_stands_with_silent_seats_that_ask_for_review(answers: list[Answer], data: st.DataObject) -> None:
    spec = data.draw(specs(len(answers)))
    heard = [
        Says(R, 50.0, data.draw(confidences)) if answer in SILENCE and data.draw(st.booleans()) else answer
        for answer in answers
    ]

    if judged(answers, **spec).verdict is P:
        assert P is judged(heard, **spec).verdict


@given(answers_of, st.data())
def test_the_cap_is_that_of_the_count_with_silence_and_of_nothing_else(
    answers: list[Answer], data: st.DataObject
) -> None:
    spec = data.draw(specs(len(answers)))
    found = judged(answers, **spec)
    method, given_bands = spec["final"]["method"], Bands(**spec["final"]["bands"])
    cast = [
        CountedVote(one.position, one.score, one.weight, one.confidence)
        for one in found.votes
        if one.position is not None and one.score is not None and one.confidence is not None
    ]
    own = [one for one, vote in zip(cast, (v for v in found.votes if v.position), strict=True) if vote.kind == "own"]
    silent = [CountedVote(R, 50.0, vote.weight, 1.0) for vote in found.votes if vote.kind != "own"]
    given_votes = count(method, cast, given_bands)[0] if cast else R
    with_silence = count(method, [*own, *silent], given_bands)[0]

    passes = given_votes is P and with_silence is P and found.quorum_met
    assert (P if passes else R if given_votes is P else given_votes) is found.verdict
    assert (given_votes is P and not passes) is found.capped


@given(answers_of, st.data())
def test_under_any_scale_a_pass_stands_with_silent_seats_at_the_middle_or_above(
    answers: list[Answer], data: st.DataObject
) -> None:
    spec = data.draw(specs(len(answers), own_scale=True))
    scale = a_panel(scale=spec["scale"]).scale
    assert scale is not None
    passing = [scale.rank(label.id) for label in scale.labels if label.verdict is P]
    middle = min(Fraction(scale.best_rank, 2), min(passing, default=99) - Fraction(1, 2))
    above = [one for one in scale.ids if scale.rank(one) >= middle or spec["final"]["method"] == "majority_vote"]

    def say(words: Sequence[str]) -> Says:
        return Says(data.draw(st.sampled_from(words)), 50.0, data.draw(confidences))

    said = [answer if answer in SILENCE else say(scale.ids) for answer in answers]
    heard = [say(above) if answer in SILENCE else answer for answer in said]

    if judged(said, **spec).verdict is P:
        assert P is judged(heard, **spec).verdict


scores = st.fractions(0, 100)


@given(bands(), scores)
def test_the_score_that_is_shown_is_the_nearest_in_the_band_of_the_verdict(edges: Bands, mean: Fraction) -> None:
    for verdict in (banded(mean, edges), R):
        shown = whole_score(mean, verdict, edges)
        fitting = [one for one in range(101) if banded(Fraction(one), edges) is verdict]

        assert shown in fitting
        assert abs(shown - mean) == min(abs(one - mean) for one in fitting)
        assert shown + 1 not in fitting or abs(shown - mean) < abs(shown + 1 - mean), "of two the higher"


@given(answers_of, st.data())
def test_score_and_verdict_of_a_judgment_agree(answers: list[Answer], data: st.DataObject) -> None:
    spec = data.draw(specs(len(answers)))
    found = judged(answers, scenarios=2, **spec)

    if found.decided_by in {Decider.WEIGHTED_AVERAGE, Decider.MEDIAN}:
        edges = Bands(**spec["final"]["bands"])
        assert banded(Fraction(found.score), edges) is found.verdict
        assert all(banded(exact(row.score), edges) is row.verdict for row in found.scenarios)


@given(st.floats(0, 100), st.floats(0, 100))
def test_bands_that_stand_have_a_whole_score_for_review_and_pass(low: float, high: float) -> None:
    try:
        edges = Bands(needs_review=low, safe_pass=high)
    except ValidationError:
        assert low > high or not any(low <= one < high for one in range(101))
        return

    for verdict in ORDER:
        assert list(edges.whole_scores(verdict)) == [
            one for one in range(101) if banded(Fraction(one), edges) is verdict
        ]
    assert all(edges.whole_scores(verdict) for verdict in (R, P))


@each_row(
    ("edges", "said"),
    [
        (
            {"needs_review": 70.1, "safe_pass": 70.2},
            r"no whole score is from needs_review \(70.1\) up and below safe_pass",
        ),
        ({"needs_review": 50.0, "safe_pass": 50.0}, "no whole score is from needs_review"),
        ({"needs_review": 50.5, "safe_pass": 51.0}, "no whole score is from needs_review"),
    ],
)
def test_bands_without_a_score_for_review_are_refused(edges: dict[str, float], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Bands(**edges)


def test_where_no_score_fails_no_criterion_may_make_a_case_fail() -> None:
    facts, form = ANSWERS["criteria"]
    final = {"method": "median", "bands": {"needs_review": 0.0, "safe_pass": 60.0}}

    a_panel(preset="independent", criteria=[{**facts, "critical": "review"}, form], final=final)
    with pytest.raises(PanelError, match="the critical criterion facts can make fail"):
        a_panel(preset="independent", criteria=[{**facts, "critical": "fail"}, form], final=final)
