"""All statistics of a table of ballots, as one report."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.accuracy import AccuracyReport, EffectiveVotes, LevelReport, accuracy, effective_votes, level_report
from jury_analysis.agreement import Agreement, Repeats, RoundConvergence, agreement, convergence, self_agreement
from jury_analysis.ballots import STATISTICS_COLUMNS, check
from jury_analysis.confidence import ConfidenceReport, confidence
from jury_analysis.discussion import DiscussionReport, ReasoningReport, discussion, discussion_price, reasoning_report
from jury_analysis.errors import BadBallots
from jury_analysis.estimate import Estimate, Interval, missing
from jury_analysis.faults import FaultReport, MessageAgreement, faults, message_agreement, named_items, named_messages
from jury_analysis.intervals import RESAMPLES, SEED, clustered_mean, holm, proportion, t_quantile
from jury_analysis.labels import EPSILON, AnnotatorReport, annotators, label_ballots, resolve
from jury_analysis.quotation_shares import QuotationShares, ReadShares, quotation_shares, read_shares
from jury_analysis.reasons import ALL_LABELLED, FEWER_THAN_TWO_VOTES, NO_DEBATE_LABEL, NOT_RANDOM
from jury_analysis.report_object import ReportObject
from jury_analysis.scale import BallotOptions, Exclusion, Scale, debates_in, panels_of, plain_text, without_simulated
from jury_analysis.vote_matrix import Bools, VoteMatrix, before_reasoning, by_round, panel_plurality
from jury_analysis.wording import Reason


@dataclass(frozen=True)
class VerdictShare:
    """How often one verdict occurs; `n` counts debates."""

    verdict: str
    count: int
    raw: Estimate
    """The jury's verdicts, over all debates; debates without a verdict stay in the denominator."""
    labelled: Estimate
    """The labels, over the labelled debates."""
    corrected: Estimate
    """Prediction-powered: the jury's share over the unlabelled, plus the mean of label minus jury over the labelled."""


def shares(matrix: VoteMatrix, *, random_labels: bool = False) -> tuple[VerdictShare, ...]:
    """Shares of all declared verdicts: the jury's final verdict where known, otherwise the strict plurality of seats.

    Corrected share (Angelopoulos et al., "Prediction-powered inference", Science 382:669, 2023): mean of f over the
    unlabelled + mean of (y - f) over the labelled, f = 1[jury's verdict], y = 1[label]. Its variance is the sum of the
    two cluster-robust variances; t has the smaller number of clusters minus 1 degrees of freedom.

    Args:
        matrix: of round 0, of one panel.
        random_labels: whether the labelled debates are a random sample of all: without it there is no corrected share.
    """
    plurality, _ = panel_plurality(matrix)
    verdicts = np.where(matrix.finals >= 0, matrix.finals, plurality)
    labelled = matrix.labels >= 0
    return tuple(
        _share(matrix, name, verdicts == code, matrix.labels == code, labelled, random_labels=random_labels)
        for code, name in enumerate(matrix.scale.categories)
    )


def _share(
    matrix: VoteMatrix, name: str, given: Bools, true: Bools, labelled: Bools, *, random_labels: bool
) -> VerdictShare:
    everything = np.ones(matrix.units, dtype=np.bool_)
    return VerdictShare(
        verdict=name,
        count=int(np.count_nonzero(given)),
        raw=proportion(given, everything, matrix.clusters),
        labelled=proportion(true, labelled, matrix.clusters) if labelled.any() else missing(NO_DEBATE_LABEL),
        corrected=_corrected_share(matrix, given, true, labelled)
        if random_labels
        else missing(NOT_RANDOM, matrix.units),
    )


def _corrected_share(matrix: VoteMatrix, given: Bools, true: Bools, labelled: Bools) -> Estimate:
    if not labelled.any():
        return missing(NO_DEBATE_LABEL, matrix.units)
    if labelled.all():
        return missing(ALL_LABELLED, matrix.units)
    predicted = clustered_mean(given, ~labelled, matrix.clusters)
    correction = clustered_mean(true.astype(np.float64) - given, labelled, matrix.clusters)
    value = (predicted.mean.value or 0.0) + (correction.mean.value or 0.0)
    parts = (predicted.mean, correction.mean)
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    if predicted.standard_error is None or correction.standard_error is None:
        return Estimate(value, None, matrix.units, notes=notes)
    clusters = min(part.interval.clusters for part in parts if part.interval is not None)
    half = t_quantile(clusters - 1) * float(np.hypot(predicted.standard_error, correction.standard_error))
    interval = Interval(value - half, value + half, "prediction-powered t", clusters)
    return Estimate(value, interval, matrix.units, notes=notes)


SCHEMA_NUMBER = 1
"""Of `Statistics.to_dict`; `report_schema("stats")` describes it."""


@dataclass(frozen=True)
class StatisticsOptions(BallotOptions):
    """What is computed, and of which ballots."""

    by_panel: bool = False
    """Debates of different panels are analysed apart; without it they are refused."""
    random_labels: bool = False
    """The labelled debates are a random sample of all, so that shares can be corrected."""
    epsilon: float = EPSILON
    """Of the alternative-annotator test."""
    resamples: int = RESAMPLES
    seed: int = SEED


@dataclass(frozen=True)
class LabelJoin:
    """What a table of labels did to the labels of the ballots."""

    annotators: int
    cases: int
    """Cases in the table of labels."""
    differing: tuple[str, ...]
    """Cases whose ballots had another label: the table wins."""
    unmatched: int
    """Labelled cases without ballots."""
    ties: int
    """Cases of the ballots whose annotators tie: they have no label."""


@dataclass(frozen=True)
class PanelStatistics:
    """All statistics of the debates of one panel."""

    panel: str | None
    """The panel's fingerprint; None where it is unknown."""
    debates: int
    cases: int
    clusters: int
    """The unit of all intervals."""
    simulated: int
    """How many of the debates are simulated."""
    seats: tuple[str, ...]
    excluded: tuple[Exclusion, ...]
    agreement: Agreement
    """Of the first evaluation."""
    self_agreement: Repeats
    against_labels: AccuracyReport
    effective_votes: EffectiveVotes
    faults: FaultReport | None
    """None where nothing is known of messages and outcomes (`ballots.MESSAGES`), or no debate has a label."""
    messages: MessageAgreement | None
    """None where no vote names the message that went wrong."""
    items: MessageAgreement | None
    """The same of the items of recorded debates, whose numbers are those of the prompts."""
    quotations: QuotationShares | None
    """None where no evaluation was asked for evidence."""
    annotators: AnnotatorReport | None
    """None without a table of labels of two annotators or more."""
    confidence: ConfidenceReport
    convergence: tuple[RoundConvergence, ...]
    discussion: DiscussionReport
    shares: tuple[VerdictShare, ...]
    levels: LevelReport | None = None
    """Of a scale of levels whose labels are counted."""
    reading: ReadShares | None = None
    """None where every vote of the first evaluation rests on all of the record, read in one call."""
    reasoning: ReasoningReport | None = None
    """None where no seat was shown the agent's reasoning after a first vote."""


@dataclass(frozen=True)
class CountedScale:
    """The panel's own scale whose labels are counted; figures of another digest are not comparable."""

    name: str
    digest: str
    """64 hexadecimal digits of labels, outcomes and meanings."""
    outcomes: dict[str, str]
    """What each label comes to: pass, review or fail; from the best label to the worst."""


@dataclass(frozen=True)
class Statistics(ReportObject):
    """The report. Figures that cannot be had honestly have no value but a reason."""

    schema: int
    categories: tuple[str, ...]
    ordered: bool
    resamples: int
    seed: int
    warnings: tuple[Reason, ...]
    """To be shown first."""
    excluded: tuple[Exclusion, ...]
    """Left out of all panels; each panel has its own exclusions beside these."""
    labels: LabelJoin | None
    """None without a table of labels."""
    tests_of_net_gain: int
    """The family of tests whose p values are Holm-corrected together: one a discussion step and panel."""
    panels: tuple[PanelStatistics, ...] = field(default=())
    scale: CountedScale | None = None
    """None under the three verdicts, where outcomes are counted, and for votes of files."""

    @property
    def all_simulated(self) -> bool:
        """Whether every debate that counts is simulated."""
        return all(one.simulated == one.debates for one in self.panels)


def statistics(
    ballots: pa.Table, labels: pa.Table | None = None, options: StatisticsOptions | None = None
) -> Statistics:
    """Everything that the ballots say.

    Args:
        labels: rows of `label_schema.LABELS`, which win over the labels of the ballots.
    """
    options = options or StatisticsOptions()
    table = check(ballots, STATISTICS_COLUMNS)
    if not table.num_rows:
        raise BadBallots("there are no ballots: no debate matches, or the file has no votes")
    join = None
    if labels is not None:
        resolved = resolve(labels)
        joined = label_ballots(table, resolved)
        table = joined.ballots
        join = LabelJoin(len(resolved.annotators), resolved.cases, joined.differing, joined.unmatched, joined.ties)
    sample = without_simulated(table, include=options.simulated)
    table = sample.ballots
    known = pc.unique(plain_text(table["label"])).drop_null().to_pylist()
    scale = options.scale.against(known)
    panels = tuple(
        _panel(name, part, labels, scale, options) for name, part in panels_of(table, apart=options.by_panel)
    )
    panels, tests = _corrected(panels)
    return Statistics(
        schema=SCHEMA_NUMBER,
        categories=scale.categories,
        ordered=scale.ordered,
        resamples=options.resamples,
        seed=options.seed,
        warnings=sample.warnings,
        excluded=sample.excluded,
        labels=join,
        tests_of_net_gain=tests,
        panels=panels,
        scale=_counted_scale(scale),
    )


def _counted_scale(scale: Scale) -> CountedScale | None:
    own = scale.labels_of
    if own is None:
        return None
    return CountedScale(own.name, own.digest, {name: own.label(name).outcome for name in scale.categories})


def _panel(
    name: str | None, table: pa.Table, labels: pa.Table | None, scale: Scale, options: StatisticsOptions
) -> PanelStatistics:
    rounds = by_round(table, scale, stale=options.stale, synthetic=options.synthetic)
    if 0 not in rounds:
        raise BadBallots(
            f"the ballots of panel {name or 'unknown'} have no juror's vote of round 0: "
            "rounds count from 0, the first evaluation"
        )
    first = rounds[0]
    how = {"resamples": options.resamples, "seed": options.seed}
    named = named_messages(table, first)
    several = labels is not None and pc.count_distinct(labels["annotator"]).as_py() > 1
    return PanelStatistics(
        panel=name,
        debates=first.units,
        cases=len(first.case_names),
        clusters=len(first.cluster_names),
        simulated=debates_in(table.filter(table["simulated"])),
        seats=first.seats,
        excluded=tuple(_exclusions(rounds.values(), first)),
        agreement=agreement(first, **how),
        self_agreement=self_agreement(first, **how),
        against_labels=accuracy(first),
        effective_votes=effective_votes(first, **how),
        faults=None if named is None or not named.says_faults(first) else faults(first, named),
        messages=None if named is None else message_agreement(first, named),
        items=message_agreement(first, named_items(table, first)),
        quotations=quotation_shares(table, scale),
        annotators=annotators(first, labels, epsilon=options.epsilon) if several else None,
        confidence=confidence(first),
        convergence=convergence(rounds, **how),
        discussion=discussion(rounds, discussion_price(table)),
        shares=shares(first, random_labels=options.random_labels),
        levels=level_report(first),
        reading=read_shares(table, first),
        reasoning=reasoning_report(before_reasoning(table, scale, first), first),
    )


def _exclusions(rounds: Iterable[VoteMatrix], first: VoteMatrix) -> Iterator[Exclusion]:
    counts: dict[Reason, int] = {}
    for matrix in rounds:
        for reason, count in matrix.excluded.items():
            counts[reason] = counts.get(reason, 0) + count
    for reason, count in sorted(counts.items()):
        yield Exclusion(reason, "votes", count)
    alone = first.units - int(np.count_nonzero(np.count_nonzero(first.votes >= 0, axis=1) > 1))
    if alone:
        yield Exclusion(FEWER_THAN_TWO_VOTES, "debates", alone)


def _corrected(panels: tuple[PanelStatistics, ...]) -> tuple[tuple[PanelStatistics, ...], int]:
    """The tests of all panels are one family."""
    steps = [step for panel in panels for step in panel.discussion.steps]
    adjusted = iter(holm([step.net_gain.test.p_value for step in steps]))
    tests = sum(step.net_gain.test.p_value is not None for step in steps)
    corrected = []
    for panel in panels:
        own = tuple(
            replace(step, net_gain=replace(step.net_gain, test=replace(step.net_gain.test, p_holm=next(adjusted))))
            for step in panel.discussion.steps
        )
        corrected.append(replace(panel, discussion=replace(panel.discussion, steps=own, tests=tests)))
    return tuple(corrected), tests
