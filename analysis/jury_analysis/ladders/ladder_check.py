"""What a ladder file says beside its own counts: every number that a ladder applies, computed again from counts."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field

from jury_analysis.certificate import Tried
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
from jury_analysis.ladders.promises import (
    MissedCount,
    Promises,
    StageCertificate,
    StageCounts,
    early_levels,
    stage_certificate,
)
from jury_events.calibration import Chance, Hex256
from jury_events.ladder import FEWEST_STAGES, MOST_STAGES
from jury_events.value import Value

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
    yield from _missed(field, recorded, of, missed)
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


def _missed(field: str, recorded: RecordedLadder, of: RecordedStageCertificate, before: int) -> Iterator[Contradiction]:
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
    """Accepted and wrong verdicts at a threshold."""
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
