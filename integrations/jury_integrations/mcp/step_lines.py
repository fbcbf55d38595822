"""A live event of a debate as a few words, without a text that a juror or a case wrote."""

from collections.abc import Mapping
from typing import Any

from jury_events.text import visible_line
from jury_views.number_formats import of_hundred

_MOST = 200
"""Characters of a line: ids of jurors and labels are from the panel."""


def said_of(event: Mapping[str, Any]) -> str | None:
    """What happened; None: nothing that has words."""
    match event:
        case {"type": "phase_change", "phase": phase, "phaseNumber": number}:
            said = f"phase {number}: {str(phase).replace('_', ' ')}"
        case {"type": "juror_evaluation", "juror": juror, "verdict": verdict, "score": score}:
            said = f"{juror}: {event.get('label') or verdict} {score}/100"
        case {"type": "discussion_round_start", "round": number}:
            said = f"round {number}"
        case {"type": "juror_statement", "round": number, "juror": juror, "newVerdict": verdict, "newScore": score}:
            said = f"round {number}: {juror}: {event.get('newLabel') or verdict} {score}/100"
        case {"type": "consensus_check", "round": number, "consensus_status": status}:
            said = f"round {number}: {status}"
        case {"type": "final_judgment", "finalVerdict": verdict, "finalScore": score}:
            said = f"judgment: {event.get('finalLabel') or verdict} {of_hundred(score)}"
        case {"type": "final_judge_chunk"}:
            return None
        case _:
            said = str(event["type"]).replace("_", " ")
    return visible_line(said, _MOST)
