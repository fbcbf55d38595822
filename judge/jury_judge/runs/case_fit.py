"""Which seats judge a case, and how they would read it, before the first call.

By the windows of their models, and by the family of the judged agent, whose seats are named, refused, or left out.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from jury_debate.artifacts import tool_definitions
from jury_debate.assignment import CASE_WITH_IMAGES, OPERATOR_POLICY, CallMessage, tools_offered
from jury_debate.conversation import Call
from jury_debate.debate import Debate
from jury_debate.prompts_registry import load_prompts
from jury_debate.reading.planning import CASE, GUIDE, REASONING, part_name
from jury_debate.reading.token_estimate import bytes_of, estimated_tokens, request_tokens
from jury_debate.resolved_panel import ResolvedPanel
from jury_debate.rules import SECRET_BYTES
from jury_debate.rules_registry import newest_rules
from jury_events.case import Case, provenance
from jury_events.debate_events import DebateOpened
from jury_events.ids import Step
from jury_events.models import AGENT_MODEL, model_family
from jury_events.panel import FinalJudge, Panel, Seat
from jury_events.parts import SALT_BYTES, PartBuffer, PartRef
from jury_events.reading import ReadingMode
from jury_events.text import pluralize, visible_line
from jury_judge.errors import RunRefused
from jury_providers.catalogue import known_window
from jury_providers.endpoints import Endpoints
from jury_providers.registry import NO_ENDPOINTS


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
    prompts that calls of one model share. `reasoning`: the parts of the agent's reasoning, where the seats are shown it
    after they have judged.
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
    reasoning: tuple[int, ...] = ()


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
        reasoning=tuple(size for name, size in pieces.items() if name.partition("/")[0] == REASONING),
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


_NAMED = 3
"""Cases that a line names."""

_KEPT_IDS = 20
"""Ids of cases that are kept of each seat."""

_MOST_GROWTH = 8
_INSTRUCTIONS = 64_000
"""A prompt has at most so many bytes for each byte of its case, and so many beside it, about: marks, headings, and the
seat's instructions. Prompts of cases that fit by this are not rendered.
"""


class SeatFit:
    """One seat, or the final judge (`juror_id` None), and how it would read the cases.

    Attributes:
        juror_id: of the seat.
        model: the first that is asked.
        window: in tokens, of the request and the answer together; None: not known.
        too_long: how many cases are longer than the window, and would be sent whole.
        first_ids: of these cases, the first.
        parts: in how many parts cases are read that are not read whole, and how many cases that are.
        outlined: how many cases it is shown an outline of: it reads them by tools, or what others cite of them.
    """

    def __init__(self, place: Seat | FinalJudge, window: int | None) -> None:
        self.juror_id = place.juror_id if isinstance(place, Seat) else None
        self.model = place.model
        self.window = window
        self.sees_pictures = place.images
        self._answer = place.settings.max_output_tokens
        self.too_long = 0
        self.first_ids: list[str] = []
        self.parts: Counter[int] = Counter()
        self.outlined = 0

    @property
    def name(self) -> str:
        """Of the seat, in a sentence."""
        return "the final judge" if self.juror_id is None else self.juror_id

    @property
    def not_whole(self) -> int:
        """How many cases it does not read whole."""
        return self.parts.total() + self.outlined

    @property
    def most(self) -> int | None:
        """The tokens that a request may have: what the answer leaves, or what a request may take; None: not known."""
        return None if self.window is None else max(self.window - self._answer, request_tokens(self.window))

    def add(self, case_id: str, sizes: PromptSizes) -> None:
        """Count a case."""
        reading = sizes.reading.get(self.juror_id)
        if reading is not None:
            self.parts.update([len(reading.parts)] if reading.mode == "windows" else [])
            self.outlined += reading.mode != "windows"
            return
        pictures = sizes.pictures if self.sees_pictures else 0
        tokens = estimated_tokens(sizes.prompts[self.juror_id] + sizes.form, pictures)
        if self.most is not None and tokens > self.most:
            self.too_long += 1
            if len(self.first_ids) < _KEPT_IDS:
                self.first_ids.append(case_id)


class CaseFit:
    """Compares cases with the windows of a panel's models, as debates of them would open.

    A request that is longer fails with `context_too_long`. Tokens are estimated (`token_estimate`), of the first
    request of a seat, and of the final judge's without the evaluations.
    """

    def __init__(
        self, resolved: ResolvedPanel, endpoints: Endpoints = NO_ENDPOINTS, operator_policy: str | None = None
    ) -> None:
        panel = resolved.panel
        self._resolved = resolved
        self._policy = operator_policy
        self.seats: list[SeatFit] = []
        self._opened = False
        self._window: int | None = None
        for place in panel.seats_and_judge:
            window = place.window or known_window(place.model, endpoints)
            self.seats.append(SeatFit(place, window))
            if isinstance(place, Seat) and (place.reading or panel.reading) in {"windows", "tools"}:
                self._opened = True
            if window is not None and (self._window is None or window < self._window):
                self._window = window
        self.cases = 0

    def add(self, case: Case) -> None:
        """Compare a case; without its records where they are not fetched. None is rendered that fits by far."""
        self.cases += 1
        if not self._opened and (self._window is None or self._is_short(case, self._window)):
            return
        sizes = prompt_sizes(case, self._resolved, self._policy)
        for seat in self.seats:
            seat.add(case.case_id, sizes)

    def lines(self, warning: str = "", more: str = "") -> Iterator[str]:
        """Which cases are too long for seats (`warning` begins it), and which they do not read whole; with `more`."""
        long, parted = [], []
        for seat in self.seats:
            if seat.too_long:
                long.append(f"{seat.too_long:,} for {seat.name} ({seat.window:,} tokens: {_named(seat)})")
            if seat.not_whole:
                parted.append(_read(seat))
        if long:
            what = "longer than the window of a model, whose calls would fail (context_too_long)"
            yield f"{warning}{what}, of {pluralize(self.cases, 'case')}: {', '.join(long)}{more}"
        if parted:
            yield f"not read whole, of {pluralize(self.cases, 'case')}: {', '.join(parted)}{more}"

    def data(self) -> dict[str, Any]:
        """The counts as JSON data."""
        return {
            "seats": [
                {
                    "juror_id": seat.juror_id,
                    "model": seat.model,
                    "window": seat.window,
                    "whole": self.cases - seat.not_whole - seat.too_long,
                    "in_parts": seat.parts.total(),
                    "fewest_parts": min(seat.parts, default=None),
                    "most_parts": max(seat.parts, default=None),
                    "outlined": seat.outlined,
                    "too_long": seat.too_long,
                    "too_long_cases": seat.first_ids,
                }
                for seat in self.seats
            ]
        }

    def _is_short(self, case: Case, window: int) -> bool:
        beside = _INSTRUCTIONS + len((self._policy or "").encode()) + bytes_of(estimated_tokens(0, len(case.images)))
        return len(case.model_dump_json().encode()) * _MOST_GROWTH + beside <= bytes_of(request_tokens(window))


def _read(seat: SeatFit) -> str:
    """How a seat reads what it does not read whole."""
    said = []
    if seat.parts:
        fewest, most = min(seat.parts), max(seat.parts)
        parts = pluralize(most, "part") if fewest == most else f"{fewest:,} to {most:,} parts"
        said.append(f"{seat.parts.total():,} in {parts}")
    if seat.outlined:
        said.append(f"{seat.outlined:,} from an outline")
    return f"{' and '.join(said)} by {seat.name}"


def _named(seat: SeatFit) -> str:
    named = [visible_line(case_id, 60) for case_id in seat.first_ids[:_NAMED]]
    return ", ".join(named) + (" …" if seat.too_long > len(named) else "")


def own_family(panel: Panel, case: Case) -> tuple[Seat | FinalJudge, ...]:
    """The seats, and the final judge, of the family of the judged agent, also by a fallback; () if it is not known."""
    agent = case.metadata.get(AGENT_MODEL)
    family = model_family(agent) if isinstance(agent, str) else None
    if family is None:
        return ()
    return tuple(
        place
        for place in panel.seats_and_judge
        if family in {model_family(one) for one in (place.model, *place.fallbacks)}
    )


def seats_left_out(panel: Panel, case: Case) -> tuple[str, ...]:
    """The ids of the seats that do not judge a case.

    Raises:
        RunRefused: the panel refuses such cases, or every seat would be left out.
    """
    if panel.own_family is None:
        return ()
    found = own_family(panel, case)
    seats = tuple(one.juror_id for one in found if isinstance(one, Seat))
    if panel.own_family == "refuse" and found:
        places = ", ".join(map(_place_named, found))
        raise RunRefused(
            f"case {visible_line(case.case_id, 100)}: {places} is of the family of the judged agent, {_agent(case)}, "
            "and the panel has own_family: refuse; seat others, or write warn or leave-out"
        )
    if len(seats) == len(panel.seats):
        raise RunRefused(
            f"case {visible_line(case.case_id, 100)}: every seat is of the family of the judged agent, {_agent(case)}: "
            "own_family: leave-out leaves none"
        )
    return seats


@dataclass
class OwnFamilies:
    """How many cases of a run with this panel are judged by seats of the agent's own family."""

    panel: Panel
    _cases: Counter[tuple[str, str]] = field(default_factory=Counter)
    _first: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, case: Case) -> None:
        """Count a case.

        Raises:
            RunRefused: as `seats_left_out`.
        """
        if AGENT_MODEL not in case.metadata:
            return
        seats_left_out(self.panel, case)
        for place in own_family(self.panel, case):
            key = _place_named(place), _agent(case)
            self._cases[key] += 1
            first = self._first.setdefault(key, [])
            if len(first) < _NAMED:
                first.append(case.case_id)

    def lines(self) -> Iterator[str]:
        """A line a seat and agent."""
        what = "is not seated there" if self.panel.own_family == "leave-out" else "judges tend to favour their own"
        for (seat, agent), count in self._cases.items():
            first = ", ".join(visible_line(one, 60) for one in self._first[seat, agent])
            yield (
                f"{seat} is of the family of the judged agent, {agent}, in {pluralize(count, 'case')} "
                f"({first}{', …' if count > _NAMED else ''}): "
                f"{'judges tend to favour their own' if seat.startswith('the final judge') else what}"
            )


def _place_named(place: Seat | FinalJudge) -> str:
    name = place.juror_id if isinstance(place, Seat) else "the final judge"
    return f"{name} ({place.model})"


def _agent(case: Case) -> str:
    return visible_line(str(case.metadata[AGENT_MODEL]), 60)
