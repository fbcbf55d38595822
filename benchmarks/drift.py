"""How often drift checks alarm without drift, how soon with it, and whom they name: simulated judges.

    uv run python benchmarks/drift.py [--streams 2000] [--section calm|delays|balanced|attribution]

Prints the figures that `docs/watch-for-drift.md` and `benchmarks/README.md` have. Delays are in pairs, and the evidence
is looked at after each pair; a check has 50 of them.
"""

import argparse
import time
from collections.abc import Iterator

import numpy as np

from jury_analysis.drift import (
    COINS,
    OF_A_STREAM,
    SILENT,
    Array,
    DriftWatch,
    Judgings,
    is_of_the_agent,
    mixture,
    sides,
    tosses,
)
from jury_analysis.drift_plan import Change, first_alarms, simulated
from jury_events.drift_events import DriftCoin

ALPHA = 0.05
CHECK = 50
LATER = 2500


def delays(
    change: Change, calm: int, streams: int, coin: DriftCoin, *, mixed: bool, seed: int = 1
) -> tuple[float, float]:
    """The median of the pairs until the alarm, and the share of streams with an alarm before the change."""
    random = np.random.default_rng(seed)
    found, early = [], 0
    for _ in range(streams):
        before = simulated(random, (calm,), change, changed=False)
        after = simulated(random, (LATER,), change, changed=True)
        judged = Judgings(*(np.concatenate(both) for both in zip(before, after, strict=True)))
        counts, ones = sides(coin, judged)
        n, k = counts.cumsum(), ones.cumsum()
        e = evidence(n, k, coin) if mixed else plain(n, k)
        over = np.flatnonzero(e >= 1 / ALPHA)
        first = int(over[0]) + 1 if len(over) else calm + LATER + 1
        early += first <= calm
        if first > calm:
            found.append(first - calm)
    return float(np.median(found)), early / streams


def evidence(n: Array, k: Array, coin: DriftCoin) -> Array:
    """The mean of bets begun at each check, after each pair."""
    starts = np.arange(0, len(n), CHECK)
    begun_n, begun_k = (np.concatenate([[0], one])[starts] for one in (n, k))
    # A bet that has not begun has no toss.
    since_n = np.maximum(n[:, None] - begun_n, 0)
    since_k = np.where(since_n > 0, k[:, None] - begun_k, 0)
    e, _ = mixture(since_n, since_k, odd=coin == "odd")
    return e


def plain(n: Array, k: Array) -> Array:
    """The bet that was begun at the first pair alone: of a mixture of one the weight of what never begins is 1/2."""
    e, _ = mixture(n[:, None], k[:, None])
    return (e - 0.5) * 2


def calm(streams: int) -> Iterator[str]:
    still = Change(0.1, 0.1)
    _, early = delays(still, 2000, streams, "direction", mixed=False)
    yield f"one coin, no drift, 2,000 pairs: alarms in {early:.1%}"
    _, early = delays(still, 2000, streams, "direction", mixed=True)
    yield f"the same, bets begun at each check: {early:.1%}"
    alarms = first_alarms(still, CHECK, 60, 60, alpha=ALPHA, streams=streams)
    yield f"the jury (mean of four coins), 60 checks of {CHECK}: {(alarms > 0).mean():.1%}"
    few = max(streams // 100, 20)
    alarms = first_alarms(still, 20, 1000, 1000, alpha=ALPHA, streams=few)
    yield f"the jury, 1,000 checks of 20, {few} judges: {(alarms > 0).mean():.1%}"


def found_after(streams: int) -> Iterator[str]:
    for change in (Change(0.1, 0.3), Change(0.1, 0.2), Change(0.05, 0.25), Change(0.02, 0.1)):
        for name, mixed in (("one bet", False), ("bets begun at each check", True)):
            medians = [delays(change, before, streams, "distance", mixed=mixed)[0] for before in (0, 300, 1000)]
            yield f"{change.before:g} to {change.after:g}, {name}: median {medians} pairs after 0, 300, 1,000 calm ones"


def balanced(streams: int) -> Iterator[str]:
    flips = Change(0.02, 0.02, flipped=0.1)
    for coin in COINS[:3]:
        random = np.random.default_rng(3)
        alarms = []
        for _ in range(streams):
            counts, ones = sides(coin, simulated(random, (1500,), flips, changed=True))
            over = np.flatnonzero(evidence(counts.cumsum(), ones.cumsum(), coin) >= 1 / ALPHA)
            alarms.append(int(over[0]) + 1 if len(over) else 10**6)
        found = np.array(alarms) <= 1500
        median = np.median(alarms) if found.mean() > 0.5 else float("nan")
        yield f"a tenth of the anchors flips both ways, {coin}: found in {found.mean():.1%}, median {median:g} judgings"


def attribution(streams: int) -> Iterator[str]:
    """Who is named in 120 checks of 25 anchors, after 20 calm ones, once it is decided."""
    for name, judge, agent, cases in (
        ("the judge alone (wrong on 30 %), 25 cases a check,", 0.3, 0.0, 25),
        ("the judge alone (wrong on 20 %), 25 cases a check,", 0.2, 0.0, 25),
        ("the judge alone (wrong on 20 %), 100 cases a check,", 0.2, 0.0, 100),
        ("the agent alone (25 % more unsafe cases), 25 cases a check,", 0.1, 0.25, 25),
        ("both, 25 cases a check,", 0.3, 0.25, 25),
    ):
        named = {"judge": 0, "agent": 0, "undecided": 0}
        random = np.random.default_rng(5)
        few = max(streams // 4, 20)
        for _ in range(few):
            named[_named(random, judge, agent, cases)] += 1
        yield f"{name} changed: " + ", ".join(f"{who} {count / few:.1%}" for who, count in named.items())


def _named(random: np.random.Generator, judge: float, agent: float, cases: int) -> str:
    anchors, stream = DriftWatch(1 / ALPHA), DriftWatch(1 / ALPHA, OF_A_STREAM)
    for check in range(1, 121):
        changed = check > 20
        anchors.add(tosses(simulated(random, (25,), Change(0.1, judge), changed=changed), COINS))
        stream.add(tosses(_cases(random, cases, judge if changed else 0.1, agent if changed else 0.0), OF_A_STREAM))
        if anchors.alarm is not None:
            return "judge"
        if is_of_the_agent(anchors, stream):
            return "agent"
    return "undecided"


def _cases(random: np.random.Generator, number: int, wrong: float, worse: float) -> Judgings:
    """Cases of which a tenth is unsafe, and `worse` more of the new ones, judged as wrongly as the anchors."""

    def judged(unsafe: float, rate: float) -> Array:
        truth = random.random(number) < unsafe
        return np.where(truth ^ (random.random(number) < rate), 2, 0)

    none = np.full(number, SILENT)
    return Judgings(judged(0.1, 0.1), judged(0.1 + worse, wrong), none, none)


SECTIONS = {"calm": calm, "delays": found_after, "balanced": balanced, "attribution": attribution}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--section", choices=SECTIONS, action="append")
    asked = parser.parse_args()
    for name in asked.section or SECTIONS:
        began = time.process_time()
        for line in SECTIONS[name](asked.streams):
            print(line, flush=True)
        print(f"({name}: {time.process_time() - began:.0f} CPU-s)", flush=True)


if __name__ == "__main__":
    main()
