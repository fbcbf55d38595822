"""The summary of a setting's rows: old verdicts against new ones, and both against the labels."""

from collections import Counter
from typing import Any

from jury_events.verdict import Verdict
from jury_replay.rescoring.rows import RescoreRow, RescoreStatus


class RescoreTable:
    """Counts the rows of one setting.

    Attributes:
        statuses: rows by status.
        verdicts: rows with a new verdict by old and new verdict.
        rescored: those whose score changed.
        beyond_record: those where the rules continue beyond the record.
        undetermined_steps: undetermined rows by their first undetermined step.
        not_applicable_reasons: rows that are not applicable by the reason.
        assumptions: rows by assumption, by the assumption.
        labelled: those with a label; `old_agrees` and `new_agrees` are those whose verdict is the label.
    """

    def __init__(self, setting: str) -> None:
        self.setting = setting
        self.statuses: Counter[RescoreStatus] = Counter()
        self.verdicts: Counter[tuple[str, str]] = Counter()
        self.undetermined_steps: Counter[str] = Counter()
        self.not_applicable_reasons: Counter[str] = Counter()
        self.assumptions: Counter[str] = Counter()
        self.rescored = self.beyond_record = self.labelled = self.old_agrees = self.new_agrees = 0

    def take(self, row: RescoreRow) -> None:
        """The next row."""
        self.statuses[row.status] += 1
        if row.undetermined_step is not None:
            self.undetermined_steps[row.undetermined_step] += 1
        if row.status is RescoreStatus.NOT_APPLICABLE:
            self.not_applicable_reasons[row.reason] += 1
        if row.assumes is not None:
            self.assumptions[row.assumes] += 1
        if row.old_verdict is None or row.new_verdict is None:
            return
        self.verdicts[row.old_verdict, row.new_verdict] += 1
        self.rescored += row.old_score != row.new_score
        self.beyond_record += bool(row.beyond_record)
        if row.label is not None:
            self.labelled += 1
            self.old_agrees += row.old_verdict == row.label
            self.new_agrees += row.new_verdict == row.label

    @property
    def determined(self) -> int:
        """Debates whose new verdict follows from the record."""
        return self.statuses[RescoreStatus.DETERMINED]

    @property
    def answered(self) -> int:
        """Debates with a new verdict."""
        return self.determined + self.statuses[RescoreStatus.BY_ASSUMPTION]

    @property
    def flipped(self) -> int:
        """Those of them whose verdict changed."""
        return sum(count for (old, new), count in self.verdicts.items() if old != new)

    def as_json(self) -> dict[str, Any]:
        """Every figure; `verdicts` by old, then by new verdict."""
        return {
            "setting": self.setting,
            "debates": self.statuses.total(),
            **{status.value: self.statuses[status] for status in RescoreStatus},
            "flipped": self.flipped,
            "rescored": self.rescored,
            "beyond_record": self.beyond_record,
            "verdicts": {old.value: {new.value: self.verdicts[old, new] for new in Verdict} for old in Verdict},
            "undetermined_steps": dict(self.undetermined_steps.most_common()),
            "not_applicable_reasons": dict(self.not_applicable_reasons.most_common()),
            "assumptions": dict(self.assumptions.most_common()),
            "labelled": self.labelled,
            "old_agrees": self.old_agrees,
            "new_agrees": self.new_agrees,
        }
