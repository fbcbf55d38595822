"""How a seat reads a record: whole, in windows or by tools, as its room allows."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from jury_debate.assignment import CASE_WITH_IMAGES
from jury_debate.prompts_1.texts import Texts
from jury_debate.reading.outline import RecordOutline, guide
from jury_debate.reading.shown_record import SMALLEST_PART, ShownRecord, cuts, refined
from jury_debate.reading.token_estimate import PICTURE_TOKENS, bytes_of, estimated_tokens, request_tokens
from jury_events.panel import FinalJudge, Panel, Seat
from jury_events.reading import PlannedReading, ReadingMode, ReadingPlan

GUIDE = "guide/"
"""Prefix of the pieces with what all calls of a seat show of a record that it does not read whole."""

READING_TOOLS = "instruction/reading"
"""The piece that names the tools with which a record is read."""

CASE = "case"
REASONING = "reasoning"
"""The piece with what the agent thought, where the case is shown without it first."""

_FORM = 4_000
"""Bytes that the form of the answer, the instruction, and the frame of a part take, about."""

_LEAST_GUIDE, _MOST_GUIDE = 800, 24_000
_GUIDE_SHARE = 4
"""Of what is left beside the instructions, one part of so many is for the guide."""

_UNLIMITED = 1_000_000
"""Tokens: the window that bounds what a seat is shown whose window is not known."""


class PlannedCase(NamedTuple):
    """The plan (None: all seats read whole), and the pieces with the case, the reasoning and the guides, by name."""

    plan: ReadingPlan | None
    pieces: dict[str, bytes]


@dataclass(frozen=True)
class CaseToRead:
    """A case and what its requests show beside it.

    `shown` gives the piece with the case by its name (`case`, `case/images`); `sizes` are the bytes of each seat's
    instructions, the final judge's under None; `pictures` the numbers of the items that the pictures belong to;
    `reasoning` what the agent thought, where it is shown after the case, else empty.
    """

    shown: Callable[[str], bytes]
    marker: str
    sizes: Mapping[str | None, int]
    pictures: tuple[int, ...]
    reasoning: bytes = b""


class ReadingPlanner:
    """Plans one debate of a panel over a case, under the texts of its prompts."""

    def __init__(self, panel: Panel, case: CaseToRead, texts: Texts) -> None:
        self._panel = panel
        # They refer to each other and not to the planner: no cycle keeps the texts after it.
        shown = cache(case.shown)
        record = cache(lambda name: ShownRecord(shown(name), case.marker))
        self._shown, self._record = shown, record
        self._outline = cache(lambda name: RecordOutline(record(name), texts.reading))
        self._sizes = case.sizes
        self._pictures = case.pictures
        self._reasoning, self._marker = case.reasoning, case.marker
        self._texts = texts

    def planned(self) -> PlannedCase:
        """How each seat reads, and the pieces."""
        modes: dict[str | None, ReadingMode] = {}
        for seat in self._panel.seats:
            if (mode := self._mode(seat)) is not None:
                modes[seat.juror_id] = mode
        judge = self._panel.final.judge
        if judge is not None and (modes or not self._fits(judge, None)):
            modes[None] = "cited"
        names = (CASE, CASE_WITH_IMAGES) if self._pictures and self._panel.sees_pictures else (CASE,)
        whole = {name: self._shown(name) for name in names}
        if not modes:
            return PlannedCase(None, whole | self._reasoning_pieces(()))
        guides: dict[str, bytes] = {}
        rooms: dict[str | None, int] = {}
        for juror_id in modes:
            left = self._left(juror_id)
            text = self._guide(self._name(juror_id), max(_LEAST_GUIDE, min(_MOST_GUIDE, left // _GUIDE_SHARE)))
            guides[GUIDE + (juror_id or "final")] = text
            rooms[juror_id] = max(left - len(text), self._least_room(juror_id))
        by_windows = [juror_id for juror_id, mode in modes.items() if mode == "windows"]
        cut = {
            name: self._cut({one: rooms[one] for one in by_windows if self._name(one) == name}, name) for name in names
        }
        seats = tuple(
            PlannedReading(
                juror_id=juror_id,
                mode=mode,
                windows=cut[self._name(juror_id)].windows.get(juror_id, ()),
                room=rooms[juror_id],
            )
            for juror_id, mode in modes.items()
        )
        reasoning = self._reasoning_pieces(rooms.values())
        plan = ReadingPlan(
            seats=seats,
            parts=len(cut[CASE].segments),
            image_parts=len(cut[CASE_WITH_IMAGES].segments) if CASE_WITH_IMAGES in cut else 0,
            pictures=self._pictures,
            reasoning_parts=len(reasoning) or None,
        )
        return PlannedCase(plan, {**_pieces(whole, cut), **reasoning, **guides})

    def _mode(self, seat: Seat) -> ReadingMode | None:
        """How a seat reads; None: whole, as a decision model always does: it finds nothing in parts."""
        if seat.questions is not None:
            return None
        rule = seat.reading or self._panel.reading or "auto"
        if rule in {"windows", "tools"}:
            return "windows" if rule == "windows" else "tools"
        return None if rule == "whole" or self._fits(seat, seat.juror_id) else "windows"

    def _fits(self, place: Seat | FinalJudge, juror_id: str | None) -> bool:
        """Whether the request with the whole case is small enough; nothing is rendered where no window is known."""
        if place.window is None:
            return True
        size = self._sizes[juror_id] + _FORM + len(self._shown(self._name(juror_id))) + len(self._reasoning)
        pictures = len(self._pictures) if place.images else 0
        return estimated_tokens(size, pictures) <= request_tokens(place.window)

    def _left(self, juror_id: str | None) -> int:
        """The bytes that are left beside a seat's instructions.

        The longest of the seats of equal model and window count, so that these are shown equal outlines and parts,
        which the provider keeps for all of them.
        """
        window = self._window(juror_id)
        return bytes_of(request_tokens(window)) - max(self._sizes[one] for one in self._alike(juror_id)) - _FORM

    def _alike(self, juror_id: str | None) -> list[str | None]:
        if juror_id is None:
            return [None]
        seat = self._panel.seat(juror_id)
        return [
            one.juror_id
            for one in self._panel.seats
            if (one.model, one.window, one.images) == (seat.model, seat.window, seat.images)
        ]

    def _least_room(self, juror_id: str | None) -> int:
        """Where the instructions take most of the window, an eighth of it is used all the same."""
        return max(SMALLEST_PART, bytes_of(self._window(juror_id)) // 8)

    def _window(self, juror_id: str | None) -> int:
        return self._place(juror_id).window or _UNLIMITED

    def _place(self, juror_id: str | None) -> Seat | FinalJudge:
        if juror_id is not None:
            return self._panel.seat(juror_id)
        assert self._panel.final.judge is not None
        return self._panel.final.judge

    def _name(self, juror_id: str | None) -> str:
        return CASE_WITH_IMAGES if self._place(juror_id).images and self._pictures else CASE

    def _guide(self, name: str, most: int) -> bytes:
        return guide(self._record(name), self._outline(name), self._texts, most).encode()

    def _cut(self, rooms: Mapping[str | None, int], name: str) -> "_CutCase":
        if not rooms:
            return _CutCase({}, ())
        record = self._record(name)
        pictures = [
            (item.start, bytes_of(PICTURE_TOKENS))
            for number in (self._pictures if name == CASE_WITH_IMAGES else ())
            if (item := record.item(number)) is not None
        ]
        cut_sets = {juror_id: cuts(record, room, pictures=pictures) for juror_id, room in rooms.items()}
        size = len(record.content)
        segments = refined(size, cut_sets.values())
        places = {start: place for place, (start, _) in enumerate(segments)} | {size: len(segments)}
        windows = {
            juror_id: tuple((places[start], places[end]) for start, end in pairwise((0, *found, size)))
            for juror_id, found in cut_sets.items()
        }
        return _CutCase(windows, segments)

    def _reasoning_pieces(self, rooms: Collection[int]) -> dict[str, bytes]:
        """The reasoning, cut where a seat reads in parts: each of them has room for each seat that does."""
        content = self._reasoning
        if not content or not rooms:
            return {REASONING: content} if content else {}
        parts = pairwise((0, *cuts(ShownRecord(content, self._marker), min(rooms)), len(content)))
        return {part_name(REASONING, number): content[start:end] for number, (start, end) in enumerate(parts, start=1)}


class _CutCase(NamedTuple):
    """The windows of each seat in the parts of the case, and the parts."""

    windows: dict[str | None, tuple[tuple[int, int], ...]]
    segments: tuple[tuple[int, int], ...]


def _pieces(whole: Mapping[str, bytes], cut: Mapping[str, _CutCase]) -> dict[str, bytes]:
    pieces: dict[str, bytes] = {}
    for name, content in whole.items():
        if cut[name].segments:
            pieces |= {
                part_name(name, number): content[start:end]
                for number, (start, end) in enumerate(cut[name].segments, start=1)
            }
        else:
            pieces[name] = content
    return pieces


def part_name(name: str, number: int) -> str:
    """The name of the piece with a part of the case, from 1."""
    return f"{name}/{number}"


WANTED_SHARE = 4
"""Of a closing call's room, one part of so many is for the items that were asked for."""

MOST_LEVELS = 12
"""How often findings are gathered."""

MOST_SHRINKS = 4
"""How often a call that is too long is asked again with half of the room."""

_GATHERED = 3
"""Of so many findings that are gathered, one is kept."""


def findings_bytes(room: int) -> int:
    """The bytes of findings that one call shows, of its room."""
    return room - room // WANTED_SHARE


def kept_findings(findings: int) -> int:
    """How many findings a call is asked for that gathers so many: half of them at most."""
    return max(1, findings // _GATHERED)
