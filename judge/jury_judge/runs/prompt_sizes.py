"""The sizes of a debate's prompts and of what is kept of it, from its opening, without running it."""

import json
from typing import NamedTuple

from jury_debate.artifacts import tool_definitions
from jury_debate.assignment import OPERATOR_POLICY, tools_offered
from jury_debate.panel_spec import ResolvedPanel
from jury_debate.prompts_registry import load_prompts
from jury_debate.reading.planning import CASE, GUIDE
from jury_debate.rules_registry import newest_rules
from jury_events.case import Case
from jury_events.panel import Panel
from jury_events.provenance import provenance
from jury_events.reading import ReadingMode
from jury_judge.runs.rehearsal import Rehearsal, RequestSize


class ReadingSizes(NamedTuple):
    """How a place reads the case that it is not shown whole.

    `parts`: the requests that show a part each. `room`: bytes that other requests may show beside what all of them do,
    `shared` those that all begin with, `record` those of the case.
    """

    mode: ReadingMode
    parts: tuple[RequestSize, ...]
    room: int
    shared: int
    record: int


class PromptSizes(NamedTuple):
    """Bytes: of each place's prompt (None: the final judge's), of what all prompts have, and of what is kept anyway.

    The prompt of a place in `reading`, which is not shown the case whole, is what its requests have in common.

    `pictures` are those of the case, kept once, and sent to the places that see them. `shared` is the beginning of
    prompts that calls of one model share.
    """

    prompts: dict[str | None, int]
    form: int
    records: int
    kept: int
    pictures: int
    picture_bytes: int
    tools: bool
    shared: int
    reading: dict[str | None, ReadingSizes]


def prompt_sizes(case: Case, resolved: ResolvedPanel, operator_policy: str | None) -> PromptSizes:
    """From the opening of the debate: its texts, and the prompts of phase 1 as they would be sent."""
    panel = resolved.panel
    rehearsal = Rehearsal(case, resolved, operator_policy)
    opened = rehearsal.opened
    pieces = {name: len(text) for name, text in rehearsal.pieces.items()}
    prompts: dict[str | None, int] = {seat.juror_id: rehearsal.common_size(seat.juror_id) for seat in panel.seats}
    if panel.final.judge is not None:
        prompts[None] = len(rehearsal.final_prompt(images=panel.final.judge.images))
    records = case.security_gate_records + case.agent_card_records
    tools = tools_offered(panel, len(records))
    return PromptSizes(
        prompts=prompts,
        form=_form(panel, opened.prompts, tools=tools),
        records=sum(len(record.content.encode()) for record in records) if tools else 0,
        pictures=len(opened.images),
        picture_bytes=sum(map(len, rehearsal.pictures())),
        kept=sum(pieces.values()) + len(case.to_part()) + len(provenance(case) or b"") + len(opened.model_dump_json()),
        tools=tools,
        shared=sum(pieces.get(name, 0) for name in ("system", OPERATOR_POLICY, CASE)),
        reading=_reading(rehearsal),
    )


def _reading(rehearsal: Rehearsal) -> dict[str | None, ReadingSizes]:
    plan, pieces = rehearsal.opened.reading, rehearsal.pieces
    record = 0 if plan is None else len(rehearsal.case_piece(images=False).encode())
    found: dict[str | None, ReadingSizes] = {}
    for planned in () if plan is None else plan.seats:
        juror_id = planned.juror_id
        parts = rehearsal.first_sizes(juror_id) if juror_id is not None and planned.mode == "windows" else ()
        begins = ("system", OPERATOR_POLICY, GUIDE + (juror_id or "final"))
        shared = sum(len(pieces[name]) for name in begins if name in pieces)
        found[juror_id] = ReadingSizes(planned.mode, parts, planned.room, shared, record)
    return found


def _form(panel: Panel, version: int, *, tools: bool) -> int:
    """The schema of an answer and the tools, which are sent beside the messages."""
    schema = newest_rules().answer_schema(panel.rubric, scale=panel.scale)
    offered = tool_definitions(load_prompts(version, panel.language), opinions=True) if tools else ()
    return len(json.dumps(schema)) + sum(len(json.dumps(tool._asdict())) for tool in offered)
