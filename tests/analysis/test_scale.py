"""The declared verdicts."""

import pytest

from jury_analysis import OURS, AnalysisError, Scale, UnknownVerdict
from support.each_row import each_row


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
