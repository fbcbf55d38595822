"""The opening event of a debate, made from its job: by the process that lists it, or by the one that judges it."""

from jury_actors.messages import Job
from jury_debate.rules_registry import newest_rules
from jury_events.case import Case
from jury_events.debate_events import DebateOpened
from jury_events.parts import ImageRef, PartMaker


def opening_of(job: Job, secret: bytes, parts: PartMaker) -> DebateOpened:
    """The opening event of a debate under the newest rules; the case itself is free when it is made.

    Args:
        job: of the debate.
        secret: its own random secret.
        parts: makes the references of its texts.
    """
    case = Case.model_validate_json(job.case)
    resolved = job.context.resolved
    opened = newest_rules().open_debate(
        case,
        resolved.panel,
        debate_id=job.debate_id,
        run_id=job.context.run_id,
        secret=secret,
        parts=parts,
        role_prompts=resolved.role_prompts,
        judge_prompt=resolved.judge_prompt,
        submission_id=job.submission_id,
        prompts_version=resolved.prompts,
        operator_policy=job.context.operator_policy,
    )
    if job.context.pictures and not opened.images:
        pictures = (ImageRef(media_type=one.media_type, content=parts.make(one.content)) for one in case.images)
        opened = opened.changed(images=tuple(pictures))
    return opened if job.stage is None else opened.changed(stage=job.stage)
