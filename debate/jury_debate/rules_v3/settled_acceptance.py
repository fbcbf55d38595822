"""Whether the acceptance of a verdict is the same whatever the missing seats answer: bounds of each signal.

share, isotonic: they ascend with the votes for the verdict; missing seats vote for it, or not. votes+step: at most all
missing seats name the step that leads, at least all of them name the one that follows. weights, dawid_skene: the sums
of each label lie between those with the least and the most that each missing seat can add; the chance of a label is
least where its sum is least and the others' are most.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from jury_events.calibration import (
    Calibration,
    DawidSkeneSignal,
    SignalVote,
    VotesStepSignal,
    WeightedInput,
    WeightsSignal,
)
from jury_events.verdict import Verdict

_SLACK = 1e-8
"""More than a signal is rounded by; the sums of bounds are made in another order than those of a signal."""

_LEAST = 1e-10
"""In place of the chance 0, as in `jury_events.calibration`."""

Bounds = tuple[float, float]


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
    if calibration is None or verdict is Verdict.NEEDS_REVIEW:
        return True
    if calibration.on == "false_pass" and verdict is not Verdict.SAFE_PASS:
        return True
    low, high = _bounds(calibration, verdict, votes, missing)
    return low >= calibration.threshold or high < calibration.threshold


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
    most = [SignalVote(one.seat, verdict, step=leading) if one.seat in missing else one for one in votes]
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
    sums = {label: (start, start) for label, start in zip(signal.labels, signal.intercepts, strict=False)}
    for one in signal.inputs:
        value = signal.values(one, votes)
        low, high = _input_bounds(signal, one) if one.seat in missing else (value, value)
        for label, weight in zip(signal.labels, one.weights, strict=False):
            least, most = sums[label]
            ends = (weight * low, weight * high)
            sums[label] = (least + min(ends), most + max(ends))
    return _chance_bounds(sums, verdict)


def _input_bounds(signal: WeightsSignal, one: WeightedInput) -> Bounds:
    return (-1.0, 1.0) if one.input == "score" else (-1.0 / (signal.verdicts - 1), 1.0)


def _posterior_bounds(
    signal: DawidSkeneSignal, verdict: Verdict, votes: Sequence[SignalVote], missing: Collection[str]
) -> Bounds:
    starts = [math.log(max(chance, _LEAST)) for chance in signal.prior]
    sums = {label: (start, start) for label, start in zip(signal.verdicts, starts, strict=False)}
    given = {one.seat: one.verdict for one in votes if one.seat not in missing}
    for seat in signal.seats:
        for label, row in zip(signal.verdicts, seat.chances, strict=False):
            logs = [math.log(max(chance, _LEAST)) for chance in row]
            if seat.seat in missing:
                # No vote adds nothing; a verdict without a column counts as the least chance.
                added = (min(0.0, math.log(_LEAST), *logs), max(0.0, *logs))
            else:
                verdict_given = given.get(seat.seat)
                if verdict_given not in signal.verdicts:
                    continue
                column = signal.verdicts.index(verdict_given)
                one = logs[column] if column < len(logs) else math.log(_LEAST)
                added = (one, one)
            least, most = sums[label]
            sums[label] = (least + added[0], most + added[1])
    return _chance_bounds(sums, verdict)


def _chance_bounds(sums: Mapping[str, Bounds], verdict: Verdict) -> Bounds:
    if verdict not in sums:
        return 0.0, 0.0
    least, most = sums[verdict]
    others = [bounds for label, bounds in sums.items() if label != verdict]
    low = _softmax_first(least, [high for _, high in others])
    high = _softmax_first(most, [low for low, _ in others])
    return low - _SLACK, high + _SLACK


def _softmax_first(first: float, others: Sequence[float]) -> float:
    top = max(first, *others) if others else first
    own = math.exp(first - top)
    return own / math.fsum([own, *(math.exp(one - top) for one in others)])
