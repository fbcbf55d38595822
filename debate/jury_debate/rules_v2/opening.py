"""The opening event of version 1, which names version 2."""

from collections.abc import Mapping

from jury_debate import prompts_v1
from jury_debate.rules_v1 import opening as before
from jury_events.case import Case
from jury_events.debate_events import DebateOpened
from jury_events.panel import Panel
from jury_events.parts import PartMaker

RULES_VERSION = 2


def open_debate(
    case: Case,
    panel: Panel,
    *,
    debate_id: str,
    run_id: str | None,
    secret: bytes,
    parts: PartMaker,
    role_prompts: Mapping[str, str] | None = None,
    judge_prompt: str | None = None,
    submission_id: str | None = None,
    prompts_version: int = prompts_v1.VERSION,
    operator_policy: str | None = None,
) -> DebateOpened:
    """See `Rules.open_debate`."""
    opened = before.open_debate(
        case,
        panel,
        debate_id=debate_id,
        run_id=run_id,
        secret=secret,
        parts=parts,
        role_prompts=role_prompts,
        judge_prompt=judge_prompt,
        submission_id=submission_id,
        prompts_version=prompts_version,
        operator_policy=operator_policy,
    )
    return opened.model_copy(update={"rules": RULES_VERSION})
