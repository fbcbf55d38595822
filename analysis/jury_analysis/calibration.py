"""Calibration: fit a signal on one part of the labelled cases, certify a threshold on a second, report on a third."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa

from jury_analysis.ballots import SCHEMA, check
from jury_analysis.certificate import Certificate, Tried, bound_by_cluster, certificate, fewest_labels
from jury_analysis.errors import AnalysisError, BadBallots, BadSplit, TooFewLabels
from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import proportion
from jury_analysis.labels import label_ballots, resolve
from jury_analysis.reasons import NONE_ACCEPTED
from jury_analysis.report_object import json_object
from jury_analysis.scale import OURS, Exclusion, Scale, one_panel, without_simulated
from jury_analysis.verdict_signals import (
    FITTED,
    STEP_COLUMNS,
    AnySignal,
    LastVotes,
    fit_signal,
    last_votes,
    levels,
    signal_values,
)
from jury_analysis.vote_matrix import Bools, Floats, Ints, VoteMatrix
from jury_events.calibration import Harm, ShareSignal, SignalKind
from jury_events.canonical import canonical_json

PARTS = ("fit", "certify", "test")


@dataclass(frozen=True, eq=False)
class Parts:
    """[units] bool each; a unit is in one part at most."""

    fit: Bools
    certify: Bools
    test: Bools


def split_clusters(matrix: VoteMatrix, shares: tuple[float, float, float], seed: int) -> Parts:
    """Draw the parts by cluster: clusters in the order of SHA-256(seed, name), the first share of them to fit, …

    The same names and seed give the same parts, in whatever order the cases come.

    Args:
        shares: of the clusters, in percent, for fit, certify and test; they sum to 100.
    """
    order = sorted(matrix.cluster_names, key=lambda name: sha256(f"{seed}\0{name}".encode()).digest())
    ends = [round(len(order) * sum(shares[: place + 1]) / 100) for place in range(len(PARTS))]
    place_of = {name: place for place, name in enumerate(order)}
    places = np.array([place_of[name] for name in matrix.cluster_names], dtype=np.int64)[matrix.clusters]
    return Parts(places < ends[0], (places >= ends[0]) & (places < ends[1]), (places >= ends[1]) & (places < ends[2]))


def named_parts(matrix: VoteMatrix, cases: Mapping[str, Collection[str]]) -> Parts:
    """The parts as lists of cases; cases in none of them are left out.

    Args:
        cases: ids of cases by part (`PARTS`); a part that is absent is empty.
    """
    of_case: dict[str, str] = {}
    for part in PARTS:
        for case in sorted(cases.get(part, ())):
            if case in of_case:
                raise BadSplit(f"case {case!r:.60} is in the parts {of_case[case]} and {part}: keep it in one of them")
            of_case[case] = part
    unknown = sorted(of_case.keys() - set(matrix.case_names))
    if unknown:
        more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        raise BadSplit(
            f"the part {of_case[unknown[0]]} names the case {unknown[0]!r:.60}{more}, of which there is no debate: "
            "take what is not among the cases out of the list"
        )
    codes = np.array(
        [PARTS.index(of_case[case]) if case in of_case else -1 for case in matrix.case_names], dtype=np.int64
    )
    parts = codes[matrix.cases]
    for code, name in enumerate(matrix.cluster_names):
        found = np.unique(parts[matrix.clusters == code])
        found = found[found >= 0]
        if len(found) > 1:
            raise BadSplit(
                f"the cluster {name!r:.60} has cases in the parts {PARTS[found[0]]} and {PARTS[found[1]]}: cases of "
                "one cluster resemble each other, so keep them in one part"
            )
    return Parts(parts == 0, parts == 1, parts == 2)  # noqa: PLR2004  (the third of PARTS)


SEED = 20260927
WITHOUT_MODEL = (0.0, 100.0, 0.0)
WITH_MODEL = (40.0, 40.0, 20.0)


@dataclass(frozen=True)
class CalibrationOptions:
    """What is promised, and how."""

    risk: float = 0.05
    confidence: float = 0.9
    on: Harm = "error"
    signal: SignalKind = "share"
    split: tuple[float, float, float] | None = None
    """Percent of the clusters for fit, certify and test; None: 0/100/0 without a model, 40/40/20 with one."""
    cases: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Ids of cases by part, in place of a split."""
    seed: int = SEED
    scale: Scale = OURS
    simulated: bool = False
    """Whether simulated debates are counted."""


@dataclass(frozen=True)
class PartOfCases:
    """One part, with a digest by which it can be recognised."""

    debates: int
    labelled: int
    clusters: int
    digest: str
    """SHA-256 of the sorted ids of its debates."""


@dataclass(frozen=True)
class PartReport:
    """What the threshold does on cases that it was not chosen on."""

    units: int
    accepted: int
    wrong: int
    risk: Estimate
    """wrong / accepted."""
    coverage: Estimate
    """accepted / units."""
    accuracy: Estimate
    """Right verdicts / units with a verdict, accepted or not."""


@dataclass(frozen=True)
class VotesAlone:
    """What the share of the votes certifies on the same parts, at the same risk and confidence."""

    certificate: Certificate
    test: PartReport | None
    """As of `CalibrationReport`."""


@dataclass(frozen=True)
class CalibrationReport:
    """A calibration with everything that is known about it."""

    on: Harm
    verdict: str
    """Whose verdict is accepted: the `jury`'s (final verdicts), or the `plurality` of the seats."""
    categories: tuple[str, ...]
    seats: tuple[str, ...]
    signal: AnySignal
    split: tuple[float, float, float] | None
    seed: int | None
    """Of the split; None where the parts were named."""
    parts: Mapping[str, PartOfCases]
    certificate: Certificate
    test: PartReport | None
    """None without a threshold or without a test part."""
    labels: str
    """SHA-256 of the labels: pairs of debate and label, sorted."""
    excluded: tuple[Exclusion, ...]
    """Debates that were left out of everything."""
    warnings: tuple[str, ...]
    votes_alone: VotesAlone | None = None
    """Where the signal is more than the votes, and is not fitted."""

    def to_dict(self) -> dict[str, Any]:
        # A signal is no dataclass; its numbers have fewer decimal places already.
        values = {**json_object(replace(self, signal=ShareSignal())), "signal": self.signal.model_dump(mode="json")}
        certificates = [values["certificate"]]
        if self.votes_alone is None:
            del values["votes_alone"]  # files without it are as they were
        else:
            certificates.append(values["votes_alone"]["certificate"])
        for candidate in (candidate for one in certificates for candidate in one["candidates"]):
            if not candidate["by_cluster"]:
                del candidate["by_cluster"]
        return values


def calibrate(
    ballots: pa.Table, labels: pa.Table | None = None, options: CalibrationOptions | None = None
) -> CalibrationReport:
    """Find the lowest certified threshold.

    Args:
        labels: rows of `labels.LABELS`, which win over the labels of the ballots.
    """
    options = options or CalibrationOptions()
    with_steps = options.signal == "votes+step"
    if with_steps and options.on == "false_pass":
        raise AnalysisError(
            "a pass names no step, so votes+step of passes is the share of the votes: use --signal share"
        )
    table = check(ballots, (*SCHEMA.names, *STEP_COLUMNS) if with_steps else SCHEMA.names)
    if not table.num_rows:
        raise BadBallots("there are no ballots: no debate matches, or the file has no votes")
    if labels is not None:
        table = label_ballots(table, resolve(labels)).ballots
    sample = without_simulated(table, include=options.simulated)
    table = sample.ballots
    one_panel(table)
    votes = last_votes(table, options.scale)
    if options.on == "false_pass" and not votes.matrix.scale.ordered:
        raise AnalysisError("false passes need an order of the verdicts: declare it with --order LOW,…,HIGH")
    parts = _parts(votes, options)
    labelled = votes.labels >= 0
    _enough(int((parts.certify & labelled).sum()), options)
    signal = fit_signal(options.signal, votes, parts.fit)
    certificate, test = _certified(signal, votes, parts, options)
    counts = {part: _part(votes, getattr(parts, part)) for part in PARTS}
    return CalibrationReport(
        on=options.on,
        verdict=votes.verdict,
        categories=votes.matrix.scale.categories,
        seats=votes.matrix.seats,
        signal=signal,
        split=None if options.cases else _split(options),
        seed=None if options.cases else options.seed,
        parts=counts,
        certificate=certificate,
        test=test,
        labels=digest_of(
            sorted(
                [debate, votes.matrix.scale.categories[code]]
                for debate, code in zip(votes.matrix.debates.to_pylist(), votes.labels.tolist(), strict=True)
                if code >= 0
            )
        ),
        excluded=sample.excluded,
        warnings=(*sample.warnings, *certificate.warnings, *_notes(options, counts)),
        votes_alone=VotesAlone(*_certified(ShareSignal(), votes, parts, options)) if with_steps else None,
    )


def _certified(
    signal: AnySignal, votes: LastVotes, parts: Parts, options: CalibrationOptions
) -> tuple[Certificate, PartReport | None]:
    """What a signal certifies, and what its threshold does on the test part."""
    values, labelled = signal_values(signal, votes), votes.labels >= 0
    subject, wrong = promised(votes, options.on)
    values = np.where(subject, values, np.nan)
    used = parts.certify & labelled
    certificate = certify(
        values[used],
        wrong[used],
        votes.matrix.clusters[used].astype(np.int64),
        levels(signal, values[parts.fit], len(votes.matrix.seats)),
        risk=options.risk,
        confidence=options.confidence,
    )
    return certificate, _test(votes, values, wrong, parts.test & labelled, certificate.threshold)


def promised(votes: LastVotes, on: Harm) -> tuple[Bools, Bools]:
    """[units] each: whether the promise is about the verdict, and whether it is wrong.

    error: every decided verdict; it is wrong where it is not the label. false_pass: verdicts that pass; they are wrong
    where the label fails.
    """
    verdicts, labels = votes.verdicts, votes.labels
    if on == "error":
        return verdicts >= 0, (verdicts >= 0) & (labels >= 0) & (verdicts != labels)
    scale = votes.matrix.scale
    return scale.passes(verdicts), scale.passes(verdicts) & scale.fails(labels)


def _split(options: CalibrationOptions) -> tuple[float, float, float]:
    return options.split or (WITH_MODEL if options.signal in FITTED else WITHOUT_MODEL)


def _parts(votes: LastVotes, options: CalibrationOptions) -> Parts:
    matrix = votes.matrix
    parts = (
        named_parts(matrix, options.cases) if options.cases else split_clusters(matrix, _split(options), options.seed)
    )
    if options.signal in FITTED and not parts.fit.any():
        raise BadSplit(f"the signal {options.signal} is fitted: name cases with --fit, or split as in 40/40/20")
    if not parts.certify.any():
        raise BadSplit("there is no case to certify on: name cases with --certify, or split as in 40/40/20")
    return parts


def _enough(labelled: int, options: CalibrationOptions) -> None:
    fewest = fewest_labels(options.risk, options.confidence)
    if labelled < fewest:
        raise TooFewLabels(
            f"{labelled} labels to certify on are too few: a risk of {options.risk:g} with confidence "
            f"{options.confidence:g} takes {fewest} at least, and more if any verdict is wrong"
        )


def _part(votes: LastVotes, units: Bools) -> PartOfCases:
    matrix = votes.matrix
    names = pa.array(units)
    return PartOfCases(
        debates=int(units.sum()),
        labelled=int((units & (votes.labels >= 0)).sum()),
        clusters=len(np.unique(matrix.clusters[units])),
        digest=digest_of(sorted(matrix.debates.filter(names).to_pylist())),
    )


def _test(votes: LastVotes, values: Floats, wrong: Bools, units: Bools, threshold: float | None) -> PartReport | None:
    if threshold is None or not units.any():
        return None
    accepted = units & (np.nan_to_num(values, nan=-1.0) >= threshold)
    decided, clusters = units & (votes.verdicts >= 0), votes.matrix.clusters
    nothing = missing(NONE_ACCEPTED)
    return PartReport(
        units=int(units.sum()),
        accepted=int(accepted.sum()),
        wrong=int((accepted & wrong).sum()),
        risk=proportion(wrong, accepted, clusters) if accepted.any() else nothing,
        coverage=proportion(accepted, units, clusters),
        accuracy=proportion(votes.verdicts == votes.labels, decided, clusters),
    )


def _notes(options: CalibrationOptions, parts: Mapping[str, PartOfCases]) -> tuple[str, ...]:
    notes = []
    if options.signal not in FITTED and (unused := parts["fit"].labelled):
        name = "vote share" if options.signal == "share" else f"signal {options.signal}"
        notes.append(f"the {name} is not fitted: the {unused} labels of the fit part are not used")
    if not parts["test"].labelled:
        notes.append("there is no test part: the coverage is of the cases that the threshold was chosen on")
    if options.signal == "dawid_skene":
        notes.append(
            "posteriors of Dawid and Skene take the seats' errors for independent: only the threshold is certified"
        )
    return tuple(notes)


def digest_of(value: Any) -> str:
    return sha256(canonical_json(value)).hexdigest()


# Thresholds are tried from the highest down, until the upper bound of wrong / accepted exceeds the risk. Since the
# order is fixed beforehand and the first failure ends it, no correction for the number of thresholds is needed (fixed
# sequence testing; Learn then Test, arXiv 2110.01052; for judges arXiv 2407.18370). Levels that accept verdicts in
# fewer clusters than could ever be certified, even without an error, are passed over: their number does not depend on
# the labels.
def certify(
    values: Floats, wrong: Bools, clusters: Ints, levels: Floats, *, risk: float, confidence: float
) -> Certificate:
    """Find the lowest threshold of the sequence whose bound is at most `risk`.

    Args:
        values: [labelled units]: the signal; nan where there is no verdict that the promise is about.
        wrong: [labelled units].
        clusters: [labelled units]. Where a cluster has more than one unit the bound is the clustered one.
        levels: thresholds, descending, that were fixed without these labels.
        risk: most wrong / accepted, 0-1.
        confidence: of the promise, 0-1.
    """
    subject = ~np.isnan(values)
    filled = np.where(subject, values, -1.0)
    number = len(np.unique(clusters))
    sequence: list[Tried] = []
    for level in levels.tolist():
        accepted = filled >= level
        count = int(accepted.sum())
        if count == (sequence[-1].accepted if sequence else 0):
            continue
        table = counts_by_cluster(accepted, wrong, clusters) if number < len(clusters) else ()
        sequence.append(Tried(float(level), count, int((accepted & wrong).sum()), table))
    return certificate(
        sequence,
        units=len(values),
        clusters=number,
        subject=int(subject.sum()),
        risk=risk,
        confidence=confidence,
    )


def clustered_bound(accepted: Bools, wrong: Bools, clusters: Ints, confidence: float) -> float:
    """`bound_by_cluster` of units; arguments as of `counts_by_cluster`."""
    return bound_by_cluster(counts_by_cluster(accepted, wrong, clusters), confidence)


def counts_by_cluster(accepted: Bools, wrong: Bools, clusters: Ints) -> tuple[tuple[int, int, int], ...]:
    """Accepted units, wrong ones of these, and how many clusters have these two counts; sorted.

    Args:
        accepted: [units].
        wrong: [units]: counts where accepted.
        clusters: [units], codes from 0.
    """
    _, codes = np.unique(clusters, return_inverse=True)
    sizes, errors = np.bincount(codes, weights=accepted), np.bincount(codes, weights=accepted & wrong)
    pairs, numbers = np.unique(np.stack([sizes, errors]).astype(np.int64), axis=1, return_counts=True)
    return tuple(zip(*pairs.tolist(), numbers.tolist(), strict=True))
