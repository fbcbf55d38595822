"""A recorded debate, opened again under given rules, prompts and panel."""

from pathlib import Path

from jury_debate.assignment import JUDGE_ROLE_PROMPT, ROLE_PROMPT
from jury_debate.rules import Rules
from jury_events.debate_events import DebateOpened
from jury_events.debate_history import DebateHistory
from jury_events.panel import Panel
from jury_events.parts import PartBuffer
from jury_replay.recorded_case import operator_policy_of, recorded_case


def pen_of(history: DebateHistory) -> PartBuffer:
    """A pen that gives recorded texts their recorded references; new texts get an empty salt."""
    pen = PartBuffer(lambda: bytes(16))
    pen.know_texts(history.texts)
    return pen


def reopen(
    history: DebateHistory, rules: Rules, pen: PartBuffer, *, prompts: int | None = None, panel: Panel | None = None
) -> DebateOpened:
    """The opening event that `rules` make of the recorded case, panel, role prompts and secret.

    The case keeps its recorded reference: an earlier version may have written it in another form.

    Args:
        prompts: the prompts version; None: the recorded one.
        panel: None: the recorded one.
    """
    opened = history.opened
    role_prompts = {
        piece.name: pen.text(piece.text).decode("utf-8")
        for piece in opened.pieces
        if piece.name.startswith(ROLE_PROMPT)
    }
    judge_prompt = role_prompts.pop(JUDGE_ROLE_PROMPT, None)
    case = recorded_case(opened, pen.text)
    reopened = rules.open_debate(
        case,
        panel or opened.panel,
        debate_id=opened.debate_id,
        run_id=opened.run_id,
        secret=pen.text(opened.secret),
        parts=pen,
        role_prompts={name.removeprefix(ROLE_PROMPT): text for name, text in role_prompts.items()},
        judge_prompt=judge_prompt,
        submission_id=opened.submission_id,
        prompts_version=opened.prompts if prompts is None else prompts,
        operator_policy=operator_policy_of(opened, case, pen.text),
    )
    # A first stage keeps pictures that it is not sent, for a later one.
    return reopened.changed(case=opened.case, stage=opened.stage, images=reopened.images or opened.images)


def crash_message(debate_id: str, error: Exception) -> str:
    """The message for an unexpected exception of the rules, which is a defect of theirs, with its file and line."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = "" if last is None else f" ({Path(last.tb_frame.f_code.co_filename).name}, line {last.tb_lineno})"
    return f"the rules fail on debate {debate_id}: {type(error).__name__}: {error}{where}"
