"""The sizes of a debate's prompts, from its opening, without running it. The secret of its ballots is zeros."""

import json
from typing import NamedTuple

from jury_debate.artifacts import tool_definitions
from jury_debate.assignment import CASE_WITH_IMAGES, OPERATOR_POLICY, CallMessage, tools_offered
from jury_debate.conversation import Call
from jury_debate.debate import Debate
from jury_debate.panel_spec import ResolvedPanel
from jury_debate.prompts_registry import load_prompts
from jury_debate.reading.planning import CASE, GUIDE, part_name
from jury_debate.rules import SECRET_BYTES
from jury_debate.rules_registry import newest_rules
from jury_events.case import Case
from jury_events.debate_events import DebateOpened
from jury_events.ids import Step
from jury_events.panel import Panel
from jury_events.parts import SALT_BYTES, PartBuffer, PartRef
from jury_events.provenance import provenance
from jury_events.reading import ReadingMode


class PromptMessage(NamedTuple):
    """One message of a prompt; `images` counts the pictures that follow its text."""

    role: str
    text: str
    images: int = 0


class RequestSize(NamedTuple):
    """Bytes of the messages of one request, its pictures, and the bytes with which those of equal seats begin too."""

    size: int
    pictures: int
    shared: int


class Rehearsal:
    """A case before a panel.

    Args:
        operator_policy: of the whole run, see `Rules.open_debate`.
    """

    def __init__(self, case: Case, resolved: ResolvedPanel, operator_policy: str | None = None) -> None:
        self._pen = PartBuffer(lambda: bytes(SALT_BYTES))
        secret = bytes(SECRET_BYTES)
        self.opened: DebateOpened = newest_rules().open_debate(
            case,
            resolved.panel,
            debate_id="rehearsal",
            run_id=None,
            secret=secret,
            parts=self._pen,
            role_prompts=resolved.role_prompts,
            judge_prompt=resolved.judge_prompt,
            prompts_version=resolved.prompts,
            operator_policy=operator_policy,
        )
        self._debate = Debate(self.opened, secret, self._pen)

    @property
    def pieces(self) -> dict[str, bytes]:
        """The texts that prompts are made of, by name."""
        return {piece.name: self._pen.text(piece.text) for piece in self.opened.pieces}

    def pictures(self) -> list[bytes]:
        """The pictures that are sent along."""
        return [self._pen.text(image.content) for image in self.opened.images]

    def first_prompt(self, juror_id: str) -> tuple[PromptMessage, ...]:
        """The prompt of a seat in phase 1; of one that reads the case in parts, that with the first part."""
        return tuple(
            PromptMessage(
                message.role,
                b"".join(self._pen.text(ref) for ref in message.parts).decode("utf-8"),
                len(message.images),
            )
            for message in self._first_calls(juror_id)[0].messages
        )

    def first_sizes(self, juror_id: str) -> tuple[RequestSize, ...]:
        """The sizes of a seat's requests that wait for no answer: one, or one for each part that it reads."""
        return tuple(
            RequestSize(
                sum(len(self._pen.text(ref)) for message in call.messages for ref in message.parts),
                sum(len(message.images) for message in call.messages),
                sum(len(self._pen.text(ref)) for message in call.messages for ref in _shared(message)),
            )
            for call in self._first_calls(juror_id)
        )

    def _first_calls(self, juror_id: str) -> tuple[Call, ...]:
        return self._debate.rules.conversation(self._debate.assign(Step(0, juror_id)), self._pen).calls

    def common_size(self, juror_id: str) -> int:
        """Bytes of what a seat's requests of phase 1 have in common; where it reads the case whole, of its only one."""
        assignment = self._debate.assign(Step(0, juror_id))
        return sum(len(self._pen.text(ref)) for message in assignment.messages for ref in message.parts)

    def final_prompt(self, *, images: bool) -> bytes:
        """The texts of the final judge's prompt without the evaluations, and without items that they cite."""
        pieces = self.pieces
        before = b"".join(pieces[name] for name in ("system/final", "system", OPERATOR_POLICY) if name in pieces)
        guide = pieces.get(f"{GUIDE}final")
        case = self.case_piece(images=images).encode() if guide is None else guide
        return before + case + pieces.get("seat/final", b"") + pieces["instruction/final"]

    def case_piece(self, *, images: bool) -> str:
        """The case as the seats are shown it that see pictures, or do not."""
        pieces, plan = self.pieces, self.opened.reading
        in_parts = 0 if plan is None else plan.image_parts
        name = CASE_WITH_IMAGES if images and (in_parts or CASE_WITH_IMAGES in pieces) else CASE
        parts = 0 if plan is None else in_parts if name == CASE_WITH_IMAGES else plan.parts
        names = [part_name(name, number) for number in range(1, parts + 1)] or [name]
        return b"".join(pieces[one] for one in names).decode("utf-8")

    @property
    def policy_piece(self) -> str:
        """The operator's policy as it stands before the case; "" where none does."""
        return self.pieces.get(OPERATOR_POLICY, b"").decode("utf-8")


def _shared(message: CallMessage) -> tuple[PartRef, ...]:
    """The parts that equal seats are sent too: the system message, and the shared blocks of the other one."""
    return message.parts if message.role == "system" else message.parts[: message.shared]


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
    schema = newest_rules().answer_schema(panel.rubric, scale=panel.scale)
    offered = tool_definitions(load_prompts(version, panel.language), opinions=True) if tools else ()
    return len(json.dumps(schema)) + sum(len(json.dumps(tool._asdict())) for tool in offered)
