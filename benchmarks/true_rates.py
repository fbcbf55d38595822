"""How often the bounds of a true rate hold, and how often a gate decides: simulated draws, printed as two tables.

    uv run python benchmarks/true_rates.py [--draws 5000]

A run of 2,000 cases; the jury calls 5 % of the others unsafe, and leaves 10 % of all to people. Nothing is measured on
a clock: the same seed prints the same figures.
"""

import argparse
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

import numpy as np

from jury_analysis.true_rate import Claim, DrawnLabels, Of, Stratum, true_decision
from jury_events.verdict import FAIL, PASS, REVIEW

CASES = 2000
LABELS = (20, 50, 100, 300)
SHARES = (0.005, 0.02, 0.1, 0.4)
RECALLS = (0.6, 0.95)
CLUSTER = 5
LIMIT = Fraction(2, 100)
NAME = FAIL.value

_FALSE_ALARMS, _TO_PEOPLE, _SPREAD = 0.05, 0.1, 3.0
_decision: Callable[[DrawnLabels, Claim, Of], str] = cache(true_decision)

Draw = Iterator[list[DrawnLabels]]
"""What is looked at in turn, for each draw: the labels so far, until something is decided."""


def main() -> None:
    """Print how often bounds are wrong, and how often a limit of 2 % is decided."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=5000)
    draws = parser.parse_args().draws
    chance = 0.05 + 2 * (0.0475 / draws) ** 0.5
    print(f"wrong bounds in % of {draws:,} draws: upper, lower (5% at most; by chance {chance:.2%})")
    for kind, share, recall, labels in grid():
        upper, lower = wrong(kind, share, recall, labels, draws)
        print(
            f"{kind:14} rate {share:5.1%} recall {recall:3.0%} labels {labels:3}: {upper:5.2%} {lower:5.2%}", flush=True
        )
    print(f"decided against {NAME}<=2%, in % of the draws: pass, fail")
    for kind, share, recall, labels in grid():
        passed, failed = power(kind, share, recall, labels, draws)
        print(
            f"{kind:14} rate {share:5.1%} recall {recall:3.0%} labels {labels:3}: {passed:4.0%} {failed:4.0%}",
            flush=True,
        )


def grid() -> Iterator[tuple[str, float, float, int]]:
    """Kinds of draws, rates, recalls of the jury, numbers of labels. Only draws by verdict know the jury."""
    for kind in KINDS:
        for share in SHARES:
            for recall in RECALLS if kind == "run by verdict" else (RECALLS[0],):
                for labels in LABELS:
                    yield kind, share, recall, labels


def wrong(kind: str, share: float, recall: float, labels: int, draws: int) -> tuple[float, float]:
    """How often the upper bound is below the true rate, and the lower one above it, at any look."""
    of: Of = "agent" if kind.startswith("agent") else "run"
    there = Fraction(round(share * CASES), CASES)
    step = Fraction(1, CASES) if of == "run" else Fraction(0)
    below, above = Claim(NAME, "<=", there - step, NAME), Claim(NAME, ">=", there + step, NAME)
    found = [0, 0]
    for looks in KINDS[kind](share, recall, labels, draws):
        for place, claim in enumerate((below, above)):
            found[place] += any(_decision(one, claim, of) == "pass" for one in looks)
    return found[0] / draws, found[1] / draws


def power(kind: str, share: float, recall: float, labels: int, draws: int) -> tuple[float, float]:
    """How often the limit is decided, one way and the other."""
    of: Of = "agent" if kind.startswith("agent") else "run"
    found = [0, 0]
    for looks in KINDS[kind](share, recall, labels, draws):
        decided = next(
            (said for one in looks if (said := _decision(one, Claim(NAME, "<=", LIMIT, NAME), of)) != "inconclusive"),
            "",
        )
        found[0] += decided == "pass"
        found[1] += decided == "fail"
    return found[0] / draws, found[1] / draws


def _one_draw(share: float, _recall: float, labels: int, draws: int) -> Draw:
    unsafe = round(share * CASES)
    for found in np.random.default_rng(1).hypergeometric(unsafe, CASES - unsafe, labels, draws).tolist():
        yield [_labels(labels, found)]


def _enlarged(share: float, _recall: float, labels: int, draws: int) -> Draw:
    """Half of the labels first; the others where the first half decides nothing."""
    unsafe, half, random = round(share * CASES), labels // 2, np.random.default_rng(2)
    for _ in range(draws):
        first = int(random.hypergeometric(unsafe, CASES - unsafe, half))
        rest = int(random.hypergeometric(unsafe - first, CASES - half - unsafe + first, labels - half))
        yield [_labels(half, first), _labels(labels, first + rest, (half,))]


def _by_verdict(share: float, recall: float, labels: int, draws: int) -> Draw:
    """As many of each verdict, as far as there are."""
    unsafe, random = round(share * CASES), np.random.default_rng(3)
    others = CASES - unsafe
    failed = [round(unsafe * recall * (1 - _TO_PEOPLE)), round(others * _FALSE_ALARMS * (1 - _TO_PEOPLE))]
    review = [round(unsafe * _TO_PEOPLE), round(others * _TO_PEOPLE)]
    passed = [unsafe - failed[0] - review[0], others - failed[1] - review[1]]
    groups = sorted(((NAME, *failed), (REVIEW.value, *review), (PASS.value, *passed)), key=lambda one: one[1] + one[2])
    for _ in range(draws):
        strata, left = [], labels
        for place, (verdict, bad, good) in enumerate(groups):
            drawn = min(bad + good, left // (len(groups) - place))
            left -= drawn
            found = int(random.hypergeometric(bad, good, drawn)) if drawn else 0
            strata.append(Stratum(verdict, bad + good, drawn, found, drawn - found))
        yield [DrawnLabels(tuple(strata))]


def _of_agent(share: float, _recall: float, labels: int, draws: int) -> Draw:
    for found in np.random.default_rng(4).binomial(labels, share, draws).tolist():
        yield [_labels(labels, found)]


def _clusters(share: float, _recall: float, labels: int, draws: int) -> Draw:
    """Clusters of five, whose rates differ."""
    random = np.random.default_rng(5)
    for _ in range(draws):
        rates = random.beta(share * _SPREAD, (1 - share) * _SPREAD, labels // CLUSTER)
        found = np.bincount(random.binomial(CLUSTER, rates), minlength=CLUSTER + 1).tolist()
        clusters = tuple((CLUSTER, some, CLUSTER - some, number) for some, number in enumerate(found) if number)
        unsafe = sum(some * number for some, number in enumerate(found))
        yield [DrawnLabels((Stratum(None, CASES, labels, unsafe, labels - unsafe),), (), clusters)]


def _labels(drawn: int, found: int, earlier: tuple[int, ...] = ()) -> DrawnLabels:
    clusters = ((1, 1, 0, found), (1, 0, 1, drawn - found))
    return DrawnLabels((Stratum(None, CASES, drawn, found, drawn - found),), earlier, clusters)


KINDS: dict[str, Callable[[float, float, int, int], Draw]] = {
    "run one draw": _one_draw,
    "run enlarged": _enlarged,
    "run by verdict": _by_verdict,
    "agent cases": _of_agent,
    "agent clusters": _clusters,
}

if __name__ == "__main__":
    main()
