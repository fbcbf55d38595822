"""What a reader must know of a judgment: consensus, acceptance, what capped it, and events that may be missing."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from jury_events.calibration import Acceptance
from jury_events.ids import Step
from jury_events.judgment import ConsensusCheck, ConsensusStatus, Decider, Judgment
from jury_events.local_facts import LocalFacts
from jury_events.panel import DiscussionRules, Panel
from jury_events.reading import ItemSpan, RecordRead
from jury_events.text import moment, visible_line
from jury_events.verdict import PASS, REVIEW, Verdict
from jury_views.debate_fold import DebateFold, role_of
from jury_views.debate_labels import DebateLabels
from jury_views.evaluation_models import LaterEventsKnown
from jury_views.page import TextSpan

if TYPE_CHECKING:
    from jury_events.local_facts import LaterEvents


def reached_line(check: ConsensusCheck, rules: DiscussionRules, number: int, words: DebateLabels) -> str:
    """In a few words.

    Args:
        check: after phase 1 or a round.
        number: of the round, 0 for phase 1.
    """
    if check.reached:
        return words.reached
    if check.status is ConsensusStatus.SPLIT:
        return words.not_reached
    if rules.threshold <= 1:
        why = words.below_threshold.format(percent=f"{100 * rules.threshold:.0f}")
    elif number and check.status is ConsensusStatus.UNANIMOUS:
        why = words.unanimity_goes_on
    else:
        why = words.unanimous_rounds_end if number else words.always_discussed
    return f"{words.not_reached}{words.why.format(why=why)}"


class VoteColumn(NamedTuple):
    """Phase 1 (`round` 0), once more with the agent's reasoning where the seats judged again, or a round.

    `check`: the consensus after it; None before that, and where the seats judge again.
    """

    round: int
    reasoning: bool
    check: ConsensusCheck | None

    def step(self, juror_id: str) -> Step:
        """Where a seat speaks in it."""
        return Step(self.round, juror_id, self.reasoning)


def vote_columns(record: DebateFold, latest: int | None = None) -> list[VoteColumn]:
    """The columns of a table of votes, with so many of the latest rounds; None: with all."""
    again = record.with_reasoning is not None
    columns = [VoteColumn(0, reasoning=again, check=record.phase_1_check)]
    if again:
        columns.insert(0, VoteColumn(0, reasoning=False, check=None))
    rounds = record.rounds[-latest:] if latest else record.rounds
    return columns + [VoteColumn(one.started.round, reasoning=False, check=one.check) for one in rounds]


def not_seated_line(panel: Panel, words: DebateLabels) -> str | None:
    """The seats that do not judge the case, as they are of the judged agent's model family; None: all do."""
    seats = ", ".join(f"{one.juror_id} ({one.model})" for one in panel.left_out or ())
    return words.not_seated.format(seats=seats) if seats else None


def reasoning_line(record: DebateFold, words: DebateLabels) -> str:
    """What seats changed that were shown the agent's reasoning after they had judged."""
    panel = record.opened.panel
    changes = [
        f"{visible_line(role_of(panel, one.juror_id), 100)} {one.before.word} → {one.after.word}"
        for one in record.reasoning_changes
    ]
    return words.reasoning_changed.format(changes=", ".join(changes)) if changes else words.reasoning_changed_nothing


def acceptance_line(acceptance: Acceptance, words: DebateLabels) -> str:
    """`accepted: share of the votes 1, threshold 0.778`."""
    if acceptance.probability is None:
        nothing = words.nothing_to_accept if acceptance.verdict is REVIEW else words.outcome_not_accepted
        return nothing.format(verdict=acceptance.verdict.value)
    signals = {
        "share": words.signal_share,
        "isotonic": words.signal_isotonic,
        "weights": words.signal_weights,
        "dawid_skene": words.signal_dawid_skene,
        "votes+step": words.signal_votes_step,
        "probability": words.signal_probability,
    }
    said = {
        "verdict": acceptance.verdict.value,
        "signal": signals[acceptance.signal],
        "probability": f"{acceptance.probability:.4g}",
        "threshold": f"{acceptance.threshold:.4g}",
    }
    if not acceptance.accepted:
        return words.not_accepted.format(**said)
    if acceptance.probability < acceptance.threshold:
        return words.accepted_unasked.format(**said)
    return words.accepted.format(**said)


def cap_lines(judgment: Judgment, words: DebateLabels) -> list[str]:
    """Why votes that passed need review; nothing where none did."""
    lines = []
    silent = {"silent": len(judgment.silent), "seats": len(judgment.votes)}
    match judgment.capped_by:
        case "quorum":
            lines.append(words.capped)
        case "silence":
            lines.append(words.capped_by_silence.format(**silent) if judgment.silent else words.capped_by_parts)
    if judgment.capped_scenarios is not None:
        lines.append(words.capped_scenarios.format(scenarios=", ".join(judgment.capped_scenarios)))
    return lines


def exception_lines(judgment: Judgment, words: DebateLabels) -> list[str]:
    """What a pass stands by that silence does not cap: a final judge's verdict, and earlier evaluations."""
    if judgment.verdict is not PASS:
        return []
    if judgment.decided_by is Decider.FINAL_JUDGE:
        silent, seats = len(judgment.silent), len(judgment.votes)
        return [words.judge_alone.format(silent=silent, seats=seats)] if silent else []
    stale = sum(vote.kind == "stale" for vote in judgment.votes)
    return [words.stale_votes.format(stale=stale)] if stale else []


def later_events_text(later: "LaterEvents", words: DebateLabels) -> str:
    """One sentence."""
    if later.excluded_as_of is None:
        return str(words.later_events_possible)
    key = visible_line(later.signed_by or "", 200)
    return str(words.later_events_as_of).format(at=moment(later.excluded_as_of), key=key)


def later_events_object(later: "LaterEvents | None") -> LaterEventsKnown | None:
    """As JSON values: when, in ISO 8601, and the key; both null where nothing excludes them. None: not imported."""
    if later is None:
        return None
    at = later.excluded_as_of
    return LaterEventsKnown(excluded_as_of=None if at is None else moment(at), signed_by=later.signed_by)


def aside_lines(record: DebateFold, local: LocalFacts, words: DebateLabels) -> Iterator[TextSpan]:
    """One line each; none of a debate of this store that counts, and whose panel is whole."""
    if (left_out := not_seated_line(record.opened.panel, words)) is not None:
        yield TextSpan(left_out, "yellow")
    if record.successor is not None:
        yield TextSpan(words.replaced.format(successor=record.successor), "bold yellow")
    if local.imported is not None:
        yield TextSpan(getattr(words, f"imported_{local.imported}").format(log=local.imported_from), "bold yellow")
    if local.later_events is not None:
        yield TextSpan(later_events_text(local.later_events, words), "yellow")
    if local.quarantine is not None:
        yield TextSpan(words.quarantined.format(reason=local.quarantine.reason), "bold yellow")


_MOST_SPANS = 5
"""Of unread items that a line names."""


def reading_lines(read: RecordRead | None, answered: Verdict | None, words: DebateLabels) -> tuple[str, ...]:
    """How much of a long record a juror had read; () where all of it was read in one call."""
    if read is None:
        return ()
    how = getattr(words, f"read_{read.mode}").format(
        read=read.items_read, total=read.items_total, parts=read.parts, percent=_percent(read.share)
    )
    lines = [how]
    if read.unread:
        spans = ", ".join(map(_span, read.unread[:_MOST_SPANS]))
        more = "…" if len(read.unread) > _MOST_SPANS else ""
        lines.append(words.not_read.format(items=f"{spans}{more}"))
    if read.findings_left_out:
        lines.append(words.findings_left_out.format(count=read.findings_left_out))
    if read.partly_read:
        lines.append(words.parts_not_read.format(parts=", ".join(read.partly_read)))
    if answered is not None:
        said = words.answered_without_parts if read.partly_read else words.answered_on_less
        lines.append(said.format(verdict=answered.value))
    return tuple(lines)


def _percent(share: float) -> str:
    """Rounded down: 100 is all, and 0 nothing."""
    return "<1" if 0 < share < 0.01 else f"{int(100 * share)}"  # noqa: PLR2004  (a hundredth)


def _span(span: ItemSpan) -> str:
    return str(span.first) if span.first == span.last else f"{span.first}–{span.last}"
