"""Shares of verdicts, corrected by the labelled part."""

import numpy as np
import pytest

from jury_analysis import Scale, VerdictShare, shares, vote_matrix
from support.ballot_tables import ballots

TWO = Scale(("n", "y"), ordered=True)


def of(verdicts: str, labels: str, *, random_labels: bool = True, clusters: list[str] | None = None) -> VerdictShare:
    """The share of y; a dash is no verdict or no label."""
    table = ballots(
        [[None if one == "-" else one] for one in verdicts],
        labels=[None if one == "-" else one for one in labels],
        clusters=clusters,
    )
    return shares(vote_matrix(table, TWO), random_labels=random_labels)[1]


def test_a_corrected_share_by_hand() -> None:
    """30 unlabelled, 18 of them y: .6. 20 labelled, of 12 y by the jury 4 are n by people: the correction is -.2."""
    found = of("y" * 18 + "n" * 12 + "y" * 12 + "n" * 8, "-" * 30 + "y" * 8 + "n" * 4 + "n" * 8)

    assert found.corrected.value == pytest.approx(0.6 - 0.2)
    variance = 0.6 * 0.4 / 29 + (4 * 0.8**2 + 16 * 0.2**2) / (20 * 19)
    assert found.corrected.interval is not None
    assert found.corrected.interval.high - found.corrected.interval.low == pytest.approx(
        2 * 2.093024 * np.sqrt(variance), rel=1e-6
    )
    assert (30, 0.6, 0.4) == (found.count, found.raw.value, found.labelled.value)


def test_without_a_random_sample_there_is_no_corrected_share() -> None:
    found = of("yyn", "y--", random_labels=False)

    assert "the labelled debates were not declared a random sample of all" == found.corrected.reason
    assert found.raw.value == pytest.approx(2 / 3)


def test_debates_without_a_verdict_stay_in_the_denominator() -> None:
    assert 0.5 == of("yy--", "----").raw.value


def test_an_error_of_zero_in_one_part_gives_no_interval() -> None:
    found = of("y" * 15 + "n" * 15 + "y" * 20, "-" * 30 + "y" * 20)

    assert 0.5 == found.corrected.value
    assert found.corrected.interval is None
    assert "width zero" in found.corrected.notes[-1]


def test_intervals_are_over_clusters() -> None:
    verdicts, labels = "yynyn" * 20, "-" * 60 + "ynnnyynynn" * 4
    alone = of(verdicts, labels).corrected.interval
    paired = of(verdicts, labels, clusters=[f"q{number // 2}" for number in range(100)]).corrected.interval

    assert alone is not None
    assert paired is not None
    assert (40, 20) == (alone.clusters, paired.clusters)


@pytest.mark.full
def test_the_corrected_share_covers_the_truth() -> None:
    """A jury that says y too often: about 95 % of 300 samples cover the true share, none without correction."""
    generator = np.random.default_rng(4)
    covered = uncorrected = 0
    for _ in range(300):
        truth = generator.random(300) < 0.3
        jury = truth | (generator.random(300) < 0.3)
        labels = np.where(np.arange(300) < 100, np.where(truth, "y", "n"), "-")
        found = of("".join(np.where(jury, "y", "n")), "".join(labels))
        assert found.corrected.interval is not None
        assert found.raw.interval is not None
        covered += found.corrected.interval.low <= 0.3 <= found.corrected.interval.high
        uncorrected += found.raw.interval.low <= 0.3 <= found.raw.interval.high

    assert 0.92 <= covered / 300 <= 0.98
    assert uncorrected < 3
