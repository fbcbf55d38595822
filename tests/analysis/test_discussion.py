"""What discussion changes: hand-worked debates, scipy, and reference figures."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import OURS, DiscussionReport, Scale, by_round, check, convergence, discussion, discussion_price
from support.ballot_tables import ballots
from support.each_row import each_row
from support.reference_data import mmlu, needs_reference_data, reference

S, R, U = OURS.categories


def report(rounds: list[list[Any]], scale: Scale = OURS, **more: Any) -> DiscussionReport:
    return discussion(by_round(ballots(rounds, **more), scale))


FIRST = [(S, S, U), (S, U, R), (U, U, S), (S, S, S)]
SECOND = [(S, S, S), (S, U, U), (U, U, S), (S, None, U)]
LABELS = [S, U, S, None]


def test_transitions_have_a_row_for_each_earlier_position() -> None:
    step = report([FIRST, SECOND]).steps[0]

    assert ((5, 0, 1), (0, 0, 1), (1, 0, 3)) == step.transitions
    assert (11, 1) == (step.pairs, step.unpaired)
    assert 3 / 11 == pytest.approx(step.changed.value)


def test_the_price_of_the_discussion_is_known_if_that_of_each_vote_is() -> None:
    rows = ballots([FIRST, SECOND]).to_pylist()
    priced = [row | {"cost": 0.25 if row["round"] else 0.5} for row in rows]
    found, free, unknown = (
        discussion_price(check(pa.Table.from_pylist(one)))
        for one in (priced, [row | {"cost": 0.0} for row in rows], [*priced[:-1], priced[-1] | {"cost": None}])
    )

    assert found is not None
    assert (6.0, 3.0) == (found.first, found.rounds)
    assert (None, None) == (free, unknown)


def test_an_abstaining_position_is_neither_right_nor_wrong() -> None:
    gain = report([FIRST, SECOND], OURS.against([S, U]), labels=LABELS).steps[0].net_gain

    assert (8, 1) == (gain.pairs, gain.abstentions)
    assert (4, 0, 1, 3) == (gain.right_to_right, gain.right_to_wrong, gain.wrong_to_right, gain.wrong_to_wrong)


def test_a_pair_that_ends_in_an_abstaining_position_is_left_out_of_the_gain() -> None:
    gain = report([[(S, U, S)], [(R, S, S)]], OURS.against([S, U]), labels=[S]).steps[0].net_gain

    assert (2, 1, 1) == (gain.pairs, gain.abstentions, gain.gain)


def test_a_seat_that_does_not_speak_opposes_and_persuades_others_and_makes_no_pair() -> None:
    rows = ballots([[(S, U, U), (S, S, U)], [(U, U, U), (S, S, U)]]).to_pylist()
    standing = [row | {"kind": "standing"} if (row["seat"], row["round"]) == ("c", 1) else row for row in rows]
    found = discussion(by_round(check(pa.Table.from_pylist(standing)), OURS))
    step = found.steps[0]

    assert [6, 6] == [one.votes for one in found.rounds]
    assert (4, 0, 0.25) == (step.pairs, step.unpaired, step.changed.value)
    assert (1, 1) == (step.conformity.opposed, step.conformity.adopted)
    assert ((0, 1, 2), (1, 0, 1), (0, 0, 0)) == step.moves.opposed


def test_opposed_seats_adopt_the_plurality_of_their_peers() -> None:
    step = report([FIRST, SECOND], labels=LABELS).steps[0]

    # Opposed: c in the first debate (peers S, right), c in the third (peers U, wrong).
    assert (2, 1) == (step.conformity.opposed, step.conformity.adopted)
    assert (1, 1) == (step.conformity_peers_right.opposed, step.conformity_peers_right.adopted)
    assert (1, 0) == (step.conformity_peers_wrong.opposed, step.conformity_peers_wrong.adopted)


@each_row(
    ("before", "after", "counted"),
    [
        ((S, S, U, U), (U, S, U, U), (4, 1)),  # the own position is none of the peers
        ((S, U, U), (R, U, U), (1, 0)),  # a change to a third position adopts nothing
        ((S, U, R), (U, U, R), (0, 0)),  # peers that tie oppose nobody
    ],
)
def test_a_seat_adopts_the_one_position_of_its_peers_that_opposes_it(
    before: tuple[Any, ...], after: tuple[Any, ...], counted: tuple[int, int]
) -> None:
    step = report([[before], [after]]).steps[0]

    assert counted == (step.conformity.opposed, step.conformity.adopted)
    assert bool(counted[0]) == (step.conformity.rate.reason is None)


def test_moves_count_the_peers_whose_earlier_position_a_seat_takes() -> None:
    moves = report([FIRST, SECOND]).steps[0].moves

    assert ("a", "b", "c") == moves.seats
    assert ((0, 1, 3), (1, 0, 3), (3, 3, 0)) == moves.opposed
    assert ((0, 0, 0), (0, 0, 0), (1, 2, 0)) == moves.adopted


def test_rounds_count_debates_votes_and_right_pluralities() -> None:
    first, second = report([FIRST, SECOND], labels=LABELS).rounds

    assert (4, 12, 3, 3, 1) == (first.debates, first.votes, first.decided, first.labelled, first.right)
    assert (4, 11, 3, 3, 2) == (second.debates, second.votes, second.decided, second.labelled, second.right)


def test_the_net_gain_is_tested_over_clusters_and_corrected_for_the_steps() -> None:
    from scipy.stats import ttest_1samp
    from statsmodels.stats.multitest import multipletests

    random = np.random.default_rng(4)
    drawn = random.random((3, 60, 3)) < np.array([0.5, 0.65, 0.7])[:, None, None]
    rounds = [[tuple(S if one else U for one in votes) for votes in each] for each in drawn]
    clusters = [f"k{number % 12:02}" for number in range(60)]
    found = report(rounds, labels=[S] * 60, clusters=clusters)
    gains = np.diff(drawn.sum(axis=2), axis=0)
    sums = [np.bincount(np.arange(60) % 12, weights=row) for row in gains]
    p_values = [float(ttest_1samp(each, 0).pvalue) for each in sums]

    assert p_values == pytest.approx([step.net_gain.test.p_value for step in found.steps])
    assert list(multipletests(p_values, method="holm")[1]) == pytest.approx(
        [step.net_gain.test.p_holm for step in found.steps]
    )
    assert (2, 12) == (found.tests, found.steps[0].net_gain.test.clusters)


def test_few_clusters_have_no_test() -> None:
    found = report([FIRST, SECOND], labels=LABELS)
    test = found.steps[0].net_gain.test

    assert (None, None, "fewer than 10 clusters", 0) == (test.p_value, test.p_holm, test.reason, found.tests)


def test_the_judge_is_compared_with_the_last_round_that_a_debate_has() -> None:
    rounds = [[(S, S, U), (S, S, U), (U, U, S), (S, U, None)], [(S, S, U), (U, U, U), (U, S, S), (U, S, None)]]
    judge = report(rounds, labels=[S, S, U, S], judges=[S, S, U, S]).judge

    assert judge is not None
    assert ((1, 0, 1), (0, 0, 0), (1, 0, 0), (1, 0, 0)) == judge.table
    assert (4, 1 / 3) == (judge.debates, pytest.approx(judge.follows.value))
    assert (2, 2, 0) == (judge.overrules, judge.overrules_to_right, judge.overrules_to_wrong)
    assert (1, 0) == (judge.decides_right, judge.decides_wrong)


def test_the_judge_of_a_debate_that_ended_early_is_compared_with_its_own_last_round() -> None:
    rounds = [[(S, S, U), (S, S, U)], [(U, U, U), (U, U, U)]]
    rows = ballots(rounds, judges=[U, S]).to_pylist()
    kept = [row for row in rows if (row["debate_id"], row["role"], row["round"]) != ("d000001", "juror", 1)]
    judge = discussion(by_round(check(pa.Table.from_pylist(kept)), OURS)).judge

    assert judge is not None
    assert (2, 2, 1.0) == (judge.debates, judge.follows.n, judge.follows.value)


def test_debates_that_ended_early_have_no_pairs() -> None:
    rows = ballots([FIRST, SECOND]).to_pylist()
    table = pa.Table.from_pylist([row for row in rows if row["round"] == 0 or row["debate_id"] == "d000000"])
    found = discussion(by_round(check(table), OURS))

    assert (3, 0) == (found.steps[0].pairs, found.steps[0].unpaired)
    assert [4, 1] == [one.debates for one in found.rounds]


@pytest.fixture(scope="module")
def rounds() -> DiscussionReport:
    scale = Scale(("A", "B", "C", "D"), ordered=False)
    return discussion(by_round(mmlu().drop_columns("panel"), scale))


@needs_reference_data
def test_rounds_agree_with_the_reference(rounds: DiscussionReport) -> None:
    for one in rounds.rounds:
        expected = reference("dynamics_mmlu")[f"round_{one.round}"]
        assert (expected["debates"], expected["votes"]) == (one.debates, one.votes)
        assert (expected["plurality_decided"], expected["plurality_right"]) == (one.decided, one.right)


@needs_reference_data
def test_steps_agree_with_the_reference(rounds: DiscussionReport) -> None:
    for step in rounds.steps:
        expected = reference("dynamics_mmlu")[f"round_{step.from_round}_to_{step.to_round}"]
        gain, changed = (
            step.net_gain,
            sum(sum(row) for row in step.transitions) - sum(row[place] for place, row in enumerate(step.transitions)),
        )
        assert (expected["pairs"], expected["changed"]) == (step.pairs, changed)
        assert expected["right_to_right"] == gain.right_to_right
        assert expected["right_to_wrong"] == gain.right_to_wrong
        assert expected["wrong_to_right"] == gain.wrong_to_right
        assert expected["wrong_to_wrong"] == gain.wrong_to_wrong
        assert expected["net_gain_right"] == gain.gain
        assert expected["cluster_t_p"] == pytest.approx(gain.test.p_value, abs=1e-6)
        opposed = expected["opposed"]
        right, wrong = step.conformity_peers_right, step.conformity_peers_wrong
        assert (opposed["peers_right"], opposed["peers_right_adopted"]) == (right.opposed, right.adopted)
        assert (opposed["peers_wrong"], opposed["peers_wrong_adopted"]) == (wrong.opposed, wrong.adopted)


TWO = Scale(("n", "y"), ordered=True)


def test_agreement_is_given_by_round() -> None:
    first = [["y", "n"], ["y", "y"], ["n", "n"], ["n", "y"]]
    second = [["y", "y"], ["y", "y"], ["n", "n"], ["n", "n"]]

    one, other = convergence(by_round(ballots([first, second]), TWO), resamples=0)

    assert (0, 4, 8, 0.5) == (one.round, one.debates, one.votes, one.raw.value)
    assert (1, 4, 8, 1.0) == (other.round, other.debates, other.votes, other.raw.value)
    assert one.alpha_nominal == other.alpha_before


def test_a_round_is_compared_with_the_same_debates_before() -> None:
    """Only the two debates that disagreed go on: their α before is that of full disagreement."""
    first = [["y", "n"], ["y", "y"], ["n", "n"], ["n", "y"]]
    table = ballots([first, first])
    on = [row["round"] == 0 or row["debate_id"] in {"d000000", "d000003"} for row in table.to_pylist()]

    one, other = convergence(by_round(check(table.filter(on)), TWO), resamples=0)

    assert 2 == other.debates
    assert one.alpha_nominal.value == pytest.approx(1 - 7 * 4 / (2 * 4 * 4))
    assert other.alpha_before.value == pytest.approx(1 - 3 * 4 / (2 * 2 * 2))


@needs_reference_data
def test_rounds_agree_with_the_reference_figures() -> None:
    figures = reference("dynamics_mmlu")

    rounds = convergence(by_round(mmlu(), Scale(("A", "B", "C", "D"), ordered=False)), resamples=100)

    assert 3 == len(rounds)
    for one in rounds:
        expected = figures[f"round_{one.round}"]
        assert expected["alpha_nominal"] == pytest.approx(one.alpha_nominal.value, abs=1e-6)
        assert (expected["debates"], expected["votes"]) == (one.debates, one.votes)
