"""The rows of a rescoring: one debate under one setting, with the reason."""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from jury_events.case import MetadataValue
from jury_events.codec import DebateEvent
from jury_events.debate_events import (
    DebateCancelled,
    DebateCompleted,
    DebateFailed,
    DebateOpened,
    EndReason,
    JudgmentRendered,
)
from jury_events.judgment import Decider, Judgment
from jury_events.panel import Bands, Panel
from jury_events.text import points_text
from jury_replay.rescoring.settings import Mode, Setting, written


class RescoreStatus(StrEnum):
    """determined: the new verdict follows from the record. by_assumption (recounts only): it rests on an assumption
    that the record cannot show. undetermined: a step would get another request, or a final judge that was not asked
    decides. not_applicable: the panel cannot take the setting. unfinished, failed, cancelled: there is no old verdict.
    erased: texts that are needed were erased.
    """

    DETERMINED = "determined"
    BY_ASSUMPTION = "by_assumption"
    UNDETERMINED = "undetermined"
    NOT_APPLICABLE = "not_applicable"
    UNFINISHED = "unfinished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    ERASED = "erased"


class Result(NamedTuple):
    """The result of a debate; `end_reason` is None where the rules continue beyond the record.

    `settled`: no answer of a seat that was not asked could change it.
    """

    panel: Panel
    judgment: Judgment
    total_rounds: int
    end_reason: EndReason | None
    settled: bool = True


class RecordedEnd(NamedTuple):
    """`result` is None for a debate without one; then `status` and `why` say why."""

    result: Result | None
    status: RescoreStatus = RescoreStatus.DETERMINED
    why: str = ""


def end_of(panel: Panel, events: Iterable[DebateEvent]) -> RecordedEnd:
    """The end of a debate of `panel`; only its last events count."""
    judgment: Judgment | None = None
    for event in events:
        match event:
            case JudgmentRendered():
                judgment = event.judgment
            case DebateCompleted() if judgment is not None:
                return RecordedEnd(Result(panel, judgment, event.total_rounds, event.end_reason))
            case DebateFailed():
                return RecordedEnd(None, RescoreStatus.FAILED, f"the debate failed: {event.reason}")
            case DebateCancelled():
                return RecordedEnd(None, RescoreStatus.CANCELLED, f"the debate was cancelled by {event.by}")
            case _:
                pass
    return RecordedEnd(None, RescoreStatus.UNFINISHED, "the debate is not over")


def reason(old: Result, new: Result) -> str:
    """The changes with the old values; "" where nothing changed.

    "ends after round 1 (consensus), was round 3 (max_rounds); median 64.5, was majority of 2 of 3, 70".
    """
    changes = []
    if (old.total_rounds, old.end_reason) != (new.total_rounds, new.end_reason):
        ending = "goes on after" if new.end_reason is None else "ends after"
        changes.append(f"{ending} {_ending(new)}, was {_ending(old)}")
    now, before = _decision(new), _decision(old)
    if now != before:
        changes.append(f"{now}, was {before}")
    return "; ".join(changes)


def _ending(result: Result) -> str:
    place = f"round {result.total_rounds}" if result.total_rounds else "phase 1"
    return f"{place} ({result.end_reason or 'beyond the record'})"


def _decision(result: Result) -> str:
    """What decided, with the mean that the score is rounded from."""
    judgment = result.judgment
    bands = result.panel.final.bands
    mean = "" if judgment.mean is None else points_text(judgment.mean, bands.pass_from, bands.review_from)
    match judgment.decided_by:
        case Decider.MAJORITY_VOTE:
            text = f"{_majority(judgment)}, {mean}"
            if judgment.judge_failure is not None:
                text += f" (no final judge: {judgment.judge_failure.value})"
        case Decider.WEIGHTED_AVERAGE:
            text = f"weighted average {mean}{_bands(result.panel)}"
        case Decider.MEDIAN:
            text = f"median {mean}{_bands(result.panel)}"
        case Decider.FINAL_JUDGE:
            text = f"final judge {mean}"
        case Decider.NO_EVALUATION:
            text = "no evaluation"
    text += _decided(judgment)
    match judgment.capped_by:
        case "quorum":
            text += f", capped: {judgment.quorum_votes} of a quorum of {judgment.quorum}"
        case "silence":
            text += f", capped: {len(judgment.silent)} of {len(judgment.votes)} seats silent"
    acceptance = judgment.acceptance
    if acceptance is not None and acceptance.probability is not None and not acceptance.accepted:
        text += (
            f", {acceptance.verdict.value} not accepted: {acceptance.probability:.6g} is below the threshold "
            f"{acceptance.threshold:.6g}"
        )
    return text


def _decided(judgment: Judgment) -> str:
    """What a panel with a scale of its own agreed on, and the critical criteria that fall short; else empty."""
    agreed = {None: "", "label": "", "outcome": ", by outcome", "nothing": ", undecided"}[judgment.agreed_on]
    text = agreed if judgment.label is None else f", {judgment.label}{agreed}"
    return text + "".join(
        f", {one.criterion} {points_text(one.points, one.least)} of at least {one.least:g}: {one.cap} at best"
        for one in judgment.shortfalls or ()
    )


def _majority(judgment: Judgment) -> str:
    if judgment.agreed_on == "label":
        words = Counter(vote.label for vote in judgment.votes if vote.position is not None)
        return f"majority of {max(words.values())} of {words.total()}"
    positions = [vote.position for vote in judgment.votes if vote.position is not None]
    largest = max(Counter(positions).values())
    return (
        f"majority of {largest} of {len(positions)}"
        if 2 * largest > len(positions)
        else f"no majority of {len(positions)}"
    )


def _bands(panel: Panel) -> str:
    bands = panel.final.bands
    return "" if bands == _USUAL else f" under the bands {written(bands)}"


_USUAL = Bands()


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
