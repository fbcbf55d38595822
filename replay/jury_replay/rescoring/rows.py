"""The rows of a rescoring: one debate under one setting, with the reason."""

from collections.abc import Mapping
from typing import NamedTuple

from jury_events.case import MetadataValue
from jury_events.debate_events import DebateOpened, EndReason
from jury_replay.rescoring.reasons import reason
from jury_replay.rescoring.results import RescoreStatus, Result
from jury_replay.rescoring.settings import Mode, Setting


class RescoreRow(NamedTuple):
    """One debate under one setting; fields that the status leaves open are None.

    `reason`: how the result changed ("" where it did not), or why there is no new one. `undetermined_step`: the first
    step that would get another request. `new_end_reason` is None too where `beyond_record`: the rules continue, and the
    record ends. `old_label`, `new_label`: the words of the verdicts under a scale of the panel's own, None where only
    an outcome was decided. `assumes`: the assumption of a result by assumption. `label`, `cluster`, `tags`, `metadata`:
    of the case; `not_shown` counts its items that no juror was shown.
    """

    setting: str
    mode: Mode
    debate_id: str
    run_id: str | None
    case_id: str
    label: str | None
    cluster: str | None
    tags: tuple[str, ...]
    metadata: Mapping[str, MetadataValue]
    not_shown: int
    status: RescoreStatus
    reason: str
    undetermined_step: str | None = None
    flipped: bool | None = None
    old_verdict: str | None = None
    new_verdict: str | None = None
    old_label: str | None = None
    new_label: str | None = None
    old_score: int | None = None
    new_score: int | None = None
    old_total_rounds: int | None = None
    new_total_rounds: int | None = None
    old_end_reason: EndReason | None = None
    new_end_reason: EndReason | None = None
    old_decided_by: str | None = None
    new_decided_by: str | None = None
    beyond_record: bool | None = None
    assumes: str | None = None


class RescoreProblem(NamedTuple):
    """A debate whose record cannot be used, and why."""

    debate_id: str
    what: str


class RowMaker(NamedTuple):
    """Rows of one debate; `old` is None for a debate without a result."""

    mode: Mode
    opened: DebateOpened
    old: Result | None

    def answered(self, setting: Setting, new: Result, assumes: str = "") -> RescoreRow:
        """The row of a new result; `assumes` are its assumptions."""
        assert self.old is not None
        return self._row(
            setting,
            RescoreStatus.BY_ASSUMPTION if assumes else RescoreStatus.DETERMINED,
            reason(self.old, new),
            flipped=new.judgment.verdict is not self.old.judgment.verdict,
            new_verdict=new.judgment.verdict.value,
            new_label=new.judgment.label,
            new_score=new.judgment.score,
            new_total_rounds=new.total_rounds,
            new_end_reason=new.end_reason,
            new_decided_by=new.judgment.decided_by.value,
            beyond_record=new.end_reason is None,
            assumes=assumes or None,
        )

    def open(self, setting: Setting, status: RescoreStatus, why: str, step: str | None = None) -> RescoreRow:
        """Why there is no new result."""
        return self._row(setting, status, why, undetermined_step=step)

    def _row(self, setting: Setting, status: RescoreStatus, why: str, **fields: object) -> RescoreRow:
        opened, old = self.opened, self.old
        before = {} if old is None else {
            "old_verdict": old.judgment.verdict.value,
            "old_label": old.judgment.label,
            "old_score": old.judgment.score,
            "old_total_rounds": old.total_rounds,
            "old_end_reason": old.end_reason,
            "old_decided_by": old.judgment.decided_by.value,
        }  # fmt: skip
        return RescoreRow(
            setting=setting.name,
            mode=self.mode,
            debate_id=opened.debate_id,
            run_id=opened.run_id,
            case_id=opened.case_id,
            label=opened.label.value if opened.label else None,
            cluster=opened.cluster,
            tags=opened.tags,
            metadata=opened.metadata,
            not_shown=sum(omission.count for omission in opened.omissions),
            status=status,
            reason=why,
            **before,  # type: ignore[arg-type]
            **fields,  # type: ignore[arg-type]
        )
