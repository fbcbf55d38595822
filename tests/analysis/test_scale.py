"""The declared verdicts."""

import pytest

from jury_analysis import OURS, AnalysisError, Scale, StatisticsOptions, UnknownVerdict, statistics
from support.ballot_tables import ballots
from support.debate_harness import a_panel
from support.each_row import each_row
from support.scales import LEVELS


def test_labels_of_the_two_ends_make_the_middle_an_abstention() -> None:
    assert "needs_review" == OURS.against(["safe_pass", "unsafe_fail"]).abstaining
    assert 1 == OURS.against(["unsafe_fail"]).abstaining_code
    assert OURS.against(["safe_pass", "needs_review"]).abstaining is None
    assert OURS.against([]).abstaining is None
    assert Scale(("a", "b", "c"), ordered=False).against(["a", "c"]).abstaining is None
    assert Scale(("a", "b"), ordered=True).against(["a", "b"]).abstaining is None


def test_an_unknown_verdict_is_named_with_the_remedy() -> None:
    with pytest.raises(UnknownVerdict, match=r"'fine' is none of the verdicts safe_pass, .*--map"):
        OURS.code("fine")


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
