"""Gates over runs of a store, or over lists of judges of files: which ballots are compared, and the decision."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from jury_analysis.ballots import LABELS
from jury_analysis.gate import GateOptions, GateReport, gate
from jury_analysis.gate_plan import GatePlan, assumed_plan, measured_plan, repeats_apart
from jury_analysis.paired import paired
from jury_analysis.pairing import PairedOptions, Verdicts
from jury_analysis.scale import Scale
from jury_cases.votes.words import VerdictWords, parse_words
from jury_judge.errors import SettingsRefused
from jury_judge.settings.gate import GateSettings
from jury_judge.settings.statistics import Count
from jury_judge.store_access.counted_panels import ChosenScale, effort_lines
from jury_judge.store_access.debates import opening_of
from jury_judge.store_access.stores import Say
from jury_judge.tables.ballot_sources import Votes, counted_words, of_seats, stored_ballots
from jury_judge.tables.table_files import distinct_scales
from jury_judge.tables.votes_of_files import (
    common_words,
    counted_in_files,
    later_labels,
    read_vote_files,
    with_later_labels,
)
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter
from jury_store.event_store import EventStore


class GateSides(NamedTuple):
    """The two sides of a gate, with their names; before the candidate is judged there is none.

    `verdicts`: of runs the final ones, of lists of judges the strict plurality of their first votes. `words`: the
    verdicts of the ballots of runs, which are as they are counted; `chosen`: what is counted of which scale of the
    panels' own.
    """

    base: str
    candidate: str | None
    ballots: tuple[pa.Table, pa.Table | None]
    verdicts: Verdicts
    words: VerdictWords | None = None
    chosen: ChosenScale = ChosenScale()


class Judged(NamedTuple):
    """What was judged so far, for a gate or a plan.

    Attributes:
        sides: None: nothing was judged.
        labels: `jury_analysis.ballots.LABELS`, which win over those of the ballots; None: there are none.
        words: the verdicts.
    """

    sides: GateSides | None
    labels: pa.Table | None
    words: VerdictWords


class AssumedVariation(NamedTuple):
    """What a plan takes for granted; None: what is measured, else the defaults of `jury_analysis.gate_plan`."""

    discordance: float | None = None
    cluster_size: float | None = None
    correlation: float | None = None


def judged_sides(asked: GateSettings, store: EventStore | None, say: Say) -> Judged:
    """The sides that are asked for, and the labels.

    Args:
        store: with the runs; None: they are in files, or there are none.
    """
    if asked.files:
        sides, votes = _sides_of_files(asked)
        votes = with_later_labels(votes, asked.labels, store, say)
        return Judged(sides, votes.labels, votes.words)
    words = parse_words(order=asked.order, categories=asked.categories)
    if store is None:
        return Judged(None, None, words)
    labels = None
    base, candidate = (*asked.sources, None)[:2]
    assert base is not None, "a store is open for runs alone"
    sides = sides_of_runs(store, base, candidate, asked.chosen, count=asked.count or "outcomes")
    words = sides.words or words
    if sides.chosen.mixed:
        say(sides.chosen.mixed)
    if asked.labels:
        labels, words = later_labels(asked.labels, words, store, say)
    named = zip((sides.base, sides.candidate), sides.ballots, strict=True)
    # A debate of each run: a run has one panel.
    first = {f"run {name}": str(table["debate_id"][0]) for name, table in named if name and table is not None}
    for line in effort_lines(store, first):
        say(line)
    return Judged(sides, labels, words)


def _sides_of_files(asked: GateSettings) -> tuple[GateSides, Votes]:
    """The sides, and the votes of both."""
    if asked.of_judges:
        votes = read_vote_files(asked.files)
        counted = counted_in_files(votes, asked.count, usual="outcomes")
        votes = votes._replace(words=counted.words)
        sides = sides_of_judges(votes.counted, asked.base, asked.candidate)
        return sides._replace(words=counted.words, chosen=counted.chosen), votes
    found = [read_vote_files([file]) for file in asked.files]
    words = common_words([(file, votes.words) for file, votes in zip(asked.files, found, strict=True)])
    of_files = any(votes.scales for votes in found)
    scales = distinct_scales(scale for votes in found for scale in votes.scales or (None,)) if of_files else ()
    counted = counted_in_files(Votes(found[0].ballots, None, words, scales), asked.count, usual="outcomes")
    labels = [votes.labels for votes in found if votes.labels is not None]
    # A case of both files has its labels in both.
    unique = pa.concat_tables(labels).group_by(LABELS.names, use_threads=False).aggregate([]) if labels else None
    base, candidate = (*asked.files, None)[:2]
    tables = [votes._replace(words=counted.words).counted for votes in found]
    first, second = (*tables, None)[:2]
    assert base is not None, "settings name a file"
    assert first is not None, "a file was read for each name"
    together = Votes(first, None if unique is None else unique.cast(LABELS), counted.words)
    return GateSides(base, candidate, (first, second), "plurality", counted.words, chosen=counted.chosen), together


def sides_of_runs(
    store: EventStore,
    base: str,
    candidate: str | None,
    wanted: DebateFilter = EVERY_DEBATE,
    *,
    count: Count | None = "outcomes",
) -> GateSides:
    """The finished debates of two runs.

    `count` is of debates under a scale of the panels' own; None: labels, where both runs are of one scale.
    """
    first = stored_ballots(store, wanted, run_ids=(base,))
    second = None if candidate is None else stored_ballots(store, wanted, run_ids=(candidate,))
    both = [_of_one_ladder(store, one) for one in ([first] if second is None else [first, second])]
    found = counted_words(store, both, count)
    counted = [Votes(one, None, found.words).counted for one in both]
    tables = (counted[0], counted[1] if len(both) > 1 else None)
    return GateSides(base, candidate, tables, "final", found.words, found.chosen)


def _of_one_ladder(store: EventStore, ballots: pa.Table) -> pa.Table:
    """The ballots of a run; the stages of a ladder judge as one panel, which has the digest of the ladder."""
    first = str(ballots["debate_id"][0])
    row = store.debate(first)
    place = None if row is None or row.stage is None else opening_of(store, first).stage
    if place is None:
        return ballots
    names = pa.array([place.ladder[:16]] * ballots.num_rows, pa.string()).dictionary_encode()
    at = ballots.schema.get_field_index("panel")
    return ballots.set_column(at, ballots.schema.field(at), names.cast(ballots.schema.field(at).type))


def sides_of_judges(ballots: pa.Table, base: Sequence[str], candidate: Sequence[str]) -> GateSides:
    """Two lists of judges; without the second there is no candidate."""
    first = of_seats(ballots, base, setting="base")
    second = of_seats(ballots, candidate, setting="candidate") if candidate else None
    return GateSides(", ".join(base), ", ".join(candidate) or None, (first, second), "plurality")


def decide(sides: GateSides, labels: pa.Table | None, options: GateOptions) -> GateReport:
    """The gate of both sides."""
    first, second = sides.ballots
    if second is None:
        raise SettingsRefused(
            "a gate needs two sides: name a candidate beside the base, or plan with {plan} CASES", usage=False
        )
    return gate(first, second, labels, _of(sides, options))


def plan(
    cases: int,
    sides: GateSides | None,
    labels: pa.Table | None,
    options: GateOptions,
    assumed: AssumedVariation | None = None,
) -> GatePlan:
    """What so many cases could find.

    How much pairs vary is measured between base and candidate, or without a candidate between the first two repeats of
    the base; without both, or with a discordance, it is assumed.

    Args:
        sides: what was judged so far; None: nothing.
        labels: rows of `jury_analysis.labels.LABELS`.
    """
    assumed = assumed or AssumedVariation()
    known = None
    if sides is not None:
        options = _of(sides, options)
        first, second = sides.ballots
        pilot = (first, second) if second is not None else repeats_apart(first)
        if pilot is not None and assumed.discordance is None:
            if assumed.cluster_size is not None or assumed.correlation is not None:
                raise SettingsRefused(
                    "what was judged twice says how much cases of a cluster resemble each other: leave {cluster_size} "
                    "and {correlation} out, or assume with {discordance} too how many pairs change",
                    usage=False,
                )
            return measured_plan(cases, options, paired(*pilot, labels, options.paired))
        known = paired(first, first, labels, options.paired)
    return assumed_plan(
        cases,
        options,
        discordance=assumed.discordance,
        cluster_size=assumed.cluster_size,
        correlation=assumed.correlation or 0.0,
        pilot=known,
    )


def paired_as(sides: GateSides, options: PairedOptions) -> PairedOptions:
    """The options with what the verdicts of these sides are."""
    options = replace(options, verdicts=sides.verdicts)
    if sides.words is not None and sides.words.labels_of is not None:
        options = replace(options, scale=Scale.of_labels(sides.words.labels_of))
    return options


def _of(sides: GateSides, options: GateOptions) -> GateOptions:
    return replace(options, paired=paired_as(sides, options.paired))
