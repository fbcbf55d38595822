"""The steps of an estimated debate, and the requests that each makes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import NamedTuple

from jury_debate.prompts_1.texts import LONGEST_FINDING, MOST_FINDING_ENTRIES, MOST_FINDINGS
from jury_debate.reading.outline import cited_bytes
from jury_debate.reading.planning import MOST_LEVELS, findings_bytes
from jury_debate.reading.record_tools import MOST_READ_TURNS
from jury_events.evidence import LONGEST_QUOTE
from jury_events.panel import FinalJudge, Panel, Seat
from jury_judge.runs.estimated_caches import EstimatedCall
from jury_judge.runs.prompt_sizes import PromptSizes, ReadingSizes
from jury_judge.runs.rehearsal import RequestSize

_HEADING = 300
"""Bytes of what stands around a peer's words."""

_MOST_FOUND = MOST_FINDINGS * 4 * (LONGEST_FINDING + MOST_FINDING_ENTRIES * (LONGEST_QUOTE + 50) + 50)
"""Bytes of all that the answer about one part may hold, with the lines around each finding and quotation."""

_IN_PARTS = "parts"
"""Calls of places that do not read the case whole begin alike, and unlike those of others."""


class EstimatedCourse(NamedTuple):
    """A course of debates. Answers of None tokens have the maximum length; `on_disk` for a byte of events and texts.

    A picture is so many tokens, as many as its model may count where that is None.

    The least counts 6 bytes a token (Japanese has 3 bytes a character), and only the messages; the others also count
    tools and the answer's form. `read`: this share of what may be shown of cases that are not read whole, and
    of the turns in which tools may read them. `settled`: of seats that may not be asked, none is.
    """

    rounds: int
    tool_turns: int
    answer_tokens: int | None
    bytes_a_token: float
    on_disk: float
    picture_tokens: int | None
    forms: bool = True
    read: float = 1.0
    settled: bool = False

    def answer(self, place: Seat | FinalJudge) -> int:
        """The tokens of each answer of a place; a decision model writes none."""
        if isinstance(place, Seat) and place.questions is not None:
            return 0
        return self.answer_tokens or place.settings.max_output_tokens


class EstimatedStep(NamedTuple):
    """A step, how many peers' blocks its prompt shows, and its round: 0 the first evaluation, the last the judgment."""

    place: Seat | FinalJudge
    blocks: int
    round: int

    @property
    def juror_id(self) -> str | None:
        """Of the seat; None: the final judge's."""
        return self.place.juror_id if isinstance(self.place, Seat) else None


class EstimatedRequest(NamedTuple):
    """One call: bytes of its messages, tools and form, its pictures, and the bytes that other calls begin with too."""

    call: EstimatedCall
    size: float
    pictures: int
    shared: int


def rounds_of(panel: Panel) -> tuple[int, int]:
    """The least and the most rounds, if every seat answers."""
    rules = panel.discussion
    if not rules.max_rounds:
        return 0, 0
    if rules.threshold <= 1 and not rules.always_discuss:
        return 0, rules.max_rounds
    if not rules.end_early:
        return rules.max_rounds, rules.max_rounds
    if rules.threshold <= 1 or rules.unanimity_ends:
        return 1, rules.max_rounds
    return min(rules.stagnation_rounds or rules.max_rounds, rules.max_rounds), rules.max_rounds


def steps_of(panel: Panel, rounds: int, asked: int) -> Iterator[EstimatedStep]:
    """The steps of a debate of so many rounds; in the first evaluation so many seats are asked, in their order."""
    seats = len(panel.seats)
    rules = panel.discussion
    order = panel.juror_ids if panel.stop is None else panel.stop.order
    for juror_id in order[:asked]:
        yield EstimatedStep(panel.seat(juror_id), 0, 0)
    for number in range(1, rounds + 1):
        for speaker, seat in enumerate(one for one in panel.seats if one.questions is None):
            spoken = speaker if rules.order == "sequential" else 0
            yield EstimatedStep(seat, seats * number + spoken if rules.history == "all" else seats, number)
    if panel.final.judge is not None:
        yield EstimatedStep(panel.final.judge, seats * (rounds + 1), rounds + 1)


def turns_of(panel: Panel, asked: "Iterable[tuple[EstimatedStep, Sequence[EstimatedRequest]]]") -> int:
    """How many calls of a debate wait for one another: those of a round at once, unless its seats speak in order."""
    rounds: defaultdict[int, list[int]] = defaultdict(list)
    for step, requests in asked:
        rounds[step.round].append(len(requests))
    in_order = panel.discussion.order == "sequential"
    return sum(sum(calls) if in_order and number else max(calls) for number, calls in rounds.items())


def requests_of(step: EstimatedStep, sizes: PromptSizes, course: EstimatedCourse) -> list[EstimatedRequest]:
    """The requests of a step.

    One; one for each turn of tools, which sends again what was said before and what the tools gave back; and before
    these one for each part that a seat reads, and those that gather its findings where they are many.
    """
    place = step.place
    in_words = not isinstance(place, Seat) or place.questions is None
    form = sizes.form if course.forms and in_words else 0
    said = course.answer(place) * course.bytes_a_token
    base = sizes.prompts[step.juror_id] + step.blocks * (said + _HEADING) + form
    turns = 1 + (course.tool_turns if sizes.tools and in_words and isinstance(place, Seat) else 0)
    reading = sizes.reading.get(step.juror_id)
    if reading is None:
        call = _call(step, sizes)
        pictures = sizes.pictures if place.images else 0
        sent = (base + turn * (said + sizes.records) for turn in range(turns))
        return [EstimatedRequest(call, size, pictures, sizes.shared) for size in sent]
    call = EstimatedCall(place, _IN_PARTS)
    if reading.mode == "tools" and not step.blocks:
        return list(_read_by_tools(call, base, said, reading, course))
    parts = () if step.blocks else reading.parts
    found = len(parts) * _findings(course, place)
    shown = min(reading.room, found) if parts else course.read * cited_bytes(reading.room)
    return [
        *(_part_request(place, number, part, form) for number, part in enumerate(parts, 1)),
        *(EstimatedRequest(call, base + size, 0, reading.shared) for size in _gathered(found, reading.room, course)),
        *(
            EstimatedRequest(call, base + shown + turn * (said + sizes.records), 0, reading.shared)
            for turn in range(turns)
        ),
    ]


def _part_request(place: Seat | FinalJudge, number: int, part: RequestSize, beside: float) -> EstimatedRequest:
    """The call that shows a part; up to its end those of seats of equal windows begin alike."""
    call = EstimatedCall(place, f"part {number} for {place.window}")
    return EstimatedRequest(call, part.size + beside, part.pictures, part.shared)


def _findings(course: EstimatedCourse, place: Seat | FinalJudge) -> float:
    """The bytes of the findings of one part, as later calls are shown them; at least there are none."""
    return min(_MOST_FOUND, course.answer(place) * course.bytes_a_token) if course.read else 0.0


def _gathered(found: float, room: int, course: EstimatedCourse) -> Iterator[float]:
    """The bytes of findings that each call shows which gathers some, until all fit.

    At most, every call is filled to half, since findings are not divided, and keeps every second one.
    """
    most, full = findings_bytes(room), course.answer_tokens is not None
    for _ in range(MOST_LEVELS):
        if found <= most:
            return
        calls = ceil(found / most * (1 if full else 2))
        yield from [min(most, found)] * calls
        found /= 3 if full else 2


def _read_by_tools(
    call: EstimatedCall, base: float, said: float, reading: ReadingSizes, course: EstimatedCourse
) -> Iterator[EstimatedRequest]:
    """At most, the first turn fills the room, and every turn that may follow is made; else each shows as much."""
    turns = int(course.read * MOST_READ_TURNS)
    for turn in range(1 + turns):
        if course.answer_tokens is None:
            shown = float(min(1, turn) * reading.room)
        else:
            shown = course.read * min(reading.room, reading.record) * turn / max(1, turns)
        yield EstimatedRequest(call, base + turn * said + shown, 0, reading.shared)


def _call(step: EstimatedStep, sizes: PromptSizes) -> EstimatedCall:
    if not sizes.tools or not isinstance(step.place, Seat):
        return EstimatedCall(step.place, "none")
    return EstimatedCall(step.place, "records and opinions" if step.blocks else "records")
