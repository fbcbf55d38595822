"""What a baseline of drift checks would find, how soon, and how long its draws last: from simulated judges."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jury_analysis.drift import COINS, Array, Judgings, mixture, sides
from jury_events.drift_events import DriftCoin

_PASS, _FAIL = 0, 2
_STREAMS = 200
_MOST_CHECKS = 60
_SEED = 20260927


class Change(NamedTuple):
    """A judge that is wrong on a share of its judgings, before and after it changed.

    `flipped`: this share of the anchors is judged the other way round from then on, as many better as worse, as many
    milder as stricter.
    """

    before: float
    after: float
    flipped: float = 0.0


CHANGES = (Change(0.1, 0.3), Change(0.1, 0.2), Change(0.05, 0.25), Change(0.02, 0.1), Change(0.05, 0.05, flipped=0.1))


class Delay(NamedTuple):
    """How soon a change is found after a number of calm checks.

    Attributes:
        change: of the judge.
        calm: checks before it.
        checks: the median of the checks until the alarm; None: half of the judges are not found in 60.
        found: the share that is found in 60 checks.
    """

    change: Change
    calm: int
    checks: int | None
    found: float


class DriftPlan(NamedTuple):
    """What a plan comes to.

    Attributes:
        anchors: how many.
        pairs: of them a check judges.
        checks: for how many checks the draws last; None: for ever, as each judging is replaced.
        baseline: judgings of the baseline.
        judgings: of a check.
        delays: by change, first from the first check on, then after ten calm checks.
    """

    anchors: int
    pairs: int
    checks: int | None
    baseline: int
    judgings: int
    delays: tuple[Delay, ...]


def plan(
    anchors: int, draws: int, *, pairs: int | None = None, used: int = 2, further: int = 0, alpha: float
) -> DriftPlan:
    """What the jury's bets would find with so many anchors.

    Args:
        pairs: anchors that a check judges; None: all.
        used: draws that each judging uses up: 1 or 2.
        further: judgings of each anchor of a check that go to the end of the queue.
    """
    judged = pairs or anchors
    coins = COINS if used > 1 else tuple(coin for coin in COINS if coin != "odd")
    whole = anchors * (draws // used) // judged
    delays = []
    for calm in (0, 10):
        for change in CHANGES:
            alarms = first_alarms(change, judged, calm, calm + _MOST_CHECKS, alpha=alpha, coins=coins)
            after = np.where(alarms > calm, alarms - calm, np.where(alarms > 0, 0, _MOST_CHECKS + 1))
            median = int(np.median(after))
            found = float((after <= _MOST_CHECKS).mean())
            delays.append(Delay(change, calm, None if median > _MOST_CHECKS else max(median, 1), found))
    return DriftPlan(
        anchors, judged, None if further >= used else whole, anchors * draws, judged * (1 + further), tuple(delays)
    )


def first_alarms(
    change: Change,
    pairs: int,
    calm: int,
    checks: int,
    *,
    alpha: float,
    coins: Sequence[DriftCoin] = COINS,
    streams: int = _STREAMS,
    seed: int = _SEED,
) -> Array:
    """By simulated judge, the first check (from 1) at which the jury is an alarm; 0: it is at none.

    The labels are half passes, half fails.
    """
    random = np.random.default_rng(seed)
    sums = {coin: np.zeros((2, streams, checks + 1), int) for coin in coins}
    alarms = np.zeros(streams, int)
    for check in range(1, checks + 1):
        found = simulated(random, (streams, pairs), change, changed=check > calm)
        together = np.zeros(streams)
        for coin in coins:
            before = sums[coin][:, :, :check]
            now = before[..., -1] + np.stack([side.sum(axis=1) for side in sides(coin, found)])
            e, _ = mixture(*(now[..., None] - before), odd=coin == "odd")
            together += e / len(coins)
            sums[coin][..., check] = now
        alarms[(alarms == 0) & (together >= 1 / alpha)] = check
    return alarms


def simulated(random: np.random.Generator, shape: tuple[int, ...], change: Change, *, changed: bool) -> Judgings:
    """Judgings of anchors that are drawn anew for each."""
    label = np.where(random.random(shape) < 0.5, _FAIL, _PASS)  # noqa: PLR2004  (half of them)
    # Of anchors that flip, half are usually wrong before, so that the judge is as often right afterwards.
    flips = random.random(shape) < change.flipped
    usual = flips & (random.random(shape) < 0.5)  # noqa: PLR2004  (as said)

    def judged(rate: float, wrong: Array) -> Array:
        other = wrong ^ (random.random(shape) < rate)
        return np.where(other, _PASS + _FAIL - label, label)

    before = [judged(change.before, usual) for _ in range(2)]
    new = judged(change.after, usual ^ flips) if changed else judged(change.before, usual)
    return Judgings(before[0], new, label, before[1])
