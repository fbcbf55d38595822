"""Statistics of ballots, whole or group by group: by variant, by run."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.estimate import Estimate
from jury_analysis.ladder_use import AuditedCase, AuditedShare, audited_shares
from jury_analysis.report_object import json_object
from jury_analysis.statistics import Statistics, StatisticsOptions, statistics
from jury_analysis.true_rate import TrueRate
from jury_analysis.wording import Reason, Wording
from jury_events.errors import SettingError
from jury_events.panel import Language
from jury_events.text import visible_line
from jury_judge.store_access.debates import opening_of, rows_of_run
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore
from jury_views.notebook import statistics_html
from jury_views.result_models import CellHtml, ShownAsCell

_DISAGREES = Wording(
    "run {run}: the last stage has another verdict on {whole} of the audited early exits: {each}; which is right, "
    "labels alone say",
    "実行{run}: 監査した早期確定のうち最終段の判定が異なるもの: {whole}（{each}）。"
    "どちらが正しいかはラベルだけが示します",
)
_ERRS = Wording(
    "run {run}: of the audited early exits with a label, {wrong} have another one",
    "実行{run}: ラベルのある監査済み早期確定のうち、ラベルと異なるもの: {wrong}",
)


class RunAudits(NamedTuple):
    """The audits of a run: of all early exits, then by the early verdict (its label, under a scale of the panels')."""

    run_id: str
    shares: tuple[AuditedShare, ...]

    def lines(self) -> Iterator[Reason]:
        """For people."""
        whole, *each = self.shares
        by_verdict = ", ".join(f"{visible_line(one.verdict or '', 60)} {_said(one.disagreement)}" for one in each)
        yield _DISAGREES(run=self.run_id, whole=_said(whole.disagreement), each=by_verdict)
        if whole.error.n:
            yield _ERRS(run=self.run_id, wrong=_said(whole.error))

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {"run_id": self.run_id, "shares": [asdict(one) for one in self.shares]}


def run_audits(store: EventStore, run_ids: Iterable[str]) -> Iterator[RunAudits]:
    """The audits of those runs that have any which are completed."""
    for run_id in run_ids:
        if cases := list(_cases(store, run_id)):
            yield RunAudits(run_id, audited_shares(cases))


def _cases(store: EventStore, run_id: str) -> Iterator[AuditedCase]:
    for row in rows_of_run(store, run_id, counted=False):
        if row.aside != "audit" or row.status != "completed":
            continue
        place = opening_of(store, row.debate_id).stage
        early = None if place is None or place.before is None else store.debate(place.before)
        if early is not None and (verdict := _verdict(early)) is not None:
            # A label of the case is an outcome: under a scale of the panels' own it is not compared.
            yield AuditedCase(verdict, _verdict(row), None if early.final_label else early.label)


def _verdict(row: DebateRow) -> str | None:
    return row.final_label or row.final_verdict


def _said(one: Estimate) -> str:
    counted = f"{round((one.value or 0.0) * one.n)} of {one.n}"
    if one.value is None or one.interval is None:
        return counted
    return f"{counted} ({one.value:.1%}, 95 % {one.interval.low:.1%} to {one.interval.high:.1%})"


COLUMNS = {"variant": "variant", "run": "run_id"}
"""The column of the ballots for each name by which they can be grouped. Panels are groups inside a report."""

_SHOWN = 5

_WITHOUT_VOTES = Wording(
    "labels of {n} cases without votes: {cases}",
    "票のないケース{n}件のラベル: {cases}",
    one="labels of {n} case without votes: {cases}",
)
_DIFFERING = Wording(
    "the labels of --labels differ from those of {n} cases, and win: {cases}",
    "--labelsのラベルがケース{n}件のラベルと異なり、優先されます: {cases}",
    one="the labels of --labels differ from those of {n} case, and win: {cases}",
)
_TIES = Wording(
    "the annotators of {n} cases tie: these have no label",
    "アノテーターの意見が同数に分かれたケース{n}件: ラベルなしとします",
    one="the annotators of {n} case tie: these have no label",
)
_OF_GROUP = Wording("{group}: {line}", "{group}: {line}")


@dataclass(frozen=True)
class StatisticsGroup:
    """The statistics of the ballots with these values."""

    values: tuple[str | None, ...]
    """One for each of `GroupedStatistics.by`; None: the ballots have none."""
    statistics: Statistics


@dataclass(frozen=True)
class GroupedStatistics(ShownAsCell):
    """One report, or one a group; tests are corrected for their number within each."""

    by: tuple[str, ...]
    groups: tuple[StatisticsGroup, ...]
    unmatched: tuple[str, ...] = ()
    """Cases of the table of labels that have no ballots, sorted."""
    audits: tuple[RunAudits, ...] = ()
    """Of staged runs: where the last stage judged cases too that an earlier one accepted."""
    true_rates: tuple[TrueRate, ...] = ()
    """Of the one run, a rate for each label, by the draws that are on record."""
    drift: Reason | None = None
    """Of the panel of the one run: when it was calibrated, and what its last drift check found."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values: the report itself if nothing is grouped."""
        more: dict[str, Any] = {"audits": [one.to_dict() for one in self.audits]} if self.audits else {}
        if self.true_rates:
            more["true_rates"] = [json_object(one) for one in self.true_rates]
        if self.drift is not None:
            more["drift"] = self.drift
        if not self.by:
            return {**self.groups[0].statistics.to_dict(), **more}
        groups = [{**dict(zip(self.by, one.values, strict=True)), **one.statistics.to_dict()} for one in self.groups]
        return {"by": list(self.by), "groups": groups, **more}

    def named(self) -> list[tuple[str, Statistics]]:
        """The statistics of each group with its name; "" if nothing is grouped."""
        return [(group_name(self.by, one.values) if self.by else "", one.statistics) for one in self.groups]

    def to_html(self, lang: Language = "en") -> CellHtml:
        """Charts and tables of each group, as a cell of a notebook shows them (docs/python-api.md)."""
        return CellHtml(statistics_html(self.named(), lang, self.remarks()))

    def remarks(self) -> Iterator[Reason]:
        """Lines about labels that differ from those of the cases, tie, or are of no case; and about audits."""
        for audited in self.audits:
            yield from audited.lines()
        if self.unmatched:
            yield _WITHOUT_VOTES(n=len(self.unmatched), cases=_listed(self.unmatched))
        for group in self.groups:
            for line in _label_lines(group.statistics):
                yield _OF_GROUP(group=group_name(self.by, group.values), line=line) if self.by else line


def grouped_statistics(
    ballots: pa.Table, labels: pa.Table | None, options: StatisticsOptions, *, by: Sequence[str] = ()
) -> GroupedStatistics:
    """The statistics of the ballots, for each group if there are names in `by` (of `COLUMNS`).

    Groups are in the order of their values, those without one last.
    """
    unmatched = () if labels is None else _unmatched(ballots, labels)
    names = tuple(dict.fromkeys(by))
    found = [
        StatisticsGroup(values, statistics(part, labels, options))
        for values, part in _parts(ballots, [COLUMNS[name] for name in names])
    ]
    return GroupedStatistics(names, tuple(found), unmatched)


def group_name(by: Sequence[str], values: Sequence[str | None]) -> str:
    """`variant swapped, run r1`."""
    return ", ".join(
        f"no {name}" if value is None else f"{name} {visible_line(value, 80)}"
        for name, value in zip(by, values, strict=True)
    )


def _parts(ballots: pa.Table, columns: list[str]) -> Iterator[tuple[tuple[str | None, ...], pa.Table]]:
    if not columns:
        yield (), ballots
        return
    column = ballots[columns[0]].cast(pa.string())
    for value in sorted(pc.unique(column).to_pylist(), key=lambda one: (one is None, one or "")):
        chosen = pc.is_null(column) if value is None else pc.fill_null(pc.equal(column, value), fill_value=False)
        for values, part in _parts(ballots.filter(chosen), columns[1:]):
            yield (value, *values), part


def _label_lines(found: Statistics) -> Iterator[Reason]:
    join = found.labels
    if join is None:
        return
    if join.differing:
        yield _DIFFERING(n=len(join.differing), cases=_listed(join.differing))
    if join.ties:
        yield _TIES(n=join.ties)


def _unmatched(ballots: pa.Table, labels: pa.Table) -> tuple[str, ...]:
    labelled = pc.unique(labels["case_id"])
    judged = pc.unique(ballots["case_id"].cast(pa.string()))
    unknown = tuple(sorted(labelled.filter(pc.invert(pc.is_in(labelled, value_set=judged))).to_pylist()))
    if len(unknown) == len(labelled):
        raise SettingError(
            f"no label is of a case with votes: the labels are of {_listed(unknown)}, the votes of "
            f"{_listed(sorted(judged.to_pylist()))}; give both the same case ids"
        )
    return unknown


def _listed(cases: Sequence[str]) -> str:
    more = f" and {len(cases) - _SHOWN:,} more" if len(cases) > _SHOWN else ""
    return ", ".join(visible_line(case, 80) for case in cases[:_SHOWN]) + more


@dataclass(frozen=True)
class ShownStatistics(ShownAsCell, Statistics):
    """The report, with charts and tables for a cell of a notebook."""

    @classmethod
    def of(cls, found: Statistics) -> "ShownStatistics":
        """The same report."""
        return cls(**{one.name: getattr(found, one.name) for one in fields(found)})

    def to_html(self, lang: Language = "en") -> CellHtml:
        """Charts and tables of each panel."""
        return CellHtml(statistics_html([("", self)], lang))
