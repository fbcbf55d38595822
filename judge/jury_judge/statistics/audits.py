"""The audits of staged runs: how often the last stage disagrees with verdicts that an earlier stage accepted."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

from jury_analysis.estimate import Estimate
from jury_analysis.ladders.ladder_use import AuditedCase, AuditedShare, audited_shares
from jury_analysis.wording import Reason, Wording
from jury_events.text import visible_line
from jury_judge.stores.debates import opening_of, rows_of_run
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore

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
