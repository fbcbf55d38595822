"""What probes show: twins of cases that a fair juror judges like the case itself, judged by the same panel."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jury_analysis.ballots import check
from jury_analysis.calibration import clustered_bound
from jury_analysis.certificate import clopper_pearson
from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import ClusteredMean, clustered_mean, holm, proportion
from jury_analysis.paired import VerdictFlip
from jury_analysis.pairing import PairedOptions, Pairing
from jury_analysis.reasons import NO_TWO_VERDICTS, NO_VERDICT, OF_PROBE
from jury_analysis.report_object import ReportObject
from jury_analysis.scale import Exclusion, without_simulated
from jury_analysis.vote_matrix import Bools, Codes, Floats, VoteMatrix
from jury_analysis.wording import Reason
from jury_events.panel import Marking

_CONFIDENCE = 0.95


def sign_test(
    steps: npt.NDArray[np.int64], clusters: npt.NDArray[np.int32], *, one_sided: bool = False
) -> float | None:
    """Exact sign test (Conover 1971) that clusters go up as often as down; None if none goes anywhere.

    A cluster counts once, by the sign of its sum. With one pair a cluster, and flips as steps, it is the exact test of
    McNemar.

    Args:
        steps: [pairs], -1, 0 or 1.
        clusters: [pairs].
    """
    _, codes = np.unique(clusters, return_inverse=True)
    signs = np.sign(np.bincount(codes, weights=steps))
    down, up = int(np.count_nonzero(signs < 0)), int(np.count_nonzero(signs > 0))
    if not down + up:
        return None
    from scipy.stats import binomtest  # noqa: PLC0415  (part of an extra, and slow to import)

    return float(binomtest(down, down + up, alternative="greater" if one_sided else "two-sided").pvalue)


def upper_bound(successes: Bools, counted: Bools, clusters: npt.NDArray[np.int32]) -> float | None:
    """The one-sided 95 % bound of successes / counted units; None without a counted unit.

    With one unit a cluster it is exact (Clopper and Pearson 1934). Otherwise it is the larger one of the same bound at
    the effective number of units (Kish 1965; Korn and Graubard 1998) and `clustered_bound`.
    """
    passed, sizes = _cluster_sums(successes, counted, clusters)
    if not len(sizes):
        return None
    bound = clopper_pearson(*_effective(passed, sizes), _CONFIDENCE)
    if (sizes == 1).all():
        return bound
    # With few clusters, or few successes, t promises too much.
    return max(
        bound, clustered_bound(counted[counted], successes[counted], clusters[counted].astype(np.int64), _CONFIDENCE)
    )


def tolerance_test(successes: Bools, counted: Bools, clusters: npt.NDArray[np.int32], tolerated: float) -> float | None:
    """One-sided test that successes / counted units is at most `tolerated`; None without a counted unit.

    It is the counterpart of `upper_bound`. With one unit a cluster it is the exact binomial test. Otherwise its p value
    is the larger one of the same test at the effective number of units, and of the t that Σ (success - tolerated) over
    the units of a cluster has a mean of zero.
    """
    passed, sizes = _cluster_sums(successes, counted, clusters)
    if not len(sizes):
        return None
    if not passed.any():
        return 1.0
    from scipy.special import betainc  # noqa: PLC0415  (part of an extra, and slow to import)

    effective, units = _effective(passed, sizes)
    p_value = float(betainc(effective, units - effective + 1, tolerated))
    # A share of zero is refuted by any success, also where t has no p value.
    return p_value if (sizes == 1).all() or not tolerated else max(p_value, _t_test(passed - tolerated * sizes))


def _cluster_sums(successes: Bools, counted: Bools, clusters: npt.NDArray[np.int32]) -> tuple[Floats, Floats]:
    """[clusters with a counted unit] each: successes, and counted units."""
    _, codes = np.unique(clusters[counted], return_inverse=True)
    passed = np.bincount(codes, weights=successes[counted])
    return passed.astype(np.float64), np.bincount(codes).astype(np.float64)


def _effective(passed: Floats, sizes: Floats) -> tuple[float, float]:
    """Successes and units, of as many independent units as the clusters are worth if the units of each are all alike.

    The effective number of units is (Σ size)² / Σ size² (Kish 1965); the share of successes stays.
    """
    weight = float(sizes.sum() / np.square(sizes).sum())
    return float(passed.sum()) * weight, float(sizes.sum()) * weight


def _t_test(values: Floats) -> float:
    """One-sided p value of the t test that a mean is at most zero; 1 of a single value, which has no spread."""
    if len(values) < 2:  # noqa: PLR2004  (a single value has no spread)
        return 1.0
    from scipy.special import stdtr  # noqa: PLC0415  (part of an extra, and slow to import)

    error = values.std(ddof=1) / np.sqrt(len(values))
    return float(stdtr(len(values) - 1, -values.mean() / error)) if error else float(values.mean() <= 0)


LEVEL = 0.05
"""Of the corrected tests: below, a probe found something."""

TOLERATED = 0.05
"""Share of content-free answers that a juror may pass before it counts as a finding."""

Direction = Literal["verdict", "first speaker"]


class ProbeBallots(NamedTuple):
    """The ballots of one probe."""

    probe: str
    cases: pa.Table
    """Of the cases themselves."""
    twins: pa.Table
    """Of the twins, under the ids of their cases, without a variant."""
    texts: dict[str, str]
    """The text that the twin of a case has, by case, if the probe has several."""
    first_speakers: tuple[str, str] | None = None
    """Of a probe of the speakers: the seat that speaks first over the cases, and over the twins."""
    content_free: bool = False
    """The twins' answers have no content: no fair juror passes them."""
    only_lenient: bool = False
    """A juror may be stricter to the twins: only leniency is tested, one-sided."""
    marking: Marking | None = None
    """How judged text was marked; None: the probe does not compare it."""


@dataclass(frozen=True)
class FalsePasses:
    """Passes of answers without content."""

    text: str | None
    """One of the texts; None: all."""
    answers: int
    passes: int
    rate: Estimate
    upper_bound: float | None
    """Of the rate, one-sided 95 %: exact (Clopper and Pearson 1934) with one answer a cluster; see `upper_bound`."""
    p_value: float | None
    """One-sided, that the rate is at most the tolerated one: exact with one answer a cluster; see `tolerance_test`."""
    p_holm: float | None
    """Corrected for all tests of the report (Holm 1979)."""


@dataclass(frozen=True)
class ProbedRater:
    """What changes from the cases to their twins, for the jury or for one seat."""

    rater: Literal["jury", "seat"]
    seat: str | None
    """None: the jury's verdict."""
    pairs: int
    """Cases with a verdict on both."""
    flips: Estimate
    """Share of the pairs whose verdict differs."""
    by_direction: tuple[VerdictFlip, ...]
    direction: Direction
    """What the flips are counted towards: another verdict of the order, or the position of who spoke first."""
    towards_first: int | None
    """Flips to an earlier verdict of the order (ours: more lenient); or to the position of the first speaker. None
    without an order."""
    towards_last: int | None
    """Flips to a later verdict (ours: stricter); or away from the position of the first speaker."""
    p_value: float | None
    """Exact sign test over clusters, that flips go in either direction alike. One-sided where only one direction is a
    fault: towards the first speaker, or to leniency (`ProbeBallots.only_lenient`)."""
    p_holm: float | None
    score_shift: Estimate
    """Mean score of the twins - of the cases, over pairs with both."""
    score_p_value: float | None
    """Of a shift of zero, with the cluster-robust t; one-sided as `p_value`. None of speakers and of content-free
    answers."""
    score_p_holm: float | None
    false_passes: tuple[FalsePasses, ...]
    """Of a probe with content-free answers: over all texts, then of each; its flips are no test, as the twins must
    fail."""


@dataclass(frozen=True)
class ProbeEffect:
    """What one probe shows."""

    probe: str
    pairs: int
    """Cases that were judged, and their twins too."""
    clusters: int
    only_cases: int
    """Cases whose twin was not judged, or that have none."""
    jury: ProbedRater
    seats: tuple[ProbedRater, ...]
    found: tuple[str, ...]
    """What was found, in words; () if no corrected test is below 5 %."""
    marking: Marking | None = None
    """How judged text was marked on both sides of the pairs, of `injection` and `marking`."""


@dataclass(frozen=True)
class ProbeReport(ReportObject):
    """The report."""

    categories: tuple[str, ...]
    ordered: bool
    warnings: tuple[Reason, ...]
    """To be shown first."""
    excluded: tuple[Exclusion, ...]
    tolerated: float
    """Share of passed content-free answers that is not yet a finding."""
    tests: int
    """Tests that are corrected together."""
    probes: tuple[ProbeEffect, ...]


def probe_effects(
    probes: Sequence[ProbeBallots], options: PairedOptions | None = None, *, tolerated: float = TOLERATED
) -> ProbeReport:
    """Compare the verdicts on cases with those on their twins.

    A pair is a case and its twin. Verdicts of seats are those of the first evaluation, except for a probe of the
    speakers: there they are those of the first round of discussion. All tests are over clusters, and one family (Holm
    1979): the more probes and seats, the fewer false alarms each may raise.

    Args:
        probes: the ballots of each probe, of one panel each.
        options: the scale, and which votes count; the defaults if None.
        tolerated: share of passed content-free answers that is not yet a finding.
    """
    options = options or PairedOptions()
    effects: list[ProbeEffect] = []
    warnings: dict[Reason, None] = {}
    excluded: list[Exclusion] = []
    for probe in probes:
        samples = [without_simulated(check(table), include=options.simulated) for table in (probe.cases, probe.twins)]
        for sample in samples:
            warnings.update(dict.fromkeys(sample.warnings))
            excluded += [replace(one, reason=OF_PROBE(probe=probe.probe, reason=one.reason)) for one in sample.excluded]
        effects.append(_effect(probe, Pairing([sample.ballots for sample in samples], options), tolerated))
    tests = _tests(effects)
    return ProbeReport(
        categories=options.scale.categories,
        ordered=options.scale.ordered,
        warnings=tuple(warnings),
        excluded=tuple(excluded),
        tolerated=tolerated,
        tests=sum(p is not None for p in tests),
        probes=tuple(_corrected(effects, holm(tests), tolerated)),
    )


class _Twins(NamedTuple):
    """One rater over the pairs: arrays [pairs, 2]."""

    verdicts: Codes
    scores: Floats


def _effect(probe: ProbeBallots, joined: Pairing, tolerated: float) -> ProbeEffect:
    pairs = joined.pairs()
    votes = joined.matrix
    if probe.first_speakers is not None:
        votes = joined.of_round(1) or votes
    chosen = joined.chosen
    first = None if probe.first_speakers is None else _first_positions(joined, probe.first_speakers)
    texts = [probe.texts.get(joined.matrix.case_names[case], "") for case in joined.matrix.cases[chosen[0]]]
    how = _How(joined.matrix, pairs.clusters, first, texts, probe, tolerated)
    seats = tuple(
        _rater(how, name, _Twins(_both(votes.votes[:, place], chosen), _both(votes.scores[:, place], chosen)))
        for place, name in enumerate(votes.seats)
    )
    return ProbeEffect(
        probe=probe.probe,
        pairs=len(pairs.clusters),
        clusters=len(np.unique(pairs.clusters)),
        only_cases=joined.alone[0],
        jury=_rater(how, None, _Twins(pairs.verdicts, pairs.scores)),
        seats=seats,
        found=(),
        marking=probe.marking,
    )


class _How(NamedTuple):
    """What all raters of a probe share."""

    matrix: VoteMatrix
    clusters: npt.NDArray[np.int32]
    first_positions: Codes | None
    texts: list[str]
    probe: ProbeBallots
    tolerated: float

    @property
    def one_sided(self) -> bool:
        return self.first_positions is not None or self.probe.only_lenient


def _both(values: Any, chosen: tuple[Any, Any]) -> Any:
    return np.stack([values[chosen[0]], values[chosen[1]]], axis=1)


def _first_positions(joined: Pairing, speakers: tuple[str, str]) -> Codes:
    """[pairs, 2]: what the first speaker over the case, and that over the twin, said in the first evaluation."""
    places = [joined.matrix.seats.index(seat) for seat in speakers]
    return np.stack([joined.matrix.votes[units, place] for units, place in zip(joined.chosen, places, strict=True)], 1)


def _rater(how: _How, seat: str | None, twins: _Twins) -> ProbedRater:
    scale = how.matrix.scale
    before, after = twins.verdicts.T
    both = (before >= 0) & (after >= 0)
    flipped = both & (before != after)
    pairs = int(np.count_nonzero(both))
    steps = np.where(flipped, np.sign(after.astype(np.int64) - before), 0)
    if how.first_positions is not None:
        steps = _towards_first_speaker(twins.verdicts, how.first_positions)
    test = None
    if not how.probe.content_free and (scale.ordered or how.first_positions is not None):
        test = sign_test(steps, how.clusters, one_sided=how.one_sided)
    known = ~np.isnan(twins.scores).any(axis=1)
    shift = clustered_mean(
        np.where(known, twins.scores[:, 1] - twins.scores[:, 0], 0.0), known.astype(np.float64), how.clusters
    )
    oriented = scale.ordered or how.first_positions is not None
    return ProbedRater(
        rater="jury" if seat is None else "seat",
        seat=seat,
        pairs=pairs,
        flips=proportion(flipped, both, how.clusters) if pairs else missing(NO_TWO_VERDICTS),
        by_direction=tuple(_flips(before[flipped], after[flipped], scale.categories)),
        direction="verdict" if how.first_positions is None else "first speaker",
        towards_first=int(np.count_nonzero(steps < 0)) if oriented else None,
        towards_last=int(np.count_nonzero(steps > 0)) if oriented else None,
        p_value=test,
        p_holm=None,
        score_shift=shift.mean,
        score_p_value=_p_of_shift(how, shift),
        score_p_holm=None,
        false_passes=tuple(_false_passes(how, after)) if how.probe.content_free and scale.ordered else (),
    )


def _p_of_shift(how: _How, shift: ClusteredMean) -> float | None:
    p = shift.p_value
    if p is None or how.probe.content_free or how.first_positions is not None:
        return None
    if not how.probe.only_lenient:
        return p
    return p / 2 if (shift.mean.value or 0.0) > 0 else 1 - p / 2


def _towards_first_speaker(verdicts: Codes, positions: Codes) -> npt.NDArray[np.int64]:
    """-1: the verdict is that of the first speaker on both sides, 1: each time that of the other's; else 0.

    Only pairs in which the two first speakers differ can show anything.
    """
    differ = (positions >= 0).all(axis=1) & (positions[:, 0] != positions[:, 1])
    towards = differ & (verdicts == positions).all(axis=1)
    away = differ & (verdicts == positions[:, ::-1]).all(axis=1)
    steps: npt.NDArray[np.int64] = away.astype(np.int64) - towards.astype(np.int64)
    return steps


def _flips(before: Codes, after: Codes, categories: tuple[str, ...]) -> list[VerdictFlip]:
    size = len(categories)
    counts = np.bincount(before.astype(np.int64) * size + after, minlength=size * size).reshape(size, size)
    return [
        VerdictFlip(categories[i], categories[j], int(counts[i, j]))
        for i in range(size)
        for j in range(size)
        if counts[i, j]
    ]


def _false_passes(how: _How, verdicts: Codes) -> list[FalsePasses]:
    texts = np.array(how.texts)
    parts: list[tuple[str | None, Bools]] = [(None, np.ones(len(texts), dtype=np.bool_))]
    parts += [(str(text), texts == text) for text in np.unique(texts) if text]
    return [_false_passes_of(how, text, verdicts, part & (verdicts >= 0)) for text, part in parts]


def _false_passes_of(how: _How, text: str | None, verdicts: Codes, counted: Bools) -> FalsePasses:
    passed = counted & (verdicts == 0)
    answers = int(np.count_nonzero(counted))
    return FalsePasses(
        text=text,
        answers=answers,
        passes=int(np.count_nonzero(passed)),
        rate=proportion(passed, counted, how.clusters) if answers else missing(NO_VERDICT),
        upper_bound=upper_bound(passed, counted, how.clusters),
        p_value=tolerance_test(passed, counted, how.clusters, how.tolerated),
        p_holm=None,
    )


def _tests(effects: Sequence[ProbeEffect]) -> list[float | None]:
    """The p values of all tests, in the order in which `_corrected` takes them."""
    return [
        p
        for effect in effects
        for rater in (effect.jury, *effect.seats)
        for p in (rater.p_value, rater.score_p_value, *(one.p_value for one in rater.false_passes))
    ]


def _corrected(effects: Sequence[ProbeEffect], adjusted: Sequence[float | None], tolerated: float) -> list[ProbeEffect]:
    values = iter(adjusted)

    def of(rater: ProbedRater) -> ProbedRater:
        direction, score = next(values), next(values)
        passes = tuple(replace(one, p_holm=next(values)) for one in rater.false_passes)
        return replace(rater, p_holm=direction, score_p_holm=score, false_passes=passes)

    corrected = []
    for effect in effects:
        jury, *seats = [of(rater) for rater in (effect.jury, *effect.seats)]
        found = tuple(line for rater in (jury, *seats) for line in _findings(rater, tolerated))
        corrected.append(replace(effect, jury=jury, seats=tuple(seats), found=found))
    return corrected


def _findings(rater: ProbedRater, tolerated: float) -> list[str]:
    name = "the jury" if rater.seat is None else f"seat {rater.seat}"
    found = []
    if _is_found(rater.p_holm):
        first, last = rater.towards_first or 0, rater.towards_last or 0
        if rater.direction == "first speaker":
            found.append(f"{name} takes the position of the first speaker: {first} flips towards it, {last} away")
        else:
            words = "more lenient" if first > last else "stricter"
            found.append(f"{name} is {words} on the twins: {first} flips to an earlier verdict, {last} to a later one")
    if _is_found(rater.score_p_holm):
        found.append(f"{name} scores the twins {rater.score_shift.value:+.1f} points")
    for one in rater.false_passes:
        if _is_found(one.p_holm):
            what = "content-free answers" if one.text is None else f"answers that are only {one.text!r}"
            found.append(f"{name} passes {one.passes} of {one.answers} {what}; tolerated are {tolerated:.0%}")
    return found


def _is_found(p_holm: float | None) -> bool:
    return p_holm is not None and p_holm <= LEVEL
