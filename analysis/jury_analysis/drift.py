"""Has a judge changed? Bets on pairs of judgings of cases with known labels (*anchors*), and what a check comes to.

An anchor was judged several times when the baseline was made. Each such draw is paired with one later judging of the
same anchor and used up by it. Without drift both members have the same distribution, so whichever way they differ is a
fair coin. Bets on it are e-values: whatever the base rates are, and however long one watches, the chance that one ever
reaches 1/α is at most α (Ville). "Who Drifted: the System or the Judge?" (arXiv 2606.15474) has the idea of anchors;
pairs need no estimate of a base rate.

What must hold outside of this module: anchors, draws and their order are recorded before the first judging, the pairs
of a check before its first call, and nothing is computed before all judgings of a check have ended.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from jury_analysis.certificate import clopper_pearson
from jury_events.drift_events import (
    ChangedAnchor,
    ChangedFact,
    CoinFigures,
    DriftCoin,
    DriftDecision,
    DriftKind,
    DriftOpened,
    DriftVerdict,
    SeatAnswers,
    WatchedFigures,
)
from jury_events.drift_facts import DriftCheck
from jury_events.verdict import FAIL, PASS, REVIEW

Array = np.ndarray[Any, np.dtype[Any]]

COINS: tuple[DriftCoin, ...] = ("direction", "distance", "odd", "silence")
"""What a pair is looked at for: milder or stricter; nearer to or farther from the label; which of three judgings
differs from the other two; which member has no verdict of its own."""

OF_A_STREAM: tuple[DriftCoin, ...] = ("direction", "silence")
"""Cases of a stream have no labels, and each of them is judged once."""

FOUR = 4
"""How many times the discordant pairs of a stream the anchors must have had before their calm says anything: with as
many, one in six streams in which only the judge drifted would be put down to the agent; with four times, one in twenty.
"""

_SIDES: dict[DriftCoin, tuple[DriftKind, DriftKind]] = {
    "direction": ("milder", "stricter"),
    "distance": ("nearer", "farther"),
    "odd": ("balanced", "balanced"),
    "silence": ("answering", "silent"),
}
"""What a coin says: 0, 1."""


class Toss(NamedTuple):
    """What judgings say on one coin: of the `n` that differ, `k` came out as 1; `of`: how many were compared."""

    n: int = 0
    k: int = 0
    of: int = 0


SILENT = -1
"""The outcome of a judging without a verdict of its own: none, synthetic, abstained, or by a fallback."""


class Judgings(NamedTuple):
    """Later judgings of anchors, each beside the draws that it uses up: arrays of one shape.

    Outcomes are 0 (pass), 1 (review), 2 (fail), or `SILENT`, which a missing label is too. `second`: a further draw,
    with which the three are looked at for the odd one; where there is none, `SILENT`.
    """

    pair: Array
    new: Array
    label: Array
    second: Array


class CoinEvidence(NamedTuple):
    """Where the bets on one coin stand.

    Attributes:
        coin: what was bet on.
        e: the e-value now: the mean over processes begun at each check.
        highest: the highest that it ever was.
        n: discordant judgings in all.
        k: of these, how many came out as 1.
        since: the check from which on the judgings said most when it was highest, from 1.
        recent: the discordant judgings from then on until it was highest.
    """

    coin: DriftCoin
    e: float
    highest: float
    n: int
    k: int
    since: int
    recent: Toss

    @property
    def kind(self) -> DriftKind:
        """What it says, if it says anything."""
        return _SIDES[self.coin][2 * self.recent.k > self.recent.n]


def log_bet(n: Array, k: Array, *, odd: bool = False) -> Array:
    """The logarithm of the bet that a coin is not fair, after `n` tosses of which `k` came out as 1.

    Beta(1/2, 1/2) over the coin's chance: 2^n B(k+1/2, n-k+1/2) / B(1/2, 1/2).

    Args:
        n: tosses; an array of any shape, of integers.
        k: how many came out as 1.
        odd: in each of `n` triples exactly one judging differs, in `k` of them the new one: Beta(1, 2) over the chance
            of that, against a third.
    """
    halves, wholes = _table(max(int(n.max(initial=0)) + 2, 1).bit_length())
    found: Array
    if odd:
        found = np.log(2) + wholes[k] + wholes[n - k + 1] - wholes[n + 2] + n * np.log(1.5) + k * np.log(2)
    else:
        found = n * np.log(2) + halves[k] + halves[n - k] - wholes[n] - np.log(np.pi)
    return found


def mixture(n: Array, k: Array, *, odd: bool = False) -> tuple[Array, Array]:
    """The mean of bets begun at several moments, with the weights 1/(j(j+1)): a late change is found sooner.

    Args:
        n: in the last axis, the tosses since each process began, in their order; 0 where it has not.
        k: how many of them came out as 1.

    Returns:
        The e-values, without the last axis, and which process says most, from 0: of several the last.
    """
    numbers = np.arange(1, n.shape[-1] + 1)
    each = log_bet(n, k, odd=odd)
    parts = each - np.log(numbers * (numbers + 1.0))
    e = np.exp(np.minimum(parts, _MOST)).sum(axis=-1) + 1 / (n.shape[-1] + 1)
    return e, n.shape[-1] - 1 - each[..., ::-1].argmax(axis=-1)


def sides(coin: DriftCoin, found: Judgings) -> tuple[Array, Array]:
    """Which judgings are tosses of a coin, and which of these come out as 1: stricter, farther, the new one, silent."""
    old, new = found.pair, found.new
    silent_before, silent_now = old == SILENT, new == SILENT
    if coin == "silence":
        return silent_before != silent_now, silent_now & ~silent_before
    both = ~silent_before & ~silent_now
    if coin == "direction":
        return both & (old != new), both & (new > old)
    if coin == "distance":
        before, now = abs(old - found.label), abs(new - found.label)
        known = both & (found.label != SILENT)
        return known & (before != now), known & (now > before)
    three = both & (found.second != SILENT)
    new_differs = three & (old == found.second) & (new != old)
    return new_differs | (three & (old != found.second) & ((new == old) | (new == found.second))), new_differs


def tosses(found: Judgings, coins: Sequence[DriftCoin] = COINS, *, by_check: bool = False) -> dict[DriftCoin, Toss]:
    """What the judgings of one check say on each coin.

    Args:
        found: all of the check, each of which has ended.
        by_check: the whole check is one toss, by the majority of its judgings: what differs from day to day for all
            anchors together is then no evidence. The odd one has no such form and says nothing.
    """
    counted: dict[DriftCoin, Toss] = {}
    for coin in coins:
        n, k = (int(one.sum()) for one in sides(coin, found))
        of = len(found.new)
        if by_check:
            n, k, of = (0, 0, 1) if coin == "odd" or 2 * k == n else (1, int(2 * k > n), 1)
        counted[coin] = Toss(n, k, of)
    return counted


class DriftWatch:
    """Bets on one judge, check by check.

    Args:
        bound: the e-value that is an alarm: 1/α, of one of m that are watched m/α.
    """

    def __init__(self, bound: float, coins: Sequence[DriftCoin] = COINS) -> None:
        self.bound, self.coins = bound, tuple(coins)
        self.checks: list[dict[DriftCoin, Toss]] = []
        self.alarm: int | None = None
        self._sums: dict[DriftCoin, list[tuple[int, int]]] = {coin: [(0, 0)] for coin in coins}
        self.found = {coin: CoinEvidence(coin, 1.0, 1.0, 0, 0, 1, Toss()) for coin in coins}

    @property
    def e(self) -> float:
        """The mean of the coins' e-values, which is an e-value; 1 before the first check."""
        return sum(one.e for one in self.found.values()) / len(self.found)

    @property
    def strongest(self) -> CoinEvidence:
        """The coin that said most."""
        return max(self.found.values(), key=lambda one: one.highest)

    @property
    def kinds(self) -> tuple[DriftKind, ...]:
        """How it changed, what is surest first; () without an alarm.

        A change in one direction also makes the new judging the odd one: *balanced* is said where nothing else is.
        """
        if self.alarm is None:
            return ()
        sure = sorted((one for one in self.found.values() if one.highest >= self.bound), key=lambda one: -one.highest)
        kinds = tuple(one.kind for one in sure)
        return tuple(kind for kind in kinds if kind != "balanced") or kinds

    def add(self, tossed: dict[DriftCoin, Toss]) -> None:
        """Take in a check: what `tosses` says of it."""
        self.checks.append(tossed)
        for coin, sums in self._sums.items():
            n, k = sums[-1][0] + tossed[coin].n, sums[-1][1] + tossed[coin].k
            begun = np.array(sums)
            e, leading = mixture(n - begun[:, 0], k - begun[:, 1], odd=coin == "odd")
            sums.append((n, k))
            now, before = float(e), self.found[coin]
            if now >= before.highest:
                since = int(leading)
                recent = Toss(n - sums[since][0], k - sums[since][1])
                self.found[coin] = CoinEvidence(coin, now, now, n, k, since + 1, recent)
            else:
                self.found[coin] = before._replace(e=now, n=n, k=k)
        if self.alarm is None and self.e >= self.bound:
            self.alarm = len(self.checks)


def is_of_the_agent(anchors: DriftWatch, stream: DriftWatch) -> bool | None:
    """Whether a change of a stream is of the agent or its traffic, as far as anchors without an alarm show.

    It is where the anchors had four times the discordant pairs that the stream had at its alarm, counted from the check
    on from which the alarm comes; or where at most a smaller share of the anchors moved in the stream's direction than
    of the stream moved in it at least, by exact bounds at 97.5 %.

    Args:
        anchors: of the jury, with the same checks.

    Returns:
        None: neither, so that the judge may be the cause. False: the stream has no alarm.
    """
    if stream.alarm is None:
        return False
    coin, since = stream.strongest.coin, stream.strongest.since
    moved, calm = stream.checks[since - 1 : stream.alarm], anchors.checks[since - 1 :]
    enough = sum(map(_discordant, calm)) >= FOUR * sum(map(_discordant, moved))
    return enough or _moved_at_most(calm, coin, stream.strongest) < _moved_at_least(moved, coin) or None


def _discordant(tossed: dict[DriftCoin, Toss]) -> int:
    return tossed["direction"].n + tossed["silence"].n


def _moved_at_least(checks: Sequence[dict[DriftCoin, Toss]], coin: DriftCoin) -> float:
    """The lower bound of the share of pairs that moved where more of them did, less those that moved the other way."""
    n, k, of = _summed(checks, coin)
    most = max(k, n - k)
    return 1 - clopper_pearson(of - most, of, _BOUND) - clopper_pearson(n - most, of, _BOUND) if of else 0.0


def _moved_at_most(checks: Sequence[dict[DriftCoin, Toss]], coin: DriftCoin, found: CoinEvidence) -> float:
    """The upper bound of the share of pairs that moved in the direction of the evidence."""
    n, k, of = _summed(checks, coin)
    moved = k if 2 * found.recent.k > found.recent.n else n - k
    return clopper_pearson(moved, of, _BOUND) if of else 1.0


def _summed(checks: Sequence[dict[DriftCoin, Toss]], coin: DriftCoin) -> Toss:
    return Toss(*(sum(each) for each in zip(*(one[coin] for one in checks), strict=True))) if checks else Toss()


_BOUND = 0.975
_MOST = 700.0
"""The largest exponent: e^700 is still a float."""


@lru_cache(maxsize=32)
def _table(bits: int) -> tuple[Array, Array]:
    """log Γ(i + 1/2) and log Γ(i + 1) for i from 0 to 2^bits."""
    numbers = np.arange(1, 2**bits + 1)
    halves = np.concatenate([[0.0], np.cumsum(np.log(numbers - 0.5))]) + np.log(np.pi) / 2
    return halves, np.concatenate([[0.0], np.cumsum(np.log(numbers))])


JURY, STREAM = "jury", "stream"
_OUTCOME = {"p": 0, "r": 1, "f": 2, "-": SILENT}
_ORDER = (PASS, REVIEW, FAIL)


class DriftDecider:
    """Decides the checks of one baseline, in their order.

    The jury is an alarm at 1/α. Each of the seats, by its first votes, at m/α, where m counts the seats and the jury.
    """

    def __init__(self, opened: DriftOpened) -> None:
        self._opened = opened
        coins = COINS if opened.used > 1 and opened.tossed == "pair" else tuple(one for one in COINS if one != "odd")
        bound, seats = 1 / opened.alpha, opened.seats
        self.watched = {
            JURY: DriftWatch(bound, coins),
            **{f"seat/{seat.juror_id}": DriftWatch((len(seats) + 1) * bound, coins) for seat in seats},
        }
        if opened.stream is not None:
            self.watched[STREAM] = DriftWatch(bound, OF_A_STREAM)
        self._labels = [_ORDER.index(anchor.label) for anchor in opened.anchors]

    def decide(
        self,
        baseline: Sequence[Sequence[SeatAnswers]],
        check: DriftCheck,
        votes: Sequence[str],
        stream_votes: Sequence[str],
        answered: Sequence[SeatAnswers],
    ) -> DriftDecision:
        """The decision of the next check that ended.

        Args:
            baseline: who answered in its sessions so far.
            check: its pairs and the draws that they use up.
            votes: of its pairs, as of `CheckEnded`, as are the others.
        """
        for place, watch in enumerate(self.watched.values()):
            found = _of_stream(stream_votes) if place > len(self._opened.seats) else self._judged(check, votes, place)
            watch.add(tosses(found, watch.coins, by_check=self._opened.tossed == "check"))
        changed = tuple(changed_facts(baseline, answered))
        return DriftDecision(
            verdict=self._verdict(changed),
            facts=changed,
            watched=tuple(_figures(name, watch) for name, watch in self.watched.items()),
            anchors=tuple(self._changed_anchors(check, votes)),
        )

    def _judged(self, check: DriftCheck, votes: Sequence[str], place: int) -> Judgings:
        return Judgings(
            _outcomes(draws[0][place] for draws in check.draws),
            _outcomes(new[place] for new in votes),
            np.array([self._labels[pair.anchor] for pair in check.opened.pairs], int),
            _outcomes(draws[1][place] if len(draws) > 1 else "-" for draws in check.draws),
        )

    def _verdict(self, changed: Sequence[ChangedFact]) -> DriftVerdict:
        stream = self.watched.get(STREAM)
        judges = (watch for name, watch in self.watched.items() if name != STREAM)
        if changed or any(watch.alarm is not None for watch in judges):
            return "judge"
        if stream is None or (of_agent := is_of_the_agent(self.watched[JURY], stream)) is False:
            return "none"
        return "agent_or_traffic" if of_agent else "not_decided"

    def _changed_anchors(self, check: DriftCheck, votes: Sequence[str]) -> Iterator[ChangedAnchor]:
        for pair, usual, new in zip(check.opened.pairs, check.usual, votes, strict=True):
            if usual is not None and usual != new[0]:
                yield ChangedAnchor(case_id=self._opened.anchors[pair.anchor].case_id, before=usual, now=new[0])


def _of_stream(votes: Sequence[str]) -> Judgings:
    none = np.full(len(votes), SILENT)
    return Judgings(_outcomes(one[0] for one in votes), _outcomes(one[1] for one in votes), none, none)


def _outcomes(letters: Iterable[str]) -> Array:
    return np.array([_OUTCOME[letter] for letter in letters], int)


def changed_facts(baseline: Iterable[Iterable[SeatAnswers]], answered: Iterable[SeatAnswers]) -> Iterator[ChangedFact]:
    """What answered now and never in the baseline; a seat of which the baseline knows nothing says nothing."""
    known: dict[tuple[str | None, str], set[str]] = {}
    for session in baseline:
        for one in session:
            known.setdefault((one.juror_id, "model"), set()).update(one.versions)
            known.setdefault((one.juror_id, "fingerprint"), set()).update(one.fingerprints)
    for one in answered:
        for what, now in (("model", one.versions), ("fingerprint", one.fingerprints)):
            before = known.get((one.juror_id, what), set())
            if before and (new := sorted({*now} - before)):
                yield ChangedFact(
                    juror_id=one.juror_id,
                    what="model" if what == "model" else "fingerprint",
                    before=tuple(sorted(before)),
                    now=tuple(new),
                )


def _figures(name: str, watch: DriftWatch) -> WatchedFigures:
    alarm = watch.alarm
    return WatchedFigures(
        name=name,
        e=_kept(watch.e),
        bound=watch.bound,
        alarm=alarm,
        since=None if alarm is None else watch.strongest.since,
        kinds=watch.kinds,
        coins=tuple(CoinFigures(coin=one.coin, e=_kept(one.e), n=one.n, k=one.k) for one in watch.found.values()),
    )


def _kept(e: float) -> float:
    """Ten digits: what two machines compute alike."""
    return float(f"{min(e, 1e300):.10g}")
