"""How often the last stage of a ladder says otherwise than a verdict that ended early."""

import pytest

from jury_analysis import AuditedCase, audited_shares, exact_share
from support.each_row import each_row


def test_disagreement_is_counted_for_all_and_by_early_verdict() -> None:
    cases = [AuditedCase("good", "good")] * 48 + [AuditedCase("good", "bad")] * 2 + [AuditedCase("bad", "bad")] * 50
    every, bad, good = audited_shares(cases)

    assert [(None, 100, 0.02), ("bad", 50, 0.0), ("good", 50, 0.04)] == [
        (one.verdict, one.audited, one.disagreement.value) for one in (every, bad, good)
    ]


def test_the_interval_is_the_exact_one() -> None:
    # The figures are those of SciPy's exact interval of binomtest.
    found = exact_share(2, 100).interval
    assert found is not None

    assert pytest.approx((0.002431337, 0.070383932), abs=1e-8) == (found.low, found.high)
    assert "clopper-pearson" == found.method


@each_row(("counted", "low", "high"), [(0, 0.0, 0.036216693), (100, 0.963783307, 1.0)])
def test_nothing_and_everything_have_an_interval(counted: int, low: float, high: float) -> None:
    found = exact_share(counted, 100).interval
    assert found is not None

    assert pytest.approx((low, high), abs=1e-8) == (found.low, found.high)


def test_an_error_is_known_only_of_labelled_cases() -> None:
    cases = [AuditedCase("good", "good", "bad"), AuditedCase("good", "good", "good"), AuditedCase("good", "bad")]
    every, _ = audited_shares(cases)

    assert (0.5, 2) == (every.error.value, every.error.n)
    assert (1 / 3, 3) == (every.disagreement.value, every.disagreement.n)


def test_a_last_stage_without_a_verdict_disagrees() -> None:
    assert 1.0 == audited_shares([AuditedCase("good", None)])[0].disagreement.value


def test_without_an_audit_there_is_no_share() -> None:
    (every,) = audited_shares([])

    assert (0, None) == (every.audited, every.disagreement.value)
