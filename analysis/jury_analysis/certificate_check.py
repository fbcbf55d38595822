"""What a calibration says beside its own counts: every number that follows from others, computed again.

A digest shows that a file was not damaged, not that its numbers belong together: anyone who writes a file can make its
digest. What a panel applies therefore follows from the counts of the certificate.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from jury_analysis.certificate import Certificate, Tried, certificate
from jury_events.calibration import Chance, Hex256, Signal
from jury_events.value import Value

TOLERANCE = 1e-9
"""Figures have 12 decimals, of which processors and libraries agree on these."""

_MOST = 1_000_000_000
_MOST_ROWS = 100_000
_Count = Annotated[int, Field(ge=0, le=_MOST)]
_Within = Annotated[float, Field(gt=0, lt=1)]


class Contradiction(NamedTuple):
    """A field, what it says, and what it must say by the other numbers."""

    field: str
    said: Any
    recomputed: Any


class CountsRow(Value):
    """A candidate of a recorded certificate: the counts are read, the rest is compared."""

    threshold: Chance
    accepted: Annotated[int, Field(ge=1, le=_MOST)]
    wrong: _Count
    upper_bound: float
    outcome: str
    by_cluster: Annotated[tuple[tuple[_Count, _Count, _Count], ...], Field(max_length=_MOST_ROWS)] = ()


class RecordedCertificate(Value):
    """The certificate of a calibration file."""

    risk: _Within
    confidence: _Within
    bound: str
    units: Annotated[int, Field(ge=1, le=_MOST)]
    clusters: Annotated[int, Field(ge=1, le=_MOST)]
    subject: _Count
    fewest: _Count
    candidates: Annotated[tuple[CountsRow, ...], Field(max_length=1500)]
    threshold: Chance | None
    coverage: Chance | None
    labels_needed: int | None
    reason: str | None
    warnings: tuple[str, ...]


class RecordedPart(Value):
    """The cases of one part."""

    debates: _Count
    labelled: _Count
    clusters: _Count
    digest: str


class RecordedFigure(Value):
    """An estimate; its interval and notes do not follow from counts."""

    value: float | None
    interval: Any
    n: _Count
    reason: str | None
    notes: tuple[str, ...]


class RecordedTest(Value):
    """The report on the test part."""

    units: _Count
    accepted: _Count
    wrong: _Count
    risk: RecordedFigure
    coverage: RecordedFigure
    accuracy: RecordedFigure


class RecordedVotesAlone(Value):
    """What the share of the votes certifies on the same parts."""

    certificate: RecordedCertificate
    test: RecordedTest | None


class RecordedPanel(Value):
    """The panel that it is of."""

    name: str
    panel: Hex256
    prompts: Hex256


class RecordedCalibration(Value):
    """The fields of a calibration file that others follow from, or that follow from others."""

    on: Literal["error", "false_pass"]
    verdict: Literal["jury", "plurality"]
    categories: Annotated[tuple[str, ...], Field(min_length=2, max_length=127)]
    seats: Annotated[tuple[str, ...], Field(min_length=1)]
    signal: Signal
    split: Any
    seed: Any
    parts: dict[Literal["fit", "certify", "test"], RecordedPart]
    certificate: RecordedCertificate
    test: RecordedTest | None
    labels: str
    excluded: Any
    warnings: tuple[str, ...]
    risk: _Within
    confidence: _Within
    threshold: Chance | None
    panel: RecordedPanel | None
    votes_alone: RecordedVotesAlone | None = None
    made_on: str | None = None


def contradiction(recorded: RecordedCalibration) -> Contradiction | None:
    """The first number that contradicts the others; None where all belong together."""
    return next(_contradictions(recorded), None)


def recomputed_certificate(recorded: RecordedCertificate) -> Certificate:
    return certificate(
        [Tried(one.threshold, one.accepted, one.wrong, one.by_cluster) for one in recorded.candidates],
        units=recorded.units,
        clusters=recorded.clusters,
        subject=recorded.subject,
        risk=recorded.risk,
        confidence=recorded.confidence,
    )


def _contradictions(recorded: RecordedCalibration) -> Iterator[Contradiction]:
    of = recorded.certificate
    yield from certificate_contradictions("certificate", of)
    for name in ("risk", "confidence", "threshold"):
        yield from differences(name, getattr(recorded, name), getattr(of, name))
    yield from _parts(recorded)
    yield from _test("test", recorded, recorded.test, of)
    yield from _signal(recorded)
    yield from _votes_alone(recorded)
    for place, warning in enumerate(of.warnings):
        if warning not in recorded.warnings:
            yield Contradiction("warnings", None, of.warnings[place])


def certificate_contradictions(field: str, of: RecordedCertificate) -> Iterator[Contradiction]:
    """Numbers of a certificate that contradict its counts, and counts that no votes can have."""
    yield from _counts(field, of)
    yield from differences(field, of.model_dump(), asdict(recomputed_certificate(of)))


def _votes_alone(recorded: RecordedCalibration) -> Iterator[Contradiction]:
    """Beside a signal of votes and steps: the votes alone, on the same labels and for the same promise."""
    alone, of = recorded.votes_alone, recorded.certificate
    if (alone is not None) != (recorded.signal.kind == "votes+step"):
        yield Contradiction("votes_alone", None if alone is None else "given", "there with votes+step alone")
    if alone is None:
        return
    yield from certificate_contradictions("votes_alone.certificate", alone.certificate)
    for name in ("risk", "confidence", "units", "clusters", "subject"):
        field = f"votes_alone.certificate.{name}"
        yield from differences(field, getattr(alone.certificate, name), getattr(of, name))
    yield from _levels("votes_alone.certificate", alone.certificate, len(recorded.seats))
    yield from _test("votes_alone.test", recorded, alone.test, alone.certificate)


def differences(field: str, said: Any, recomputed: Any) -> Iterator[Contradiction]:
    """Of JSON values, field by field."""
    if isinstance(said, Mapping) and isinstance(recomputed, Mapping):
        for name in sorted(said.keys() | recomputed.keys()):
            yield from differences(f"{field}.{name}", said.get(name), recomputed.get(name))
    elif isinstance(said, Sequence) and isinstance(recomputed, Sequence) and not isinstance(said, str):
        for place in range(max(len(said), len(recomputed))):
            pair = (one[place] if place < len(one) else None for one in (said, recomputed))
            yield from differences(f"{field}.{place}", *pair)
    elif isinstance(said, float) and isinstance(recomputed, int | float) and not isinstance(recomputed, bool):
        if abs(said - recomputed) > TOLERANCE:
            yield Contradiction(field, said, recomputed)
    elif said != recomputed:
        yield Contradiction(field, said, recomputed)


def _counts(of_field: str, of: RecordedCertificate) -> Iterator[Contradiction]:
    """Counts that no votes can have; `recomputed` is the nearest that they could have."""
    yield from at_most(f"{of_field}.clusters", of.clusters, of.units)
    yield from at_most(f"{of_field}.subject", of.subject, of.units)
    for place, one in enumerate(of.candidates):
        field = f"{of_field}.candidates.{place}"
        yield from at_most(f"{field}.accepted", one.accepted, of.subject)
        yield from at_most(f"{field}.wrong", one.wrong, one.accepted)
        yield from _tables(field, one, of)
    for place, (before, after) in enumerate(pairwise(of.candidates), 1):
        field = f"{of_field}.candidates.{place}"
        if after.threshold >= before.threshold:
            yield Contradiction(f"{field}.threshold", after.threshold, f"less than {before.threshold:.9g}")
        if after.accepted <= before.accepted:
            yield Contradiction(f"{field}.accepted", after.accepted, f"more than {before.accepted}")
        least, most = before.wrong, before.wrong + after.accepted - before.accepted
        if not least <= after.wrong <= most:
            yield Contradiction(f"{field}.wrong", after.wrong, f"{least} to {most}")


def _tables(field: str, one: CountsRow, of: RecordedCertificate) -> Iterator[Contradiction]:
    """The counts by cluster, which are there where a cluster has several units."""
    counts = ("accepted", one.accepted), ("wrong", one.wrong)
    yield from table_contradictions(field, one.by_cluster, counts, units=of.units, clusters=of.clusters)


def table_contradictions(
    field: str,
    rows: Sequence[tuple[int, int, int]],
    counts: Sequence[tuple[str, int]],
    *,
    units: int,
    clusters: int,
) -> Iterator[Contradiction]:
    """Counts by cluster that are missing, too many, or not those of the row.

    Args:
        rows: units, those of them that count, and how many clusters have these counts.
        counts: both names and sums that the row says.
    """
    if clusters == units:
        if rows:
            yield Contradiction(f"{field}.by_cluster", f"{len(rows)} rows", "none: every unit is a cluster")
        return
    if not rows:
        yield Contradiction(f"{field}.by_cluster", None, f"the counts by cluster, of {clusters} clusters")
        return
    if list(rows) != sorted(set(rows)) or any(wrong > accepted or not number for accepted, wrong, number in rows):
        yield Contradiction(f"{field}.by_cluster", "counts that clusters cannot have", "sorted counts")
    (first, whole), (second, part) = counts
    for name, said, found in (
        (first, whole, sum(accepted * number for accepted, _, number in rows)),
        (second, part, sum(wrong * number for _, wrong, number in rows)),
        ("by_cluster", sum(number for *_, number in rows), clusters),
    ):
        if said != found:
            yield Contradiction(f"{field}.{name}", said, found)


def at_most(field: str, said: int, most: int) -> Iterator[Contradiction]:
    """A number that is larger than it can be."""
    if said > most:
        yield Contradiction(field, said, f"at most {most}")


def _parts(recorded: RecordedCalibration) -> Iterator[Contradiction]:
    for name, part in sorted(recorded.parts.items()):
        yield from at_most(f"parts.{name}.labelled", part.labelled, part.debates)
        yield from at_most(f"parts.{name}.clusters", part.clusters, part.debates)
        if bool(part.clusters) != bool(part.debates):
            yield Contradiction(f"parts.{name}.clusters", part.clusters, min(1, part.debates))
    certified, of = recorded.parts.get("certify"), recorded.certificate
    if certified is None:
        yield Contradiction("parts.certify", None, f"{of.units} labels")
        return
    yield from differences("parts.certify.labelled", certified.labelled, of.units)
    # A cluster may have no labelled case.
    if certified.labelled == certified.debates:
        yield from differences("parts.certify.clusters", certified.clusters, of.clusters)
    elif not of.clusters <= certified.clusters <= of.clusters + certified.debates - certified.labelled:
        yield Contradiction("parts.certify.clusters", certified.clusters, f"at least {of.clusters}")


def _test(
    field: str, recorded: RecordedCalibration, test: RecordedTest | None, of: RecordedCertificate
) -> Iterator[Contradiction]:
    part = recorded.parts.get("test")
    labelled = 0 if part is None or of.threshold is None else part.labelled
    if test is None:
        if labelled:
            yield Contradiction(field, None, f"the report on {labelled} labels")
        return
    yield from differences(f"{field}.units", test.units, labelled)
    yield from at_most(f"{field}.accepted", test.accepted, test.units)
    yield from at_most(f"{field}.wrong", test.wrong, test.accepted)
    for name, figure, share, whole in (
        ("risk", test.risk, test.wrong, test.accepted),
        ("coverage", test.coverage, test.accepted, test.units),
    ):
        yield from differences(f"{field}.{name}.n", figure.n, whole)
        value = None if figure.value is None else float(figure.value)
        yield from differences(f"{field}.{name}.value", value, share / whole if whole else None)
        if (figure.value is None) != (figure.reason is not None):
            yield Contradiction(f"{field}.{name}.reason", figure.reason, None)
    yield from at_most(f"{field}.accuracy.n", test.accuracy.n, test.units)


def _signal(recorded: RecordedCalibration) -> Iterator[Contradiction]:
    """A signal is of the seats and verdicts of the file; shares, and agreement on steps, are ones of so many seats.

    Of a panel, decisive steps are items: what a judgment compares.
    """
    signal, seats = recorded.signal, recorded.seats
    if signal.kind == "weights":
        yield from differences("signal.verdicts", signal.verdicts, len(recorded.categories))
        yield from _unknown("signal.labels", signal.labels, recorded.categories)
        yield from _unknown("signal.inputs", [one.seat for one in signal.inputs], seats)
    elif signal.kind == "dawid_skene":
        yield from differences("signal.verdicts", list(signal.verdicts), list(recorded.categories))
        yield from _unknown("signal.seats", [one.seat for one in signal.seats], seats)
    elif signal.kind == "share":
        yield from _levels("certificate", recorded.certificate, len(seats))
    elif signal.kind == "probability":
        yield from _levels("certificate", recorded.certificate, len(signal.levels()))
    elif signal.kind == "votes+step":
        yield from _levels("certificate", recorded.certificate, 2 * len(seats))
        yield from differences("signal.passing", signal.passing, recorded.categories[0])
        if recorded.panel is not None:
            yield from differences("signal.step", signal.step, "item")


def _levels(field: str, of: RecordedCertificate, whole: int) -> Iterator[Contradiction]:
    """Thresholds that are no whole number of parts of `whole`."""
    for place, one in enumerate(of.candidates):
        parts = round(one.threshold * whole)
        yield from differences(f"{field}.candidates.{place}.threshold", one.threshold, max(1, parts) / whole)


def _unknown(field: str, said: Sequence[str], known: Sequence[str]) -> Iterator[Contradiction]:
    for one in said:
        if one not in known:
            yield Contradiction(field, one, f"one of {', '.join(known[:5])}")
