"""The audits of staged runs: how often the last stage disagrees with verdicts that an earlier stage accepted."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from jury_analysis.risk_bounds import clopper_pearson
from jury_analysis.wording import Reason, Wording
from jury_events.text.visible_text import visible_line
from jury_judge.stores.debates import opening_of, rows_of_run
from jury_store.event_store import EventStore

_ONE_SIDE = 0.975
"""Of an interval of 95 %."""

_DISAGREES = Wording(
    "run {run}: the last stage has another verdict on {whole} of the audited early exits: {each}; which is right, "
    "labels alone say",
    "実行{run}: 監査した早期確定のうち最終段の判定が異なるもの: {whole}（{each}）。"
    "どちらが正しいかはラベルだけが示します",
)


class AuditedVerdicts(NamedTuple):
    """Audited early exits: `differ` of `audited` have another verdict of the last stage."""

    audited: int
    differ: int

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper and Pearson's, of the share."""
        agree = self.audited - self.differ
        low = 1 - clopper_pearson(agree, self.audited, _ONE_SIDE) if self.differ else 0.0
        return low, clopper_pearson(self.differ, self.audited, _ONE_SIDE)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.differ} of {self.audited} ({self.differ / self.audited:.1%}, 95 % {low:.1%} to {high:.1%})"


class RunAudits(NamedTuple):
    """The audits of a run, whole and by the early verdict: by its label, under a scale of the panels' own.

    A disagreement is no error: which verdict is right, labels alone say.
    """

    run_id: str
    whole: AuditedVerdicts
    by_verdict: dict[str, AuditedVerdicts]

    def line(self) -> Reason:
        """For people."""
        each = ", ".join(f"{visible_line(name, 60)} {one}" for name, one in self.by_verdict.items())
        return _DISAGREES(run=self.run_id, whole=str(self.whole), each=each)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "run_id": self.run_id,
            **_values(self.whole),
            "by_verdict": {name: _values(one) for name, one in self.by_verdict.items()},
        }


def run_audits(store: EventStore, run_ids: Iterable[str]) -> Iterator[RunAudits]:
    """The audits of those runs that have any which are completed.

    Raises:
        EventError: an opening event is gone, or does not decode.
    """
    for run_id in run_ids:
        audited: Counter[str] = Counter()
        differ: Counter[str] = Counter()
        for row in rows_of_run(store, run_id, counted=False):
            if row.aside != "audit" or row.status != "completed":
                continue
            place = opening_of(store, row.debate_id).stage
            early = None if place is None or place.before is None else store.debate(place.before)
            if early is None or early.final_verdict is None:
                continue
            name = early.final_label or early.final_verdict
            audited[name] += 1
            differ[name] += (early.final_verdict, early.final_label) != (row.final_verdict, row.final_label)
        if audited:
            by_verdict = {name: AuditedVerdicts(count, differ[name]) for name, count in sorted(audited.items())}
            yield RunAudits(run_id, AuditedVerdicts(audited.total(), differ.total()), by_verdict)


def _values(one: AuditedVerdicts) -> dict[str, Any]:
    low, high = one.interval
    return {"audited": one.audited, "differ": one.differ, "low": low, "high": high}
