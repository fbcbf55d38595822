"""Whether the acceptance of a verdict is the same whatever the missing seats answer: bounds of each signal.

share, isotonic, probability: they ascend with the votes for the verdict; missing seats vote for it, with a probability
of 1, or not. votes+step: at most all
missing seats name the step that leads, at least all of them name the one that follows. weights, dawid_skene: the chance
of a label follows from the differences of its sum to those of the others, to which each missing seat adds at least and
at most what one of its possible votes adds. Sums are linear in confidences and scores, so the least and the greatest
are enough.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import product

from jury_events.calibration import (
    Calibration,
    DawidSkeneSignal,
    SignalVote,
    VotesStepSignal,
    WeightsSignal,
)
from jury_events.verdict import PASS, REVIEW, Verdict

_SLACK = 1e-8
"""More than a signal is rounded by; the sums of bounds are made in another order than those of a signal."""

_LEAST = 1e-10
"""In place of the chance 0, as in `jury_events.calibration`."""

_OTHER = "another verdict"
"""Stands for every verdict that a signal does not name; no label has a space."""

_BEST_SCORE = 100.0

Bounds = tuple[float, float]
Sums = Mapping[str, float]
"""What is added up for each label."""


def settles_acceptance(
    calibration: Calibration | None, verdict: Verdict, votes: Sequence[SignalVote], missing: Collection[str]
) -> bool:
    """Whether the verdict is accepted, or is not, whatever the missing seats answer.

    Args:
        calibration: of the panel; None: every verdict stands.
        verdict: that no answer of them changes.
        votes: of every seat of the panel; those of the missing ones are not read.
        missing: the juror ids of the seats that were not asked.
    """
    if calibration is None or verdict is REVIEW or (threshold := calibration.threshold_for(verdict)) is None:
        return True
    if calibration.on == "false_pass" and verdict is not PASS:
        return True
    low, high = _bounds(calibration, verdict, votes, missing)
    return low >= threshold or high < threshold


def _bounds(
    calibration: Calibration, verdict: Verdict, votes: Sequence[SignalVote], missing: Collection[str]
) -> Bounds:
    signal = calibration.signal
    if isinstance(signal, WeightsSignal):
        return _weights_bounds(signal, verdict, votes, missing)
    if isinstance(signal, DawidSkeneSignal):
        return _posterior_bounds(signal, verdict, votes, missing)
    least: list[SignalVote] = [SignalVote(one.seat, None) if one.seat in missing else one for one in votes]
    leading = following = None
    if isinstance(signal, VotesStepSignal) and verdict != signal.passing:
        leading, following = _steps(verdict, least)
        least = [SignalVote(one.seat, verdict, step=following) if one.seat in missing else one for one in votes]
    most = [
        SignalVote(one.seat, verdict, confidence=1.0, step=leading) if one.seat in missing else one for one in votes
    ]
    return signal.probability(verdict, least), signal.probability(verdict, most)


def _steps(verdict: Verdict, votes: Sequence[SignalVote]) -> tuple[int, int]:
    """The step that most of the votes for the verdict name, and the one that follows; others where there is none."""
    named = Counter(one.step for one in votes if one.verdict == verdict and one.step is not None)
    unnamed = max(named, default=0) + 1
    (leading, _), (following, _) = (*named.most_common(2), (unnamed, 0), (unnamed + 1, 0))[:2]
    return leading, following


def _weights_bounds(
    signal: WeightsSignal, verdict: Verdict, votes: Sequence[SignalVote], missing: Collection[str]
) -> Bounds:
    def added(seat: str, vote: SignalVote) -> Sums:
        sums = dict.fromkeys(signal.labels, 0.0)
        for one in signal.inputs:
            if one.seat == seat:
                value = signal.values(one, [vote])
                sums = {label: sums[label] + weight * value for label, weight in zip(sums, one.weights, strict=False)}
        return sums

    start = dict(zip(signal.labels, signal.intercepts, strict=False))
    named = {one.verdict for one in signal.inputs if one.verdict is not None}
    words = [*sorted(named | set(signal.labels)), _OTHER]
    ends = list(product(words, (0.0, 1.0), (0.0, _BEST_SCORE)))
    known = [added(one.seat, one) for one in votes if one.seat not in missing]
    open_seats = [
        [added(seat, SignalVote(seat, None)), *(added(seat, SignalVote(seat, *end)) for end in ends)]
        for seat in sorted(missing)
    ]
    return _chance_bounds([start, *known], open_seats, verdict)


def _posterior_bounds(
    signal: DawidSkeneSignal, verdict: Verdict, votes: Sequence[SignalVote], missing: Collection[str]
) -> Bounds:
    rows = {one.seat: one.chances for one in signal.seats}

    def added(seat: str, given: str | None) -> Sums:
        if seat not in rows or given not in signal.verdicts:
            return dict.fromkeys(signal.verdicts, 0.0)
        column = signal.verdicts.index(given)
        return {
            label: math.log(max(row[column] if column < len(row) else 0.0, _LEAST))
            for label, row in zip(signal.verdicts, rows[seat], strict=False)
        }

    start = {label: math.log(max(one, _LEAST)) for label, one in zip(signal.verdicts, signal.prior, strict=False)}
    known = [added(one.seat, one.verdict) for one in votes if one.seat not in missing]
    open_seats = [[added(seat, given) for given in (None, *signal.verdicts)] for seat in sorted(missing)]
    return _chance_bounds([start, *known], open_seats, verdict)


def _chance_bounds(known: Sequence[Sums], open_seats: Sequence[Sequence[Sums]], verdict: Verdict) -> Bounds:
    """The least and the greatest chance of the verdict, where each open seat adds one of its sums."""
    if verdict not in known[0]:
        return 0.0, 0.0
    least, most = [0.0], [0.0]
    for label in known[0]:
        if label == verdict:
            continue
        before = math.fsum(_ahead(one, label, verdict) for one in known)
        options = [[_ahead(one, label, verdict) for one in seat] for seat in open_seats]
        least.append(before + math.fsum(map(max, options)))
        most.append(before + math.fsum(map(min, options)))
    return _first_of(least) - _SLACK, _first_of(most) + _SLACK


def _ahead(sums: Sums, label: str, verdict: str) -> float:
    return sums.get(label, 0.0) - sums.get(verdict, 0.0)


def _first_of(sums: Sequence[float]) -> float:
    """The first of the chances that belong to these sums."""
    top = max(sums)
    return math.exp(sums[0] - top) / math.fsum(math.exp(one - top) for one in sums)
