"""What a reader must know of a judgment that passes, or would pass: what capped it, and which votes it stands by."""

from jury_events.judgment import Decider, Judgment
from jury_events.verdict import PASS
from jury_views.debate_labels import DebateLabels


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
