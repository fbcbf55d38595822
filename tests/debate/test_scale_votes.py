"""Counting labels: the laws of checks, counts and caps over random scales, and tables written out by hand."""

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jury_debate import CountedVote, count
from jury_debate.rules_1.checks import check_consensus, check_labels
from jury_debate.rules_1.votes import LabelledVote, VoteTally, capped, shortfalls, tally
from jury_events import (
    VERDICTS,
    Bands,
    ConsensusStatus,
    Dimension,
    DimensionScore,
    FinalMethod,
    Rubric,
    Scores,
    SeatPosition,
    Verdict,
    VerdictScale,
)
from support.debate_harness import a_panel
from support.each_row import each_row
from support.scales import ANSWERS, LEVELS, YES_NO, scales

P, R, F = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
ORDER = [F, R, P]
COUNTING: tuple[FinalMethod, ...] = ("majority_vote", "weighted_average", "median")
methods = st.sampled_from(COUNTING)
BANDS = Bands()


def scale_in(fields: dict[str, Any]) -> VerdictScale:
    scale = a_panel(**fields).scale
    assert scale is not None
    return scale


def vote(scale: VerdictScale, label: str | None, score: float = 50.0, confidence: float = 1.0) -> LabelledVote:
    verdict = R if label is None else scale.verdict(label)
    return LabelledVote(CountedVote(verdict, score, 1.0, confidence), label)


@st.composite
def cast(draw: st.DrawFn, scale: VerdictScale, *, blocked: bool = True) -> list[LabelledVote]:
    """Votes with labels of the scale; `blocked`: some with an outcome only."""
    words: list[str | None] = [*scale.ids, *([None] if blocked else [])]
    return [
        vote(scale, draw(st.sampled_from(words)), draw(st.integers(0, 100)) * 1.0, draw(st.integers(0, 10)) / 10)
        for _ in range(draw(st.integers(1, 7)))
    ]


@given(scales(), methods, st.data())
def test_a_label_that_is_decided_was_given_or_lies_between_and_has_its_outcome(
    scale: VerdictScale, method: FinalMethod, data: st.DataObject
) -> None:
    votes = data.draw(cast(scale))
    found = tally(method, votes, BANDS, scale)

    ranks = [scale.rank(one.label) for one in votes if one.label is not None]
    assert (found.agreed_on == "label") == (found.label is not None)
    if found.label is not None:
        assert scale.verdict(found.label) is found.verdict
        assert min(ranks) <= scale.rank(found.label) <= max(ranks)
        assert method != "majority_vote" or found.label in [one.label for one in votes]
    if found.agreed_on == "nothing":
        assert R is found.verdict


@given(scales(), methods, st.data())
def test_a_unanimous_label_is_decided_by_every_method(
    scale: VerdictScale, method: FinalMethod, data: st.DataObject
) -> None:
    label = data.draw(st.sampled_from(scale.ids))
    votes = [
        one._replace(vote=one.vote._replace(position=scale.verdict(label)), label=label)
        for one in data.draw(cast(scale))
    ]

    assert (scale.verdict(label), label) == tally(method, votes, BANDS, scale)[:2]


@given(scales(), st.sampled_from(COUNTING[1:]), st.data())
def test_no_verdict_gets_worse_by_a_better_vote(scale: VerdictScale, method: FinalMethod, data: st.DataObject) -> None:
    votes = data.draw(cast(scale, blocked=False))
    place = data.draw(st.integers(0, len(votes) - 1))
    better = data.draw(st.sampled_from(scale.ids[scale.rank(votes[place].label or "") :]))
    after = list(votes)
    after[place] = LabelledVote(votes[place].vote._replace(position=scale.verdict(better)), better)

    before, now = tally(method, votes, BANDS, scale), tally(method, after, BANDS, scale)

    assert ORDER.index(before.verdict) <= ORDER.index(now.verdict)
    if before.label is not None and now.label is not None:
        assert scale.rank(before.label) <= scale.rank(now.label)


@given(scales(), st.data())
def test_a_majority_of_labels_is_one_of_outcomes_too(scale: VerdictScale, data: st.DataObject) -> None:
    votes = data.draw(cast(scale))
    found = tally("majority_vote", votes, BANDS, scale)

    outcomes = count("majority_vote", [one.vote for one in votes], BANDS)[0]
    assert outcomes is found.verdict, "labels only say more of what outcomes decide"


@each_row(
    ("method", "fields", "words", "expected"),
    [
        ("majority_vote", YES_NO, ["yes", "yes", "no"], (P, "yes", "label")),
        ("majority_vote", YES_NO, ["yes", "no"], (R, None, "nothing")),
        ("majority_vote", YES_NO, ["yes", "no", None], (R, None, "nothing")),
        ("majority_vote", YES_NO, [None, None, "yes"], (R, None, "outcome")),
        ("majority_vote", LEVELS, ["5", "4", "1"], (P, None, "outcome")),
        ("majority_vote", LEVELS, ["5", "4", "2", "1"], (R, None, "nothing")),
        ("majority_vote", LEVELS, ["1", "2", "2"], (F, "2", "label")),
        ("median", LEVELS, ["1", "4", "5"], (P, "4", "label")),
        ("median", LEVELS, ["2", "4"], (R, "3", "label")),
        ("median", LEVELS, ["4", "5"], (P, None, "outcome")),
        ("median", LEVELS, ["3", "4"], (R, None, "nothing")),
        ("weighted_average", LEVELS, ["1", "1", "5"], (F, "2", "label")),
        ("weighted_average", LEVELS, ["4", "5"], (P, None, "outcome")),
        ("weighted_average", LEVELS, ["4", "4", "5", None], (P, "4", "label")),
        ("weighted_average", LEVELS, [None, None], (R, None, "outcome")),
    ],
)
def test_votes_are_counted_by_label_then_by_outcome_and_means_are_of_ranks(
    method: FinalMethod, fields: dict[str, Any], words: list[str | None], expected: tuple[Any, ...]
) -> None:
    scale = scale_in(fields)

    assert expected == tally(method, [vote(scale, word) for word in words], BANDS, scale)[:3]


def test_a_score_is_the_mean_of_the_votes_that_decided() -> None:
    scale = scale_in(LEVELS)
    votes = [vote(scale, "5", 100.0), vote(scale, "4", 70.0), vote(scale, "1", 0.0)]

    assert VoteTally(P, None, "outcome", (Fraction(1, 2), Fraction(1, 2), Fraction()), Fraction(85)) == tally(
        "majority_vote", votes, BANDS, scale
    )


rounds = st.integers(0, 2)


@given(scales(), rounds, st.data())
def test_seats_agree_where_their_labels_do(scale: VerdictScale, number: int, data: st.DataObject) -> None:
    rules = a_panel(discussion={"threshold": data.draw(st.sampled_from([0.5, 0.67, 1.0, 2.0]))}).discussion
    positions = [one.position for one in data.draw(cast(scale))]
    seats = len(positions) + data.draw(st.integers(0, 2))

    check = check_labels(positions, seats, rules, round_number=number)

    assert max(positions.count(one) for one in positions) == check.largest
    if check.status is ConsensusStatus.SPLIT:
        assert (None, None, False) == (check.majority_position, check.majority_label, check.reached)
    else:
        assert check.majority_position is not None
        assert check.largest == positions.count(SeatPosition(check.majority_position, check.majority_label))


@given(rounds, st.lists(st.sampled_from(ORDER), min_size=1, max_size=7))
def test_labels_with_an_outcome_each_agree_as_the_three_verdicts_do(number: int, verdicts: list[Verdict]) -> None:
    scale, rules = scale_in(ANSWERS), a_panel(discussion={"threshold": 0.67}).discussion
    words = {label.verdict: label.id for label in scale.labels}

    labelled = check_labels(
        [SeatPosition(one, words[one]) for one in verdicts], len(verdicts), rules, round_number=number
    )

    assert check_consensus(verdicts, len(verdicts), rules, round_number=number) == labelled.changed(majority_label=None)


def test_nobody_agrees_where_nobody_answered() -> None:
    check = check_labels([], 3, a_panel().discussion, round_number=0)

    assert (0, None, False) == (check.largest, check.majority_position, check.reached)


def a_rubric(**facts: Any) -> Rubric:
    return Rubric(
        name="x", dimensions=(Dimension(name="facts", maximum=70.0, **facts), Dimension(name="form", maximum=30.0))
    )


def scored(*facts: float) -> list[Scores]:
    return [
        Scores(
            dimensions=(DimensionScore(dimension="facts", points=one), DimensionScore(dimension="form", points=30.0))
        )
        for one in facts
    ]


@each_row(
    ("facts", "points", "weights", "falls_short"),
    [
        ({"critical": "review"}, (34.0,), (Fraction(1),), True),
        ({"critical": "review"}, (35.0,), (Fraction(1),), False),
        ({"critical": "review"}, (70.0, 0.0), (Fraction(1, 2), Fraction(1, 2)), False),
        ({"critical": "review"}, (70.0, 0.0), (Fraction(0), Fraction(1)), True),
        ({"critical": "review", "critical_below": 0.6}, (41.9,), (Fraction(1),), True),
        ({}, (0.0,), (Fraction(1),), False),
    ],
)
def test_a_critical_criterion_falls_short_below_its_share(
    facts: dict[str, Any], points: tuple[float, ...], weights: tuple[Fraction, ...], *, falls_short: bool
) -> None:
    found = shortfalls(a_rubric(**facts), scored(*points), weights)

    assert falls_short == bool(found)
    assert all(one.points < one.least for one in found)


@given(scales(), st.sampled_from(["review", "fail"]), st.data())
def test_a_cap_never_makes_a_verdict_milder(scale: VerdictScale, cap: Any, data: st.DataObject) -> None:
    label = data.draw(st.sampled_from(scale.ids))
    position = SeatPosition(scale.verdict(label), label)
    found = shortfalls(a_rubric(critical=cap), scored(0.0), (Fraction(1),))

    after = capped(position, found)

    assert min(ORDER.index(position.verdict), ORDER.index(VERDICTS[cap])) == ORDER.index(after.verdict)
    assert (after.label is None) == (after.verdict is not position.verdict)
    assert position == capped(position, ())
