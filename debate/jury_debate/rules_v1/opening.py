"""The opening event: the resolved panel, the case, and every fixed piece of every prompt."""

from collections.abc import Mapping, Sequence

from jury_debate import prompts_v1
from jury_debate.artifact_tools import tool_names
from jury_debate.artifacts import generate_evaluation_summary
from jury_debate.assignment import CASE_WITH_IMAGES, JUDGE_ROLE_PROMPT, ROLE_PROMPT, scenario_numbers, tools_offered
from jury_debate.case_text import render_case
from jury_debate.datamark import mark
from jury_debate.errors import UnknownPrompts
from jury_debate.prompts_v1 import PromptsV1
from jury_debate.rules_v1.ballots import ballot_id, datamark
from jury_debate.seat_letters import seat_letter
from jury_events.case import ArtifactRecord, Case
from jury_events.debate_events import DebateOpened, NamedPart
from jury_events.panel import Panel
from jury_events.parts import ImageRef, PartMaker
from jury_events.provenance import provenance

RULES_VERSION = 1


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
    operator_policy: str | None = None,  # noqa: ARG001  (prompts 1 show it with each question)
) -> DebateOpened:
    """See `Rules.open_debate`."""
    if prompts_version != prompts_v1.VERSION:
        raise UnknownPrompts(f"prompts version {prompts_version} is asked for under rules version 3 or later")
    if panel.scale is not None or panel.task is not None or panel.rubric.of_rank:
        raise UnknownPrompts(
            "prompts 1 ask for the three verdicts; a scale or a task of the panel's own needs prompts 2"
        )
    prompts = prompts_v1.load_prompts(panel.language)
    pieces = _pieces(case, panel, prompts, secret=secret, role_prompts=role_prompts or {}, judge_prompt=judge_prompt)
    return opening_event(
        case,
        panel,
        pieces,
        debate_id=debate_id,
        run_id=run_id,
        secret=secret,
        parts=parts,
        submission_id=submission_id,
        versions=(RULES_VERSION, prompts_version),
    )


def opening_event(
    case: Case,
    panel: Panel,
    pieces: Mapping[str, str | bytes],
    *,
    debate_id: str,
    run_id: str | None,
    secret: bytes,
    parts: PartMaker,
    submission_id: str | None,
    versions: tuple[int, int],
) -> DebateOpened:
    """The event with the texts that prompts are joined from.

    Args:
        case: what is judged.
        panel: fully resolved.
        pieces: the texts by name.
        debate_id: of the debate.
        run_id: of its run.
        secret: of the debate.
        parts: makes the references.
        submission_id: the caller's name.
        versions: of the rules and of the prompts.
    """
    rules, prompts = versions
    known = provenance(case)
    images_seen = any(place.images for place in panel.seats_and_judge)
    return DebateOpened(
        debate_id=debate_id,
        run_id=run_id,
        case_id=case.case_id,
        submission_id=submission_id,
        label=case.label,
        metadata=case.metadata,
        tags=case.tags,
        cluster=case.cluster,
        agent_cost=case.agent_cost,
        scenarios=case.scenario_ids,
        panel=panel,
        rules=rules,
        prompts=prompts,
        simulated=all(model.startswith("simulated/") for model in panel.models),
        security_gate_records=len(case.security_gate_records),
        agent_card_records=len(case.agent_card_records),
        omissions=case.omissions(images_seen=images_seen),
        case=parts.make(case.to_part()),
        images=tuple(
            ImageRef(media_type=image.media_type, content=parts.make(image.content))
            for image in (case.images if images_seen else ())
        ),
        secret=parts.make(secret),
        pieces=tuple(NamedPart(name=name, text=parts.make(text)) for name, text in pieces.items()),
        provenance=None if known is None else parts.make(known),
    )


def _pieces(
    case: Case,
    panel: Panel,
    prompts: PromptsV1,
    *,
    secret: bytes,
    role_prompts: Mapping[str, str],
    judge_prompt: str | None,
) -> dict[str, str]:
    """The texts that prompts are joined from, by name, with their line breaks."""
    marker = datamark(secret)
    turns = prompts.texts.turns
    seats = len(panel.seats)
    several = scenario_numbers(case.scenario_ids)
    pieces = {"case": _case_piece(case, panel, prompts, marker) + "\n\n"}
    if case.images and any(place.images for place in panel.seats_and_judge):
        pieces[CASE_WITH_IMAGES] = _case_piece(case, panel, prompts, marker, images=True) + "\n\n"
    for index, seat in enumerate(panel.seats):
        role = prompts.role(seat.role)
        pieces[f"system/{seat.juror_id}"] = prompts.system_juror(
            letter=seat_letter(index),
            seats=seats,
            role=role.role if role else seat.role,
            focus=seat.role_focus,
            role_prompt=role_prompts.get(seat.juror_id) or prompts.role_prompt(seat.role, seat.role_focus),
            rubric=panel.rubric,
            ballot=ballot_id(secret, seat.juror_id),
            marker=marker,
            scenarios=several,
        )
    pieces["instruction/initial"] = turns.initial_instruction + _tools_piece(case, panel, prompts)
    pieces |= {ROLE_PROMPT + juror_id: prompt for juror_id, prompt in role_prompts.items()}
    if judge_prompt is not None:
        pieces[JUDGE_ROLE_PROMPT] = judge_prompt
    pieces["heading/own"] = turns.own_heading + "\n\n"
    pieces["heading/peers"] = turns.peers_heading + "\n\n"
    pieces["heading/no-peers"] = turns.no_peers + "\n\n"
    if panel.final.judge is not None:
        pieces["instruction/final"] = turns.final_instruction + "\n\n"
        pieces["system/final"] = prompts.system_final_judge(
            seats=seats,
            role_prompt=judge_prompt or prompts.judge_role_prompt,
            rubric=panel.rubric,
            ballot=ballot_id(secret, None),
            marker=marker,
            scenarios=several,
        )
    return pieces


def _tools_piece(case: Case, panel: Panel, prompts: PromptsV1) -> str:
    if not tools_offered(panel, len(case.security_gate_records) + len(case.agent_card_records)):
        return ""
    return "\n\n" + prompts.tools_instruction(tool_names(opinions=False))


def _case_piece(case: Case, panel: Panel, prompts: PromptsV1, marker: str, *, images: bool = False) -> str:
    """The case, then its records: a summary of them, or all of them in `inline` mode.

    A summary in the case replaces the generated one, and precedes the records.
    """
    blocks = [render_case(case, prompts, marker, images=images)]
    gate, card, summary = case.security_gate_records, case.agent_card_records, case.artifact_summary
    if gate or card or summary is not None:
        blocks.append(prompts.texts.artifacts.heading)
        if summary is not None:
            blocks.append(mark(summary, marker))
        if panel.artifacts.mode == "inline":
            blocks += _records(prompts.gate_records(len(gate)), gate, marker)
            blocks += _records(prompts.card_records(len(card)), card, marker)
        elif summary is None:
            blocks.append(mark(generate_evaluation_summary(gate, card, prompts), marker))
    return "\n\n".join(blocks)


def _records(heading: str, records: Sequence[ArtifactRecord], marker: str) -> list[str]:
    return [heading, mark("\n".join(record.content for record in records), marker)] if records else []
