"""Opening a debate: its event, its secret and what follows from it, and the texts of its prompts.

What is the same for all debates of a panel stands first in a prompt.
"""

import hmac
from base64 import b32encode
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import repeat

from jury_debate.artifacts import generate_evaluation_summary, tool_names
from jury_debate.assignment import (
    CASE_WITH_IMAGES,
    JUDGE_ROLE_PROMPT,
    OPERATOR_POLICY,
    ROLE_PROMPT,
    DebateSigns,
    scenario_numbers,
    seat_letter,
    tools_offered,
)
from jury_debate.decision_seats import QUESTIONS, questions_piece
from jury_debate.marking import mark
from jury_debate.prompts_1.case_items import case_items, reasoning_alone, render_case, without_reasoning
from jury_debate.prompts_1.line_marks import SIGN_LETTERS
from jury_debate.prompts_1.prompts import Prompts
from jury_debate.prompts_1.texts import fill, has_policy, policy_piece, without_policy
from jury_debate.prompts_registry import PROMPTS_VERSION, load_prompts
from jury_debate.reading.planning import READING_TOOLS, CaseToRead, PlannedCase, ReadingPlanner
from jury_debate.reading.record_tools import RECORD_TOOLS
from jury_debate.rules_1.early_stop import asking_plan
from jury_events.case import ArtifactRecord, Case, provenance
from jury_events.debate_events import DebateOpened, NamedPart
from jury_events.panel import Marking, Panel, Seat
from jury_events.parts import ImageRef, PartMaker
from jury_events.reading import ReadingPlan
from jury_events.transcript import Attachment
from jury_events.value import trusted


def ballot_id(secret: bytes, juror_id: str | None) -> str:
    """The unguessable id that a seat's answers must contain (`None`: the final judge's): 16 characters a-z, 2-7.

    The same in all turns of the seat, so that providers' prompt caches work.
    """
    return _letters(_derive(secret, "final" if juror_id is None else f"seat/{juror_id}")[:10])


def datamark(secret: bytes) -> str:
    """The debate's marker for judged text: 8 characters a-z, 2-7 in ⟦⟧."""
    return f"⟦{_letters(_derive(secret, 'datamark')[:5])}⟧"


def line_sign(secret: bytes) -> str:
    """The debate's sign before each line of judged text: two consonants and a colon.

    Tokenizers join two letters more often than a letter and a digit, and two consonants are hardly ever a word.
    """
    first, second = _derive(secret, "line sign")[:2]
    return f"{SIGN_LETTERS[first % len(SIGN_LETTERS)]}{SIGN_LETTERS[second % len(SIGN_LETTERS)]}:"


@lru_cache(maxsize=1)
def signs_of(secret: bytes, marking: Marking, jurors: tuple[str, ...]) -> DebateSigns:
    """See `Rules.signs_of`. Kept for the last debate: it is opened with them, and goes on with them."""
    marker = datamark(secret) if marking == "words" else line_sign(secret)
    seats = (*jurors, None)
    return DebateSigns(marker, dict(zip(seats, map(ballot_id, repeat(secret), seats), strict=False)))


def _derive(secret: bytes, purpose: str) -> bytes:
    # `hmac.digest` gives up the interpreter's lock: beside a thread that writes, that costs ten times as much.
    return hmac.new(secret, purpose.encode(), "sha256").digest()


def _letters(digest: bytes) -> str:
    return b32encode(digest).decode("ascii").lower()


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
    prompts_version: int = PROMPTS_VERSION,
    operator_policy: str | None = None,
) -> DebateOpened:
    """See `Rules.open_debate`."""
    texts = _PromptTexts(
        case,
        panel,
        secret,
        prompts=load_prompts(prompts_version, panel.language),
        role_prompts=role_prompts or {},
        judge_prompt=judge_prompt,
        operator_policy=operator_policy,
    )
    pieces = texts.by_name()
    known = provenance(case)
    images_seen = panel.sees_pictures
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
        rules=RULES_VERSION,
        prompts=prompts_version,
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
        pieces=tuple([trusted(NamedPart)(name=name, text=parts.make(text)) for name, text in pieces.items()]),
        provenance=None if known is None else parts.make(known),
        reading=texts.reading,
        asking=None if panel.stop is None else asking_plan(panel, panel.stop, debate_id, case.scenario_ids),
    )


@lru_cache(maxsize=256)
def _encoded(text: str) -> bytes:
    return text.encode("utf-8")


class _PromptTexts:
    """The texts that prompts are joined from, by name, with their line breaks.

    `reading`: how the seats read that do not read the case whole, once the texts are made.
    """

    reading: ReadingPlan | None = None

    def __init__(
        self,
        case: Case,
        panel: Panel,
        secret: bytes,
        *,
        prompts: Prompts,
        role_prompts: Mapping[str, str],
        judge_prompt: str | None,
        operator_policy: str | None,
    ) -> None:
        self._policy = operator_policy if operator_policy and has_policy(case, operator_policy) else None
        self._first = 1 if self._policy is None else 2
        """The number of the first item of the case."""
        whole = case if self._policy is None else without_policy(case, self._policy)
        self._case = whole if panel.reasoning is None else without_reasoning(whole)
        self._panel = panel
        self._role_prompts = role_prompts
        self._judge_prompt = judge_prompt
        self._prompts = prompts
        self._marking: Marking = panel.marking
        self._signs = signs_of(secret, panel.marking, panel.juror_ids)
        self._sign = self._signs.marker
        self._reasoning = ""
        if panel.reasoning == "after":
            self._reasoning = reasoning_alone(
                whole, prompts.texts.case, self._sign, marking=self._marking, first=self._first
            )

    def by_name(self) -> dict[str, str | bytes]:
        """What belongs to no debate is one object for all of them, as long as they run."""
        turns, panel = self._prompts.texts.turns, self._panel
        policy = self._policy
        before = {
            "system": self._prompts.system(panel),
            **({} if policy is None else {OPERATOR_POLICY: policy_piece(policy, self._prompts.texts.case)}),
        }
        seats = {
            f"seat/{seat.juror_id}": self._seat(index) + "\n\n"
            for index, seat in enumerate(panel.seats)
            if seat.questions is None
        }
        records, tools = len(self._case.security_gate_records) + len(self._case.agent_card_records), ""
        if tools_offered(panel, records):
            tools = "\n\n" + self._prompts.tools_instruction(tool_names(opinions=False))
        behind = {"instruction/initial": turns.initial_instruction + tools}
        if self._reasoning:
            behind["instruction/reasoning"] = turns.reasoning_instruction + tools
        behind |= {ROLE_PROMPT + juror_id: prompt for juror_id, prompt in self._role_prompts.items()}
        if self._judge_prompt is not None:
            behind[JUDGE_ROLE_PROMPT] = self._judge_prompt
        behind["heading/own"] = turns.own_heading + "\n\n"
        behind["heading/peers"] = turns.peers_heading + "\n\n"
        alone = panel.discussion.history == "none"
        behind["heading/no-peers"] = (turns.alone if alone else turns.no_peers) + "\n\n"
        questions = {QUESTIONS + seat.juror_id: self._questions(seat) for seat in panel.seats if seat.questions}
        judge: dict[str, str] = {}
        if panel.final.judge is not None:
            behind["instruction/final"] = turns.final_instruction + "\n\n"
            judge["seat/final"] = (
                self._prompts.final_judge(
                    seats=len(panel.seats),
                    role_prompt=self._judge_prompt or self._prompts.judge_role_prompt_under(panel.scale),
                    ballot=self._signs.ballots[None],
                    scenarios=len(self._case.scenarios),
                )
                + "\n\n"
            )
        planned = self._planned_case(before, seats, judge)
        if planned.plan is not None and any(seat.mode == "tools" for seat in planned.plan.seats):
            behind[READING_TOOLS] = "\n\n" + self._prompts.record_tools_instruction(RECORD_TOOLS)
        return {
            **{name: _encoded(text) for name, text in before.items()},
            **planned.pieces,
            **seats,
            **{name: _encoded(text) for name, text in behind.items()},
            **judge,
            **questions,
        }

    def _planned_case(
        self, before: Mapping[str, str], seats: Mapping[str, str], judge: Mapping[str, str]
    ) -> PlannedCase:
        """The pieces with the case, cut where a seat reads it in parts."""
        shared, sizes = len("".join(before.values()).encode()), dict[str | None, int]()
        for juror_id in self._panel.juror_ids:
            sizes[juror_id] = shared + len(seats.get(f"seat/{juror_id}", "").encode())
        for text in judge.values():
            sizes[None] = shared + len(text.encode())
        to_read = CaseToRead(
            shown=self._case_piece,
            marker=self._sign,
            sizes=sizes,
            pictures=self._picture_items() if self._case.images and self._panel.sees_pictures else (),
            reasoning=f"{self._reasoning}\n\n".encode() if self._reasoning else b"",
        )
        planned = ReadingPlanner(self._panel, to_read, self._prompts.texts).planned()
        self.reading = planned.plan
        return planned

    def _picture_items(self) -> tuple[int, ...]:
        """The numbers of the items that the case's pictures belong to (0: of none)."""
        items = case_items(self._case, self._prompts.texts.case, {}, self._first)
        shown = {
            found.digest: item.number
            for scenario, numbered in zip(self._case.scenarios, items, strict=True)
            for item in reversed(numbered.items)
            if item.place is not None
            and isinstance(found := scenario.execution.transcript.items[item.place], Attachment)
        }
        return tuple(shown.get(image.digest, 0) for image in self._case.images)

    def _seat(self, index: int) -> str:
        seat = self._panel.seats[index]
        role = self._prompts.texts.roles.get(seat.role)
        return self._prompts.seat(
            letter=seat_letter(index),
            seats=len(self._panel.seats),
            role=role.role if role else seat.role,
            focus=seat.role_focus,
            role_prompt=self._role_prompts.get(seat.juror_id)
            or self._prompts.role_prompt(seat.role, seat.role_focus, own_scale=self._panel.scale is not None),
            ballot=self._signs.ballots[seat.juror_id],
            scenarios=len(self._case.scenarios),
        )

    def _questions(self, seat: Seat) -> bytes:
        numbers = scenario_numbers(tuple(one.scenario_id for one in self._case.scenarios))
        return questions_piece(self._panel, seat, numbers, self._role_prompts.get(seat.juror_id))

    def _case_piece(self, name: str) -> bytes:
        """The piece of this name: the case, then its records: a summary of them, or all of them in `inline` mode.

        A summary in the case replaces the generated one, and precedes the records.
        """
        case, prompts = self._case, self._prompts
        first, images = self._first, name == CASE_WITH_IMAGES
        texts = prompts.texts.case
        blocks = [render_case(case, texts, self._sign, marking=self._marking, images=images, first=first)]
        gate, card, summary = case.security_gate_records, case.agent_card_records, case.artifact_summary
        if gate or card or summary is not None:
            blocks.append(prompts.texts.artifacts.heading)
            if summary is not None:
                blocks.append(self._summary(summary, first))
            if self._panel.artifacts.mode == "inline":
                blocks += self._records(prompts.gate_records(len(gate)), gate)
                blocks += self._records(prompts.card_records(len(card)), card)
            elif summary is None:
                blocks.append(self._summary(generate_evaluation_summary(gate, card, prompts), first))
        return "\n\n".join((*blocks, "")).encode()

    def _summary(self, summary: str, first: int) -> str:
        """The item after those of the case."""
        texts = self._prompts.texts.case
        number = first + sum(len(scenario.items) for scenario in case_items(self._case, texts, {}))
        return f"{fill(texts.item, number=number, what=texts.artifact_summary)}\n{mark(summary, self._sign)}"

    def _records(self, heading: str, records: Sequence[ArtifactRecord]) -> list[str]:
        return [heading, mark("\n".join(record.content for record in records), self._sign)] if records else []
