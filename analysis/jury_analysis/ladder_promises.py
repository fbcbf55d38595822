"""What a ladder promises by stage and outcome, and the certificate of a stage from counts. Needs no numpy.

Valid by construction. Fix the panels, the promises and the levels beforehand. Which cases reach a stage follows from
the thresholds of the stages before it, which are chosen with the same labels; but they are one of finitely many
combinations, fixed by the numbers of seats. For each combination the cases that reach the stage are a fixed
population, and a fixed sequence of thresholds is tested there, from the highest down to the first that is refused: the
chance that it certifies a threshold whose risk is too high is at most the error of one test (fixed sequence testing,
arXiv 2110.01052). With m accepting stages, p promises and C combinations before a stage each test has the error
δ / (m p C); over all combinations, promises and stages these add up to δ (Bonferroni), whichever combination the labels
choose. No label is set aside to choose with.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from jury_analysis.certificate import Certificate, Tried, bound_by_cluster, certificate, clopper_pearson
from jury_analysis.certificate_check import (
    Contradiction,
    RecordedCertificate,
    RecordedFigure,
    RecordedPanel,
    at_most,
    certificate_contradictions,
    differences,
    table_contradictions,
)
from jury_analysis.errors import AnalysisError
from jury_events.calibration import Chance, Hex256
from jury_events.ladder import FEWEST_STAGES, MOST_STAGES
from jury_events.value import Value

_DIGITS = 9


@dataclass(frozen=True)
class Promises:
    """Shares between 0 and 1; None: not promised."""

    passes: float | None
    """Most wrong ones of the passes that a stage accepts. Without it no pass is accepted."""
    fails: float | None
    """Most wrong ones of the fails that a stage accepts. Without it no fail is accepted."""
    missed: float | None = None
    """Most cases accepted as a pass before the last stage, of those whose label fails."""
    confidence: float = 0.9
    """That all of them hold."""

    def __post_init__(self) -> None:
        """Refuse promises of which no verdict could be accepted."""
        if self.passes is None and self.fails is None:
            raise AnalysisError("a ladder accepts verdicts by outcome: promise --risk pass=…, fail=…, or both")
        if self.missed is not None and self.passes is None:
            raise AnalysisError("missed= is about accepted passes, and no pass is accepted without --risk pass=…")

    @property
    def number(self) -> int:
        return sum(one is not None for one in (self.passes, self.fails, self.missed))

    @property
    def outcomes(self) -> int:
        """Of how many outcomes verdicts are accepted."""
        return (self.passes is not None) + (self.fails is not None)

    def test_confidence(self, stages: int, combinations: int) -> float:
        """The confidence of each sequence of a stage, so that all promises hold at once with `confidence`."""
        return 1 - (1 - self.confidence) / ((stages - 1) * self.number * combinations)

    def combinations(self, seats: Sequence[int]) -> int:
        """How many thresholds the stages before could have: each outcome one of the levels, or none."""
        return prod((len(early_levels(one)) + 1) ** self.outcomes for one in seats)


def early_levels(seats: int) -> tuple[float, ...]:
    """Shares of the votes from which on a verdict may be accepted early, descending: more than half of the seats."""
    return tuple(round(votes / seats, _DIGITS) for votes in range(seats, seats // 2, -1))


Table = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class MissedCandidate:
    """The promise on missed failures at one threshold of the passes."""

    threshold: float
    failing: int
    """Units whose label fails."""
    missed: int
    """Of these, accepted as a pass by this stage or one before."""
    upper_bound: float
    """One-sided, of missed / failing."""
    outcome: str
    """`certified`, `refused` (the sequence ends) or `not tested`."""
    by_cluster: Table = ()
    """Failing units, missed ones of these, and how many clusters have these counts; () where each unit is its own."""


@dataclass(frozen=True)
class StageCertificate:
    """What a stage may accept, among the cases that reach it."""

    combinations: int
    """Of thresholds of the stages before, by which the error of each test is divided."""
    passes: Certificate | None
    """None: no promise on passes."""
    fails: Certificate | None
    missed: tuple[MissedCandidate, ...]
    """At the thresholds of `passes` that are certified; () without a promise."""
    pass_threshold: float | None
    """The lowest that is certified on all promises about passes; None: the stage accepts no pass."""
    fail_threshold: float | None

    @property
    def accepts(self) -> bool:
        return self.pass_threshold is not None or self.fail_threshold is not None


class MissedCount(NamedTuple):
    """Failing units that are accepted as a pass at a threshold; `by_cluster` as of `MissedCandidate`."""

    threshold: float
    failing: int
    missed: int
    by_cluster: Table = ()


class StageCounts(NamedTuple):
    """The counts of a stage, each sequence by threshold, descending; subjects are verdicts of the outcome."""

    passes: Sequence[Tried]
    pass_subject: int
    fails: Sequence[Tried]
    fail_subject: int
    missed: Sequence[MissedCount]
    """One for each of `passes`, or () without a promise."""


def stage_certificate(
    counts: StageCounts, promises: Promises, *, units: int, clusters: int, stages: int, combinations: int
) -> StageCertificate:
    """The certificate that these counts give.

    Args:
        counts: among the cases that no stage before accepts.
        units: labelled units of the ladder, those of the stages before included.
    """
    confidence = promises.test_confidence(stages, combinations)

    def of(sequence: Sequence[Tried], subject: int, risk: float | None) -> Certificate | None:
        if risk is None:
            return None
        return certificate(sequence, units=units, clusters=clusters, subject=subject, risk=risk, confidence=confidence)

    passes = of(counts.passes, counts.pass_subject, promises.passes)
    fails = of(counts.fails, counts.fail_subject, promises.fails)
    missed: tuple[MissedCandidate, ...] = ()
    pass_threshold = None if passes is None else passes.threshold
    if passes is not None and promises.missed is not None:
        certified = {one.threshold for one in passes.candidates if one.outcome == "certified"}
        chosen = [one for one in counts.missed if one.threshold in certified]
        missed = _missed(chosen, promises.missed, confidence, clustered=clusters < units)
        pass_threshold = min((one.threshold for one in missed if one.outcome == "certified"), default=None)
    return StageCertificate(
        combinations=combinations,
        passes=passes,
        fails=fails,
        missed=missed,
        pass_threshold=pass_threshold,
        fail_threshold=None if fails is None else fails.threshold,
    )


def _missed(
    counts: Sequence[MissedCount], risk: float, confidence: float, *, clustered: bool
) -> tuple[MissedCandidate, ...]:
    found: list[MissedCandidate] = []
    ended = False
    for one in counts:
        upper = clopper_pearson(one.missed, one.failing, confidence)
        if clustered and one.failing:
            upper = max(upper, bound_by_cluster(one.by_cluster, confidence))
        outcome = "not tested" if ended else "certified" if upper <= risk else "refused"
        ended = ended or outcome == "refused"
        found.append(MissedCandidate(one.threshold, one.failing, one.missed, upper, outcome, one.by_cluster))
    return tuple(found)


_MOST = 1_000_000_000
_Count = Annotated[int, Field(ge=0, le=_MOST)]
_Within = Annotated[float, Field(gt=0, lt=1)]


class RecordedPromises(Value):
    """As of `Promises`."""

    passes: _Within | None
    fails: _Within | None
    missed: _Within | None
    confidence: _Within


class MissedRow(Value):
    """As of `MissedCandidate`: the counts are read, the rest is compared."""

    threshold: Chance
    failing: _Count
    missed: _Count
    upper_bound: float
    outcome: str
    by_cluster: Annotated[tuple[tuple[_Count, _Count, _Count], ...], Field(max_length=100_000)] = ()


class RecordedStageCertificate(Value):
    """As of `StageCertificate`."""

    combinations: Annotated[int, Field(ge=1)]
    passes: RecordedCertificate | None
    fails: RecordedCertificate | None
    missed: Annotated[tuple[MissedRow, ...], Field(max_length=1500)]
    pass_threshold: Chance | None
    fail_threshold: Chance | None


class RecordedStage(Value):
    """A stage; `panel` is None for votes of files."""

    name: str
    seats: Annotated[tuple[str, ...], Field(min_length=1, max_length=1500)]
    verdict: Literal["jury", "plurality"]
    certificate: RecordedStageCertificate | None
    panel: RecordedPanel | None


class RecordedStageUse(Value):
    """As of `StageUse`."""

    name: str
    reached: _Count
    passes: _Count
    wrong_passes: _Count
    fails: _Count
    wrong_fails: _Count
    coverage: RecordedFigure


class RecordedUse(Value):
    """As of `LadderUse`; intervals, calls and costs do not follow from counts."""

    part: Literal["certify", "test"]
    units: _Count
    stages: tuple[RecordedStageUse, ...]
    early: RecordedFigure
    missed: RecordedFigure
    accuracy: RecordedFigure
    full_accuracy: RecordedFigure
    calls: float
    full_calls: float
    calls_known: bool
    cost: float | None
    full_cost: float | None


class RecordedLadder(Value):
    """The fields of a ladder file, but its format, digest and note."""

    promises: RecordedPromises
    stages: Annotated[tuple[RecordedStage, ...], Field(min_length=FEWEST_STAGES, max_length=MOST_STAGES)]
    categories: Annotated[tuple[str, ...], Field(min_length=2, max_length=127)]
    units: Annotated[int, Field(ge=1, le=_MOST)]
    clusters: Annotated[int, Field(ge=1, le=_MOST)]
    failing: _Count
    cases: Hex256
    labels: Hex256
    split: Any
    seed: Any
    use: RecordedUse
    excluded: Any
    warnings: tuple[str, ...]


def ladder_contradiction(recorded: RecordedLadder) -> Contradiction | None:
    """The first number that contradicts the others; None where all belong together."""
    return next(_contradictions(recorded), None)


def _contradictions(recorded: RecordedLadder) -> Iterator[Contradiction]:
    try:
        promises = Promises(**recorded.promises.model_dump())
    except AnalysisError as error:
        yield Contradiction("promises", recorded.promises.model_dump(), str(error))
        return
    yield from at_most("clusters", recorded.clusters, recorded.units)
    yield from at_most("failing", recorded.failing, recorded.units)
    *early, last = recorded.stages
    if last.certificate is not None:
        yield Contradiction(f"stages.{len(early)}.certificate", "given", "none: the last stage promises nothing")
    reached, missed = recorded.units, 0
    for place, stage in enumerate(early):
        field = f"stages.{place}.certificate"
        of = stage.certificate
        if of is None:
            yield Contradiction(field, None, "the certificate of a stage before the last")
            return
        yield from _stage(field, recorded, place, of, promises, reached, missed)
        passed, failed = _accepted(of.passes, of.pass_threshold), _accepted(of.fails, of.fail_threshold)
        yield from _certified_use(recorded, place, reached, passed, failed)
        reached -= passed[0] + failed[0]
        missed = next((row.missed for row in of.missed if row.threshold == of.pass_threshold), missed)
    yield from _use(recorded)
    for warning in dict.fromkeys(one for stage in early for one in _warnings(stage)):
        if warning not in recorded.warnings:
            yield Contradiction("warnings", None, warning)


def _stage(  # noqa: PLR0917  (what is known when a stage is reached)
    field: str,
    recorded: RecordedLadder,
    place: int,
    of: RecordedStageCertificate,
    promises: Promises,
    reached: int,
    missed: int,
) -> Iterator[Contradiction]:
    levels = early_levels(len(recorded.stages[place].seats))
    subject = 0
    for name, one in (("passes", of.passes), ("fails", of.fails)):
        if (one is None) != (getattr(promises, name) is None):
            yield Contradiction(f"{field}.{name}", "none" if one is None else "given", "as the promises say")
        if one is None:
            continue
        yield from certificate_contradictions(f"{field}.{name}", one)
        yield from differences(f"{field}.{name}.units", one.units, recorded.units)
        yield from differences(f"{field}.{name}.clusters", one.clusters, recorded.clusters)
        for row, candidate in enumerate(one.candidates):
            if candidate.threshold not in levels:
                yield Contradiction(f"{field}.{name}.candidates.{row}.threshold", candidate.threshold, list(levels))
        subject += one.subject
    yield from at_most(f"{field}.subject", subject, reached)
    yield from _missed_contradictions(field, recorded, of, missed)
    yield from differences(field, of.model_dump(), asdict(_recomputed(recorded, place, of, promises)))


def _recomputed(
    recorded: RecordedLadder, place: int, of: RecordedStageCertificate, promises: Promises
) -> StageCertificate:
    """The certificate of the recorded counts, in place of everything else that the stage says."""
    missed = {row.threshold: MissedCount(row.threshold, row.failing, row.missed, row.by_cluster) for row in of.missed}
    passes, fails = _tried(of.passes), _tried(of.fails)
    return stage_certificate(
        StageCounts(
            passes,
            0 if of.passes is None else of.passes.subject,
            fails,
            0 if of.fails is None else of.fails.subject,
            [missed[one.threshold] for one in passes if one.threshold in missed],
        ),
        promises,
        units=recorded.units,
        clusters=recorded.clusters,
        stages=len(recorded.stages),
        combinations=promises.combinations([len(stage.seats) for stage in recorded.stages[:place]]),
    )


def _tried(of: RecordedCertificate | None) -> list[Tried]:
    return (
        [] if of is None else [Tried(one.threshold, one.accepted, one.wrong, one.by_cluster) for one in of.candidates]
    )


def _missed_contradictions(
    field: str, recorded: RecordedLadder, of: RecordedStageCertificate, before: int
) -> Iterator[Contradiction]:
    """The counts of missed failures: at every certified threshold, and between what the stages accept."""
    if recorded.promises.missed is None or of.passes is None:
        if of.missed:
            yield Contradiction(f"{field}.missed", f"{len(of.missed)} rows", "none: nothing is promised of them")
        return
    certified = [one for one in of.passes.candidates if one.outcome == "certified"]
    yield from differences(
        f"{field}.missed", [row.threshold for row in of.missed], [one.threshold for one in certified]
    )
    for place, (row, one) in enumerate(zip(of.missed, certified, strict=False)):
        at = f"{field}.missed.{place}"
        yield from differences(f"{at}.failing", row.failing, recorded.failing)
        yield from at_most(f"{at}.missed", row.missed, min(row.failing, before + one.wrong))
        if row.missed < before:
            yield Contradiction(f"{at}.missed", row.missed, f"at least {before}")
        counts = ("failing", row.failing), ("missed", row.missed)
        yield from table_contradictions(at, row.by_cluster, counts, units=recorded.units, clusters=recorded.clusters)


def _accepted(of: RecordedCertificate | None, threshold: float | None) -> tuple[int, int]:
    rows: Sequence[Any] = () if of is None else of.candidates
    return next(((one.accepted, one.wrong) for one in rows if one.threshold == threshold), (0, 0))


def _certified_use(
    recorded: RecordedLadder, place: int, reached: int, passed: tuple[int, int], failed: tuple[int, int]
) -> Iterator[Contradiction]:
    """What a stage does on the cases that it was certified on: it accepts what its certificate counts."""
    if recorded.use.part != "certify" or place >= len(recorded.use.stages):
        return
    said = recorded.use.stages[place]
    for name, found in (
        ("reached", reached),
        *zip(("passes", "wrong_passes"), passed, strict=True),
        *zip(("fails", "wrong_fails"), failed, strict=True),
    ):
        yield from differences(f"use.stages.{place}.{name}", getattr(said, name), found)


def _use(recorded: RecordedLadder) -> Iterator[Contradiction]:
    """What the ladder does on the cases of a part: what ends at a stage does not come to the next."""
    use = recorded.use
    yield from differences("use.stages", [one.name for one in use.stages], [one.name for one in recorded.stages])
    if use.part == "certify":
        yield from differences("use.units", use.units, recorded.units)
        yield from differences("use.missed.n", use.missed.n, recorded.failing)
    yield from at_most("use.missed.n", use.missed.n, use.units)
    reached, last, wrong = use.units, len(use.stages) - 1, 0
    for place, stage in enumerate(use.stages):
        field, ended = f"use.stages.{place}", stage.passes + stage.fails
        yield from differences(f"{field}.reached", stage.reached, reached)
        yield from at_most(f"{field}.wrong_passes", stage.wrong_passes, stage.passes)
        yield from at_most(f"{field}.wrong_fails", stage.wrong_fails, stage.fails)
        yield from at_most(f"{field}.passes", ended, reached)
        if place < last:
            wrong += stage.wrong_passes + stage.wrong_fails
            yield from _figure(f"{field}.coverage", stage.coverage, use.units, ended)
            reached -= ended
        else:
            yield from _figure(f"{field}.coverage", stage.coverage, use.units, reached)
    yield from _figure("use.early", use.early, use.units, use.units - reached)
    yield from _figure("use.missed", use.missed, use.missed.n, most=sum(one.wrong_passes for one in use.stages[:last]))
    early = use.units - reached
    yield from _figure("use.accuracy", use.accuracy, use.units, least=early - wrong, most=use.units - wrong)
    yield from _figure("use.full_accuracy", use.full_accuracy, use.units)


def _figure(
    field: str, said: RecordedFigure, n: int, count: int | None = None, *, least: int = 0, most: int | None = None
) -> Iterator[Contradiction]:
    """A share of `n` units: of `count` of them, else of a whole number from `least` to `most`."""
    yield from differences(f"{field}.n", said.n, n)
    value = None if said.value is None else float(said.value)
    if not n or value is None:
        yield from differences(f"{field}.value", value, None if not n else "a share")
        return
    found = min(max(round(value * n), least), n if most is None else min(most, n)) if count is None else count
    yield from differences(f"{field}.value", value, found / n)


def _warnings(stage: RecordedStage) -> tuple[str, ...]:
    of = stage.certificate
    return () if of is None else tuple(w for one in (of.passes, of.fails) if one is not None for w in one.warnings)
