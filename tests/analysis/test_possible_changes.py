"""The bounds of a change hold for every value that the missing ones could have."""

import numpy as np
import pytest

from jury_analysis import bounded_change, possible_change
from support.each_row import each_row


def _table(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Differences, some of them between two limits, in clusters of one pair or of several."""
    draw = np.random.default_rng(seed)
    pairs = int(draw.integers(12, 60))
    clusters = np.arange(pairs) if seed % 2 else draw.integers(0, 15, size=pairs)
    shares = seed % 3 == 0
    largest = 1.0 if shares else 100.0
    spread = (0.0, 0.1, 1.0)[seed % 5 % 3]
    known = draw.choice([-1.0, 0.0, 1.0], size=pairs) * (draw.random(pairs) < spread)
    known = known if shares else known * draw.integers(0, 100, size=pairs)
    missing = draw.random(pairs) < (0.05, 0.3, 1.0)[seed % 7 % 3]
    low = np.where(missing, draw.choice([-largest, 0.0], size=pairs), known)
    high = np.where(missing, draw.choice([0.0, largest], size=pairs), known)
    return low, np.maximum(low, high), clusters.astype(np.int32), largest


@each_row("seed", range(8))
def test_no_value_leads_beyond_the_bounds(seed: int) -> None:
    low, high, clusters, largest = _table(seed)
    found = possible_change(low, high, clusters, largest=largest)
    if found is None:
        assert bounded_change(low, clusters, largest=largest).mean.interval is None
        return
    draw = np.random.default_rng(1000 + seed)
    beyond = []
    for way in range(60):
        at = (draw.random(len(low)) < draw.random()).astype(float) if way % 2 else draw.random(len(low))
        at = np.full(len(low), way / 2) if way < 3 else at
        one = bounded_change(low + at * (high - low), clusters, largest=largest)
        ends = one.mean.interval
        assert ends is not None
        beyond += [
            found.low - ends.low,
            ends.high - found.high,
            found.high_at_least - ends.high,
            ends.low - found.low_at_most,
            (one.p_value or 0.0) - found.p_value,
        ]

    assert max(beyond) <= 1e-9


def test_bounds_of_what_is_known_are_its_interval() -> None:
    known, clusters = np.array([3.0, -1.0, 0.0, 8.0] * 5), np.arange(20, dtype=np.int32)
    ends = bounded_change(known, clusters, largest=100.0)
    found = possible_change(known, known, clusters, largest=100.0)

    assert found is not None
    assert ends.mean.interval is not None
    assert (ends.mean.interval.low, ends.mean.interval.high, ends.p_value) == pytest.approx(
        (found.low, found.high, found.p_value)
    )


def test_bounds_are_no_wider_than_the_worst_values_where_few_are_missing() -> None:
    """Two of 400 pairs: a candidate that would have scored 0 in both."""
    draw = np.random.default_rng(7)
    low, high = (np.append(draw.integers(-5, 6, size=398), [end] * 2).astype(float) for end in (-90, 10))
    high[:398] = low[:398]
    clusters = np.arange(400, dtype=np.int32)
    found = possible_change(low, high, clusters, largest=100.0)
    worst = bounded_change(low, clusters, largest=100.0).mean.interval

    assert found is not None
    assert worst is not None
    assert pytest.approx(worst.low, abs=0.02) == found.low
