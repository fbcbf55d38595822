"""True rates: bounds against exact references, e-values against all ways to reach a total, and how often they err."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_analysis import Claim, DrawnLabels, Stratum, true_decision, true_gate, true_rate
from jury_analysis.true_rate import Of
from support.each_row import each_row

NAME = "unsafe_fail"


def drawn(labels: int, found: int, cases: int = 2000, *, open_: int = 0, earlier: tuple[int, ...] = ()) -> DrawnLabels:
    """One draw from all cases, each of a cluster of its own; `open_` of the drawn cases have no answer."""
    other = labels - found - open_
    clusters = ((1, 1, 0, found), (1, 0, 1, other), (1, 0, 0, open_))
    return DrawnLabels((Stratum(None, cases, labels, found, other),), earlier, by_cluster=clusters)


def claim(sign: str, percent: float) -> Claim:
    return Claim(NAME, sign, Fraction(str(percent)) / 100, NAME)


@each_row(
    ("percent", "of_agent", "of_182"),
    [(5, 59, 46), (2, 149, 96), (1, 299, 141)],
)
def test_so_many_labels_without_a_find_pass_and_one_fewer_does_not(percent: float, of_agent: int, of_182: int) -> None:
    wanted = claim("<=", percent)

    assert ["inconclusive", "pass"] == [true_decision(drawn(n, 0), wanted, "agent") for n in (of_agent - 1, of_agent)]
    assert ["inconclusive", "pass"] == [true_decision(drawn(n, 0, 182), wanted) for n in (of_182 - 1, of_182)]
    # With a case without an answer it is as if one had been found.
    assert true_decision(drawn(of_agent + 1, 0, open_=1), wanted, "agent") == "inconclusive"


def test_the_bounds_of_one_draw_are_exact() -> None:
    """Clopper and Pearson's for cases like these; of the run, the counts that its draws do not exclude."""
    from scipy.stats import beta, hypergeom

    agent, run = (true_rate(drawn(120, 7, 400), NAME, NAME, of) for of in ("agent", "run"))
    left = [m for m in range(7, 400 - 113 + 1) if hypergeom.cdf(7, 400, m, 120) > 0.05]
    least = [m for m in range(7, 400 - 113 + 1) if hypergeom.sf(6, 400, m, 120) > 0.05]

    assert pytest.approx((beta.ppf(0.05, 7, 114), beta.ppf(0.95, 8, 113)), abs=1e-9) == (agent.at_least, agent.at_most)
    assert pytest.approx((least[0] / 400, left[-1] / 400)) == (run.at_least, run.at_most)
    assert ("exact", pytest.approx(7 / 120), 120) == (run.method, run.share, agent.clusters)


def test_the_e_value_is_the_least_over_all_ways_to_reach_the_total() -> None:
    """Strata of 12, 9 and 7 cases, enumerated: mixture / Π C(m, x) C(N - m, n - x) / … of each way."""
    from scipy.special import betaln

    strata = (Stratum("safe_pass", 12, 8, 0, 8), Stratum("needs_review", 9, 6, 1, 5), Stratum(NAME, 7, 6, 5, 1))

    def log_chance(one: Stratum, count: int) -> float:
        """Of the drawn labels in their order, if so many cases have the label."""
        chance, marked, left = 0.0, count, one.population
        for _ in range(one.found):
            chance += np.log(marked / left) if marked > 0 else -np.inf
            marked, left = marked - 1, left - 1
        for _ in range(one.other):
            chance += np.log((left - marked) / left) if left > marked else -np.inf
            left -= 1
        return float(chance)

    def log_mixture() -> float:
        parts = []
        for weight, rates in ((0.4, None), (0.2, (2.0, 200.0)), (0.2, (2.0, 40.0)), (0.2, (0.5, 0.5))):
            part = np.log(weight)
            for one in strata:
                a, b = (0.5, 0.5) if one.verdict == NAME else rates or (0.0, 0.0)
                part += betaln(a + one.found, b + one.other) - betaln(a, b) if a else -np.inf if one.found else 0.0
            parts.append(part)
        return float(np.logaddexp.reduce(parts))

    least: dict[int, float] = {}
    with np.errstate(divide="ignore"):
        for counts in product(*(range(one.population + 1) for one in strata)):
            value = log_mixture() - sum(log_chance(one, count) for one, count in zip(strata, counts, strict=True))
            least[sum(counts)] = min(least.get(sum(counts), np.inf), value)
    possible = [total for total, value in least.items() if value < np.log(20)]

    found = true_rate(DrawnLabels(strata), NAME, NAME)
    assert pytest.approx(max(possible) / 28) == found.at_most
    assert found.method == "e-value"


labels = st.integers(1, 60).flatmap(
    lambda size: st.tuples(st.just(size), st.integers(0, size), st.integers(0, size)).filter(
        lambda counts: counts[1] + counts[2] <= counts[0]
    )
)


@given(labels, st.sampled_from(["run", "agent"]), st.sampled_from(["<=", "<", ">=", ">"]), st.integers(0, 100))
def test_no_further_answer_takes_a_decision_back(counts: tuple[int, int, int], of: Of, sign: str, percent: int) -> None:
    size, found, open_ = counts
    wanted = claim(sign, percent)
    decision = true_decision(drawn(size, found, 60, open_=open_), wanted, of)

    for answered in range(open_ + 1):
        later = true_decision(drawn(size, found + answered, 60), wanted, of)
        assert decision in {"inconclusive", later}
    opposite = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}[sign]
    reverse = {"pass": "fail", "fail": "pass", "inconclusive": "inconclusive"}
    assert reverse[decision] == true_decision(drawn(size, found, 60, open_=open_), claim(opposite, percent), of)


def test_an_inconclusive_gate_says_the_fewest_labels_that_decide() -> None:
    wanted = claim("<=", 2)
    small, none, hopeless = (true_gate(one, wanted) for one in (drawn(50, 0), drawn(300, 6), drawn(20, 3, 30)))
    (way,) = small.needed

    assert ("pass", 0) == (way.decision, way.found)
    # What was decided on 50 was fixed beforehand; what is drawn after that look needs more than a fixed draw of 149.
    again = [true_decision(drawn(50 + more, 0, earlier=(50,)), wanted) for more in (way.labels - 1, way.labels)]
    assert ["inconclusive", "pass"] == again
    assert 149 - 50 < way.labels < 149
    assert {"inconclusive", "pass", "fail"} >= {none.decision, *(one.decision for one in none.needed)}
    assert ("fail", ()) == (hopeless.decision, hopeless.needed)


@pytest.mark.parametrize("share", [0.02, 0.4])
def test_bounds_err_rarely_however_cases_are_drawn(share: float) -> None:
    """A draw that is enlarged where half of it decides nothing, one by verdict, clusters of five: 300 draws each.

    `benchmarks/true_rates.py` has 5,000 of each kind. Three standard errors of 5 % are 3.8 points.
    """
    random, cases, size, draws = np.random.default_rng(17), 400, 100, 300
    unsafe = round(cases * share)
    below, above = (Claim(NAME, sign, Fraction(unsafe + step, cases), NAME) for sign, step in (("<=", -1), (">=", 1)))
    equal = [Claim(NAME, sign, Fraction(unsafe, cases), NAME) for sign in ("<=", ">=")]
    wrong = dict.fromkeys(("enlarged", "by verdict", "clusters"), 0)
    for _ in range(draws):
        first = int(random.hypergeometric(unsafe, cases - unsafe, size // 2))
        rest = int(random.hypergeometric(unsafe - first, cases - size // 2 - unsafe + first, size // 2))
        looks = [drawn(size // 2, first, cases), drawn(size, first + rest, cases, earlier=(size // 2,))]
        wrong["enlarged"] += any(true_decision(one, below) == "pass" for one in looks)
        called = round(0.8 * unsafe), round(0.1 * (cases - unsafe))
        groups = ((NAME, *called), ("safe_pass", unsafe - called[0], cases - unsafe - called[1]))
        strata = []
        for verdict, bad, good in groups:
            number = min(size // 2, bad + good)
            found = int(random.hypergeometric(bad, good, number))
            strata.append(Stratum(verdict, bad + good, number, found, number - found))
        wrong["by verdict"] += any(true_decision(DrawnLabels(tuple(strata)), one) == "pass" for one in (below, above))
        rates = random.beta(3 * share, 3 * (1 - share), size // 5)
        counts = random.binomial(5, rates).tolist()
        whole = (Stratum(None, cases, size, sum(counts), size - sum(counts)),)
        apart = DrawnLabels(whole, by_cluster=tuple((5, one, 5 - one, 1) for one in counts))
        wrong["clusters"] += any(true_decision(apart, one, "agent") == "pass" for one in equal)

    assert all(count <= draws * (0.05 + 0.038) for count in wrong.values()), wrong
    assert true_decision(drawn(cases, unsafe, cases), Claim(NAME, "<=", Fraction(unsafe, cases), NAME)) == "pass"
