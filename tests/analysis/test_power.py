"""How many pairs a gate takes: the published figures, their inverse, and simulated gates."""

import numpy as np
import pytest

from jury_analysis import PairedVariation, clustered_mean, design_effect
from support.each_row import each_row


@each_row(("discordance", "difference", "cases"), [(0.1, 0.05, 312), (0.1, 0.03, 870)])
def test_the_number_of_cases_is_the_one_that_was_computed_elsewhere(
    discordance: float, difference: float, cases: int
) -> None:
    assert cases == PairedVariation(discordance).cases(difference)


def test_an_example_by_hand() -> None:
    # All flips go one way: ψ = d = 0.04. (1.959964·0.2 + 0.841621·√0.0384)² / 0.0016 = 0.310154 / 0.0016.
    assert 194 == PairedVariation(0.04).cases(0.04)


@each_row("discordance", [0.0, 0.02, 0.3])
@each_row("effect", [1.0, 2.5])
def test_the_smallest_change_is_found_by_just_so_many_cases(discordance: float, effect: float) -> None:
    variation = PairedVariation(discordance, design_effect=effect)
    smallest = variation.smallest(500)

    assert smallest is not None
    assert 500 == variation.cases(smallest)
    assert 500 < variation.cases(smallest * 0.99)


def test_clustered_cases_count_less() -> None:
    effect = design_effect(9, 0.25)

    assert 3.0 == effect
    assert 3 * 312 == pytest.approx(PairedVariation(0.1, design_effect=effect).cases(0.05), abs=3)


def test_scores_have_a_variance() -> None:
    variation = PairedVariation(400.0, proportions=False)

    assert 785 == variation.cases(2.0)  # (1.959964 + 0.841621)² · 400 / 4 = 784.9
    assert 2.0 == pytest.approx(variation.smallest(784.888), abs=1e-4)


@each_row("difference", [-0.1, 1.5])
def test_impossible_differences_are_refused(difference: float) -> None:
    with pytest.raises(ValueError, match="difference"):
        PairedVariation(0.1).cases(difference)


@pytest.mark.parametrize("gates", [400, pytest.param(5000, marks=pytest.mark.long)])
def test_so_many_cases_find_it_with_the_promised_power(gates: int) -> None:
    generator, cases = np.random.default_rng(5), PairedVariation(0.1).cases(0.05)
    found = 0
    for _ in range(gates):
        differences = generator.choice([1.0, -1.0, 0.0], p=[0.075, 0.025, 0.9], size=cases)
        interval = clustered_mean(differences, np.ones(cases), np.arange(cases)).mean.interval
        found += interval is not None and interval.low > 0

    assert 0.74 < found / gates < 0.88
