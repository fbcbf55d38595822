"""True rates of a run, or of a file of votes: which cases were drawn, what people say of them, and the decision."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import pyarrow as pa

from jury_analysis.labels import resolve
from jury_analysis.true_rate import Claim, DrawnLabels, Of, Source, Stratum, TrueRate, true_gate, true_rate
from jury_cases.votes.words import VerdictWords
from jury_events.errors import SettingError
from jury_events.panel import Language
from jury_events.text import visible_line
from jury_events.verdict import Verdict
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.reviews.random_draws import DrawnStratum, RecordedDraw, drawable_cases, recorded_draw
from jury_judge.reviews.review_agreement import review_labels
from jury_judge.settings.gate import GateSettings
from jury_judge.settings.statistics import REVIEWS
from jury_judge.store_access.debates import panel_of
from jury_judge.store_access.stores import Say
from jury_judge.tables.ballot_sources import Votes, counted_words, scale_of, stored_ballots
from jury_judge.tables.votes_of_files import counted_in_files, later_labels, read_label_files, read_vote_files
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter
from jury_store.event_store import EventStore
from jury_views.gate_view import GateInWords, true_gate_in_words
from jury_views.tally import parse_fail_condition

_DRAW = 150
"""Cases of the draw that is proposed."""


class Answers(NamedTuple):
    """What is known of the cases of a run.

    `said`: the label of each case that people labelled, None where they differ. `source`: `draw`, on record, or
    `assertion`: the labelled cases are taken as a random draw.
    """

    draw: RecordedDraw
    clusters: Mapping[str, str]
    said: Mapping[str, str | None]
    source: Source
    words: VerdictWords

    def of(self, label: str) -> DrawnLabels:
        """The draw by whether cases have this label; an answer that asks for people is unsure."""
        unsure = {*scale_of(self.words).for_people} - {label}

        def counted(cases: frozenset[str]) -> tuple[int, int, int]:
            said = [one for case in cases if (one := self.said.get(case)) is not None and one not in unsure]
            return len(cases), sum(one == label for one in said), sum(one != label for one in said)

        by_cluster: dict[str, set[str]] = {}
        for stratum in self.draw.strata:
            for case in stratum.drawn:
                by_cluster.setdefault(self.clusters[case], set()).add(case)
        alike = Counter(counted(frozenset(cases)) for cases in by_cluster.values())
        return DrawnLabels(
            strata=tuple(
                Stratum(None if one.verdict is None else one.verdict.value, len(one.cases), *counted(one.drawn))
                for one in self.draw.strata
            ),
            earlier=self.draw.earlier,
            source=self.source,
            by_cluster=tuple((*counts, number) for counts, number in sorted(alike.items())),
        )

    def verdict(self, label: str) -> str:
        """What the label comes to, as the jury says it."""
        scale = self.words.labels_of
        return label if scale is None else str(scale.verdict(label))


def true_gate_of(asked: GateSettings, store: EventStore | None, say: Say, drift: str = "") -> GateInWords:
    """The gate that is asked for.

    Args:
        store: with the run; None: it is a file of votes.
        drift: as in `GateInWords`.
    """
    (name,) = asked.sources or asked.votes
    found = _of_file(asked) if store is None else _of_run(asked, name, store, say)
    claim = claim_of(asked.true or "", found)
    of: Of = asked.rate_of or "run"
    _check_of(found, of)
    gate = true_gate(found.of(claim.label), claim, of)
    language = "en" if store is None else _language_of(store, name)
    return true_gate_in_words(name, gate, asked.inconclusive, drift, language)


def _language_of(store: EventStore, run_id: str) -> Language:
    """That of the jury: the panel of the run's first debate."""
    rows = store.debates(run_id=run_id, limit=1)
    return panel_of(store, rows[0].debate_id).panel.language if rows else "en"


def run_rates(store: EventStore, run_id: str, wanted: DebateFilter = EVERY_DEBATE) -> tuple[TrueRate, ...]:
    """The bounds of the rate of each label of a run, by what is on record of draws from it; () where nothing is."""
    wanted = wanted._replace(run_id=run_id)
    draw = recorded_draw(store, wanted)
    if draw is None:
        return ()
    words = counted_words(store, stored_ballots(store, wanted), None).words
    cases = drawable_cases(store, wanted)
    found = Answers(draw, {case: one.cluster for case, one in cases.items()}, _reviewed(store, words), "draw", words)
    return tuple(true_rate(found.of(label), label, found.verdict(label)) for label in words.categories)


def claim_of(text: str, found: Answers) -> Claim:
    """What is claimed, as `wrong<=2%`."""
    labels = found.words.categories
    read = parse_fail_condition(text, None)
    if read.name not in labels:
        named = ", ".join(labels)
        said = f"{visible_line(text, 100)}: {read.name!r:.60} is no label; the labels are {named}"
        raise SettingsRefused(f"{{true}} {escaped(said)}", usage=False)
    if not read.is_share:
        said = f"{visible_line(text, 100)}: a true rate is a share: write it as {read.name}<=2%"
        raise SettingsRefused(f"{{true}} {escaped(said)}", usage=False)
    return Claim(read.name, read.sign, Fraction(read.bound), found.verdict(read.name))


def _check_of(found: Answers, of: Of) -> None:
    if of == "agent" and any(one.verdict is not None for one in found.draw.strata):
        raise SettingsRefused(
            "{rate_of} agent: these cases were drawn by verdict, which says how often cases of this run have a label, "
            "and not how often cases like them do: that takes a draw from all cases of another run, or leave {rate_of} "
            "out",
            usage=False,
        )


def _of_run(asked: GateSettings, run_id: str, store: EventStore, say: Say) -> Answers:
    wanted = asked.chosen._replace(run_id=run_id)
    ballots = stored_ballots(store, wanted, run_ids=(run_id,))
    count = asked.count or ("outcomes" if _is_verdict(asked.true or "") else None)
    counted = counted_words(store, ballots, count)
    clusters = {case: one.cluster for case, one in drawable_cases(store, wanted).items()}
    votes = Votes(ballots, None, counted.words)
    files = [one for one in asked.labels if one != REVIEWS]
    if files:
        table, words = later_labels(files, counted.words, store, say)
        return _asserted(clusters, table, words)
    draw = recorded_draw(store, wanted)
    if draw is not None:
        if draw.others:
            say(f"{draw.others} recorded draws are from other cases than the run has now: they are left out")
        return Answers(draw, clusters, _reviewed(store, counted.words), "draw", counted.words)
    of_cases = _labels_of_cases(votes.counted)
    if asked.labels or not of_cases:
        name = escaped(visible_line(run_id, 100))
        size = min(_DRAW, len(clusters))
        raise SettingsRefused(
            f"no case of run {name} was drawn at random for a reviewer: draw with jury review --run {name} --sample "
            f"{size} --blind --reviewer NAME, or give {{labels}} FILE, whose cases you drew",
            usage=False,
        )
    return _taken_as_drawn(clusters, of_cases, counted.words)


def _of_file(asked: GateSettings) -> Answers:
    votes = read_vote_files(asked.files)
    counted = counted_in_files(votes, asked.count, usual="outcomes" if _is_verdict(asked.true or "") else "labels")
    votes = votes._replace(words=counted.words)
    table = votes.counted
    names, groups = (table[name].to_pylist() for name in ("case_id", "cluster"))
    clusters = {case: cluster or case for case, cluster in zip(names, groups, strict=True)}
    if asked.labels:
        given, words = read_label_files(asked.labels, votes.words)
        return _asserted(clusters, given, words)
    if votes.labels is not None:
        return _asserted(clusters, votes.labels, votes.words)
    return _taken_as_drawn(clusters, _labels_of_cases(table), votes.words)


def _asserted(clusters: Mapping[str, str], labels: pa.Table, words: VerdictWords) -> Answers:
    found = resolve(labels)
    said: dict[str, str | None] = dict.fromkeys(found.ties)
    said |= dict(zip(*(found.labels[name].to_pylist() for name in ("case_id", "label")), strict=True))
    return _taken_as_drawn(clusters, said, words)


def _taken_as_drawn(clusters: Mapping[str, str], said: Mapping[str, str | None], words: VerdictWords) -> Answers:
    drawn = frozenset(said) & frozenset(clusters)
    if not drawn:
        raise SettingsRefused(
            "no label is of a case that was judged: give both the same case ids, with {labels} FILE", usage=False
        )
    draw = RecordedDraw((DrawnStratum(None, frozenset(clusters), drawn),), (), 0)
    return Answers(draw, clusters, said, "assertion", words)


def _labels_of_cases(ballots: pa.Table) -> dict[str, str | None]:
    if "label" not in ballots.column_names:
        return {}
    cases, labels = (ballots[name].to_pylist() for name in ("case_id", "label"))
    return {case: label for case, label in zip(cases, labels, strict=True) if label is not None}


def _reviewed(store: EventStore, words: VerdictWords) -> dict[str, str | None]:
    """What reviewers of drawn cases say, who had not seen the jury's words; those who differ say nothing."""
    try:
        found = resolve(review_labels(store, words, random_only=True).labels).labels
    except SettingError:
        return {}  # nobody answered yet
    return dict(zip(found["case_id"].to_pylist(), found["label"].to_pylist(), strict=True))


def _is_verdict(claim: str) -> bool:
    """Whether the claim names an outcome, and no label of a scale of the panel's own."""
    return parse_fail_condition(claim, None).name in tuple(Verdict)
