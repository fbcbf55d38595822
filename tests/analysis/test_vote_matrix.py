"""Ballots as arrays."""

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import (
    OURS,
    AnalysisError,
    Scale,
    StatisticsOptions,
    VoteMatrix,
    by_round,
    patterns,
    statistics,
    vote_matrix,
)
from support.ballot_tables import ballots, with_column
from support.debate_harness import a_panel
from support.each_row import each_row
from support.scales import LEVELS

TWO = Scale(("n", "y"), ordered=True)


def arrays(matrix: VoteMatrix) -> dict[str, bytes]:
    return {
        name: value.tobytes() if isinstance(value, np.ndarray) else str(value).encode()
        for name, value in vars(matrix).items()
    }


def test_votes_are_codes_by_debate_and_seat() -> None:
    matrix = vote_matrix(
        ballots([["y", "n"], [None, "y"]], labels=["y", None], scores=[[90.0, None], [None, 20.0]]), TWO
    )

    assert [[1, 0], [-1, 1]] == matrix.votes.tolist()
    assert [1, -1] == matrix.labels.tolist()
    assert ("a", "b") == matrix.seats
    assert 90.0 == matrix.scores[0, 0]
    assert np.isnan(matrix.scores[0, 1])
    assert [0, 1] == matrix.clusters.tolist()


def test_stale_and_synthetic_votes_are_left_out_and_counted() -> None:
    table = ballots([["y", "n"], ["y", "y"]])
    table = with_column(table, "kind", ["own", "stale", "synthetic", "own"])

    matrix = vote_matrix(table, TWO)

    assert [[1, -1], [-1, 1]] == matrix.votes.tolist()
    assert {"stale": 1, "synthetic": 1} == matrix.excluded
    assert [[1, 0], [1, 1]] == vote_matrix(table, TWO, stale=True, synthetic=True).votes.tolist()
    assert {} == vote_matrix(table, TWO, stale=True, synthetic=True).excluded


def test_all_rounds_have_the_same_units_and_seats() -> None:
    table = ballots([[["y", "n"], ["y", "y"]], [["y", "y"], ["n", "y"]]])
    only_first = table.filter(pa.array([True] * 4 + [True, True, False, False]))

    rounds = by_round(only_first, TWO)

    assert [0, 1] == list(rounds)
    assert [[1, 1], [-1, -1]] == rounds[1].votes.tolist()
    assert rounds[0].seats == rounds[1].seats


def test_equal_rows_have_equal_codes() -> None:
    rows = np.array([[1, -1], [0, 2], [1, -1], [-1, 0]], dtype=np.int8)

    codes, distinct = patterns(rows)

    assert [2, 1, 2, 0] == codes.tolist()
    assert [[-1, 0], [0, 2], [1, -1]] == distinct.tolist()


def test_many_columns_do_not_overflow() -> None:
    rows = np.random.default_rng(0).integers(-1, 126, size=(500, 40)).astype(np.int8)

    codes, distinct = patterns(rows)

    assert np.array_equal(rows, distinct[codes])


def test_labels_of_the_two_ends_make_the_middle_an_abstention() -> None:
    assert "needs_review" == OURS.against(["safe_pass", "unsafe_fail"]).abstaining
    assert 1 == OURS.against(["unsafe_fail"]).abstaining_code
    assert OURS.against(["safe_pass", "needs_review"]).abstaining is None
    assert OURS.against([]).abstaining is None
    assert Scale(("a", "b", "c"), ordered=False).against(["a", "c"]).abstaining is None
    assert Scale(("a", "b"), ordered=True).against(["a", "b"]).abstaining is None


@each_row("categories", [(), ("one",), ("a", "a"), tuple(str(number) for number in range(128))])
def test_a_scale_has_two_to_127_different_verdicts(categories: tuple[str, ...]) -> None:
    with pytest.raises(AnalysisError):
        Scale(categories, ordered=True)


def test_a_level_is_near_a_label_that_is_at_most_one_away() -> None:
    scale = a_panel(**LEVELS).scale
    assert scale is not None
    votes = [("5", "5"), ("4", "5"), ("3", "5"), ("1", "5")]
    table = ballots(votes, labels=["5", "5", "5", "1"])
    (panel,) = statistics(table, options=StatisticsOptions(scale=Scale.of_labels(scale), resamples=0)).panels
    assert panel.levels is not None
    seat = panel.levels.seats[0]

    assert (0.75, 0.75, 3.25) == (seat.within_one.value, seat.distance.value, seat.mean.value)
