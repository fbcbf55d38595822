"""Bets on pairs of judgings: their values, their law, and what they say of simulated judges."""

from math import comb

import numpy as np
import pytest

from jury_analysis import (
    COINS,
    OF_A_STREAM,
    SILENT,
    Change,
    DriftWatch,
    Judgings,
    Toss,
    first_alarms,
    is_of_the_agent,
    log_bet,
    mixture,
    sides,
    simulated,
    tosses,
)
from support.each_row import each_row


def e_value(n: int, k: int, *, odd: bool = False) -> float:
    return float(np.exp(log_bet(np.array(n), np.array(k), odd=odd)))


@each_row(("n", "k", "value"), [(10, 5, 0.246094), (6, 6, 14.4375), (20, 16, 8.282032), (8, 8, 50.273438), (0, 0, 1.0)])
def test_the_bet_on_a_fair_coin_has_its_value_to_a_millionth(n: int, k: int, value: float) -> None:
    assert value == pytest.approx(e_value(n, k), abs=1e-6)
    assert e_value(n, n - k) == pytest.approx(e_value(n, k), rel=1e-12)


@each_row("n", [1, 2, 7, 40])
def test_a_bet_is_worth_one_where_nothing_drifts(n: int) -> None:
    """The law of an e-value, exactly: over all outcomes of fair tosses its mean is 1."""
    fair = sum(comb(n, k) * 0.5**n * e_value(n, k) for k in range(n + 1))
    odd = sum(comb(n, k) * (1 / 3) ** k * (2 / 3) ** (n - k) * e_value(n, k, odd=True) for k in range(n + 1))

    assert (1.0, 1.0) == pytest.approx((fair, odd), abs=1e-9)


def test_bets_begun_at_each_check_are_worth_one_too() -> None:
    """Two checks of three tosses: one bet begins at each, and the weight of those that never begin stays."""
    worth = 0.0
    for first in range(4):
        for second in range(4):
            e, _ = mixture(np.array([6, 3]), np.array([first + second, second]))
            worth += comb(3, first) * comb(3, second) * 0.5**6 * float(e)

    assert 1.0 == pytest.approx(worth, abs=1e-9)


def test_which_judgings_are_tosses_and_on_which_side_they_fall() -> None:
    """Rows: the draw, the new judging, the label, the second draw; what each coin says, `-` for no toss."""
    rows = {
        (0, 2, 0, 0): ("stricter", "farther", "new", "-"),
        (2, 0, 0, 0): ("milder", "nearer", "old", "-"),
        (1, 0, 2, 1): ("milder", "farther", "new", "-"),
        (0, 2, 1, 1): ("stricter", "-", "-", "-"),  # as far as before, and three judgings differ
        (0, 0, 2, 2): ("-", "-", "old", "-"),
        (1, 1, 2, 1): ("-", "-", "-", "-"),
        (0, SILENT, 0, 0): ("-", "-", "-", "silent"),
        (SILENT, 2, 0, 0): ("-", "-", "-", "answers"),
        (0, 2, SILENT, SILENT): ("stricter", "-", "-", "-"),
    }
    found = Judgings(*np.array(list(rows)).T)
    said = {"direction": ("milder", "stricter"), "distance": ("nearer", "farther"), "odd": ("old", "new")}
    words = {**said, "silence": ("answers", "silent")}

    def word(coin, place):
        counts, ones = sides(coin, found)
        return words[coin][int(ones[place])] if counts[place] else "-"

    assert list(rows.values()) == [tuple(word(coin, place) for coin in COINS) for place in range(len(rows))]
    assert Toss(5, 3, 9) == tosses(found)["direction"]
    assert Toss(1, 1, 1) == tosses(found, by_check=True)["direction"]


def test_a_calm_judge_seldom_alarms_over_a_thousand_checks() -> None:
    alarms = first_alarms(Change(0.1, 0.1), 4, 1000, 1000, alpha=0.05, streams=20)

    assert (alarms > 0).mean() <= 0.05


@pytest.mark.parametrize(
    ("change", "calm", "soonest", "latest"),
    [
        # Checks of 20 pairs; medians of simulated judges that `benchmarks/drift.py` prints by pairs.
        (Change(0.1, 0.3), 0, 3, 6),
        (Change(0.1, 0.3), 15, 4, 8),
        (Change(0.05, 0.05, flipped=0.1), 0, 5, 14),
    ],
)
def test_a_change_is_found_as_soon_as_the_figures_say(change: Change, calm: int, soonest: int, latest: int) -> None:
    alarms = first_alarms(change, 20, calm, calm + 60, alpha=0.05, streams=40)
    after = np.where(alarms > calm, alarms - calm, 60)

    assert soonest <= np.median(after) <= latest
    assert ((0 < alarms) & (alarms <= calm)).mean() <= 0.05


@pytest.mark.parametrize(("judge", "worse", "named"), [(0.3, 0.0, "judge"), (0.1, 0.4, "agent")])
def test_who_drifted_is_named_rightly(judge: float, worse: float, named: str) -> None:
    """Streams in which one of them changed after 10 checks; at most 7 % are put down to the other."""
    random = np.random.default_rng(7)
    found = [_named(random, judge, worse) for _ in range(20)]

    assert found.count(named) > len(found) // 2
    assert sum(one not in {named, "not decided"} for one in found) <= 0.07 * len(found)


@pytest.mark.parametrize(("each_way", "named"), [(5, None), (19, None), (20, True)])
def test_calm_anchors_clear_the_judge_once_four_times_as_many_differed(each_way: int, named: bool | None) -> None:
    """Of 100 cases ten moved one way; as large a share of the anchors may have, by its interval."""
    anchors, stream = DriftWatch(20), DriftWatch(20, OF_A_STREAM)
    none = dict.fromkeys(COINS, Toss(of=100))
    anchors.add({**none, "direction": Toss(2 * each_way, each_way, 100)})
    stream.add({**none, "direction": Toss(10, 10, 100)})

    assert (None, 1) == (anchors.alarm, stream.alarm)
    assert named == is_of_the_agent(anchors, stream)


def _named(random: np.random.Generator, wrong: float, worse: float) -> str:
    anchors, stream = DriftWatch(20), DriftWatch(20, OF_A_STREAM)
    for check in range(60):
        now = check >= 10
        anchors.add(tosses(simulated(random, (20,), Change(0.1, wrong), changed=now)))
        none = np.full(20, SILENT)
        before, after = (
            np.where((random.random(20) < unsafe) ^ (random.random(20) < rate), 2, 0)
            for unsafe, rate in ((0.1, 0.1), (0.1 + worse * now, wrong if now else 0.1))
        )
        stream.add(tosses(Judgings(before, after, none, none), OF_A_STREAM))
        if anchors.alarm is not None:
            return "judge"
        if is_of_the_agent(anchors, stream):
            return "agent"
    return "not decided"


def test_a_wrong_direction_is_not_said_and_a_change_both_ways_is() -> None:
    stricter, both = DriftWatch(20), DriftWatch(20)
    label = np.zeros(12, int)
    always, turn = np.full(12, 2), np.arange(12) % 2 * 2
    stricter.add(tosses(Judgings(label, label, label, label)))
    stricter.add(tosses(Judgings(label, always, label + 1, label)))
    both.add(tosses(Judgings(turn, 2 - turn, label + 1, turn)))

    assert (("stricter",), 2, 2) == (stricter.kinds, stricter.alarm, stricter.strongest.since)
    assert ("balanced",) == both.kinds
