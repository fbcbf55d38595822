"""An estimate of debates: calls, tokens, cost, disk, time. Pure: from the prompts as they would be sent."""

import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from math import ceil
from typing import NamedTuple

from jury_actors.admission.permit import limits_of
from jury_debate.prompts_1.texts import LONGEST_FINDING, MOST_FINDING_ENTRIES, MOST_FINDINGS
from jury_debate.reading.outline import cited_bytes
from jury_debate.reading.planning import MOST_LEVELS, findings_bytes
from jury_debate.reading.record_tools import MOST_READ_TURNS
from jury_debate.resolved_panel import ResolvedPanel, without_seats
from jury_debate.rules_registry import newest_rules
from jury_debate.shared_prompts import PromptStart, start_of
from jury_events.case import Case
from jury_events.evidence import LONGEST_QUOTE
from jury_events.exchange import CacheWrite, Usage
from jury_events.panel import FinalJudge, Panel, Seat
from jury_judge.runs.case_fit import PromptSizes, ReadingSizes, RequestSize, prompt_sizes, seats_left_out
from jury_providers.caching import CachePolicy, cache_policy
from jury_providers.endpoints import Endpoints, endpoint_of
from jury_providers.prices import Prices
from jury_providers.provider import ESTIMATED_PICTURE_TOKENS, picture_token_upper_bound


class EstimatedCall(NamedTuple):
    """Calls of a place with equal `tools` begin alike: "none", "records", "records and opinions", or a part's name."""

    place: Seat | FinalJudge
    tools: str

    @property
    def start(self) -> PromptStart:
        """How its prompt begins."""
        return start_of(self.place)._replace(tools=self.tools)


class EstimatedCaches:
    """The caches of one debate."""

    def __init__(self, policy: CachePolicy, calls: Iterable[EstimatedCall], on: date) -> None:
        self._policy = policy
        self._on = on
        self._left = Counter(call.start for call in calls)
        self._kept: set[PromptStart] = set()

    def usage(self, call: EstimatedCall, sent: int, shared: int, answer: int) -> Usage:
        """The usage of the next call.

        Args:
            sent: tokens of its prompt.
            shared: those of them that other calls begin with.
            answer: tokens of its answer.
        """
        start, place = call.start, call.place
        self._left[start] -= 1
        plain = Usage(input_tokens=sent, output_tokens=answer)
        if not shared or not self._policy.is_kept(place.model, shared):
            return plain
        known = start in self._kept
        further = math.inf if known else self._left[start]
        lifetime = self._policy.choose(place.model, place.settings, further, self._on)
        if lifetime == "none" or (lifetime is None and not self._policy.reads_for_less(place.model, self._on)):
            return plain
        self._kept.add(start)
        if known:
            return plain.changed(cached_input_tokens=min(shared, sent))
        if lifetime is None:
            return plain
        return plain.changed(cache_writes=(CacheWrite(lifetime=lifetime, tokens=min(shared, sent)),))


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
    """A step, how many blocks of evaluations its prompt shows, and its round: 0 the first evaluation, the last the
    judgment. `again`: the evaluation after the agent's reasoning was shown.
    """

    place: Seat | FinalJudge
    blocks: int
    round: int
    again: bool = False

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


def steps_of(panel: Panel, rounds: int, asked: int, *, again: bool) -> Iterator[EstimatedStep]:
    """The steps of a debate of so many rounds; in the first evaluation so many seats are asked, in their order.

    `again`: the seats judge again, and are shown the agent's reasoning.
    """
    seats = len(panel.seats)
    rules = panel.discussion
    order = panel.juror_ids if panel.stop is None else panel.stop.order
    for juror_id in order[:asked]:
        yield EstimatedStep(panel.seat(juror_id), 0, 0)
    if again:
        yield from (EstimatedStep(seat, int(seat.questions is None), 0, again=True) for seat in panel.seats)
    for number in range(1, rounds + 1):
        for speaker, seat in enumerate(one for one in panel.seats if one.questions is None):
            spoken = speaker if rules.order == "sequential" else 0
            yield EstimatedStep(seat, seats * number + spoken if rules.history == "all" else seats, number)
    if panel.final.judge is not None:
        yield EstimatedStep(panel.final.judge, seats * (rounds + 1), rounds + 1)


def turns_of(panel: Panel, asked: "Iterable[tuple[EstimatedStep, Sequence[EstimatedRequest]]]") -> int:
    """How many calls of a debate wait for one another: those of a round at once, unless its seats speak in order."""
    rounds: defaultdict[tuple[int, bool], list[int]] = defaultdict(list)
    for step, requests in asked:
        rounds[step.round, step.again].append(len(requests))
    in_order = panel.discussion.order == "sequential"
    return sum(sum(calls) if in_order and number else max(calls) for (number, _), calls in rounds.items())


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
        if step.again or step.round:
            base += sum(sizes.reasoning)
        call = _call(step, sizes)
        pictures = sizes.pictures if place.images else 0
        sent = (base + turn * (said + sizes.records) for turn in range(turns))
        return [EstimatedRequest(call, size, pictures, sizes.shared) for size in sent]
    call = EstimatedCall(place, _IN_PARTS)
    if reading.mode == "tools" and not step.blocks:
        return list(_read_by_tools(call, base, said, reading, course))
    parts = () if step.blocks else reading.parts
    if step.again:
        common = sizes.prompts[step.juror_id]
        parts = tuple(RequestSize(common + size, 0, reading.shared) for size in sizes.reasoning)
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
    return EstimatedCall(step.place, "records and opinions" if step.round else "records")


_EVENT = 850
"""Bytes of an event's body: 29.8 KB for the 35 of a debate with 13 calls (`benchmarks/debates.py`)."""

_PICTURES_ON_DISK = 1.1

_TEXTS_AN_ANSWER = 3
"""The texts stored of an answer: itself, its separate texts, and the block that peers are shown."""


_FEWEST_PICTURE_TOKENS = 64
"""A small picture is hardly ever fewer."""


class Range(NamedTuple):
    """The least, what is likely, and the most."""

    least: float
    likely: float
    most: float


class ModelEstimate(NamedTuple):
    """One model's part; `cost` in US dollars, None where no price is known."""

    model: str
    calls: Range
    input_tokens: Range
    output_tokens: Range
    cost: Range | None


class ReadingEstimate(NamedTuple):
    """What it takes that a seat does not read cases whole, until its first evaluation; `cost` as of `ModelEstimate`."""

    juror_id: str | None
    debates: float
    calls: Range
    cost: Range | None


class RunEstimate(NamedTuple):
    """For so many debates, from a sample of as many cases.

    `cost` in US dollars, None where a model has no price; `known_cost` is that of the models that have one. `minutes`
    is what the providers' limits take at least for what is likely, None where none is known. `turns`: the calls that
    wait for one another in their debate, of all debates.
    """

    debates: int
    sample: int
    models: tuple[ModelEstimate, ...]
    calls: Range
    cost: Range | None
    known_cost: Range
    disk_bytes: Range
    minutes: float | None
    turns: Range
    reading: tuple[ReadingEstimate, ...] = ()


def estimate(
    resolved: ResolvedPanel,
    sample: Iterable[Case],
    *,
    debates: int,
    prices: Prices,
    endpoints: Endpoints,
    on: date,
    operator_policy: str | None = None,
) -> RunEstimate:
    """An estimate of so many debates from a sample of their cases; without repairs, retries and fallbacks.

    `operator_policy`: of the whole run, see `Rules.open_debate`.
    """
    panel = resolved.panel
    fewest, most = rounds_of(panel)
    turns = panel.artifacts.max_turns
    courses = (
        EstimatedCourse(fewest, 0, 40, 6.0, 1.1, _FEWEST_PICTURE_TOKENS, forms=False, read=0.0, settled=True),
        EstimatedCourse((fewest + most + 1) // 2, 1, 400, 3.5, 1.6, ESTIMATED_PICTURE_TOKENS, read=0.25, settled=True),
        EstimatedCourse(most, turns, None, 2.0, 2.5, None),
    )
    policy = cache_policy(panel.models, prices, endpoints, os.environ)
    first = newest_rules().asked_first(panel)
    tallies = [_Tally(course, policy, on) for course in courses]
    count = 0
    for case in sample:
        count += 1
        seated = without_seats(resolved, seats_left_out(panel, case))
        sizes = prompt_sizes(case, seated, operator_policy)
        for tally in tallies:
            tally.add(seated.panel, sizes, first)
    factor = debates / count if count else 0.0

    def scaled(amounts: Iterable[float]) -> Range:
        return Range(*(amount * factor for amount in amounts))

    models = tuple(
        ModelEstimate(
            model=model,
            calls=scaled(tally.calls[model] for tally in tallies),
            input_tokens=scaled(tally.sent[model] for tally in tallies),
            output_tokens=scaled(tally.said[model] for tally in tallies),
            cost=scaled(tally.cost[model] for tally in tallies) if prices.has_price(model, on) else None,
        )
        for model in dict.fromkeys(place.model for place in panel.seats_and_judge)
    )
    known = all(one.cost is not None for one in models)
    places = {place.juror_id if isinstance(place, Seat) else None: place.model for place in panel.seats_and_judge}
    reading = tuple(
        ReadingEstimate(
            juror_id=juror_id,
            debates=tallies[0].read[juror_id] * factor,
            calls=scaled(tally.read_calls[juror_id] for tally in tallies),
            cost=scaled(tally.read_cost[juror_id] for tally in tallies) if prices.has_price(model, on) else None,
        )
        for juror_id, model in places.items()
        if tallies[0].read[juror_id]
    )
    return RunEstimate(
        debates=debates,
        sample=count,
        models=models,
        calls=scaled(tally.calls.total() for tally in tallies),
        cost=scaled(sum(tally.cost.values()) for tally in tallies) if known else None,
        known_cost=scaled(sum(tally.cost.values()) for tally in tallies),
        disk_bytes=scaled(tally.disk for tally in tallies),
        minutes=_minutes(models, endpoints),
        turns=scaled(tally.turns for tally in tallies),
        reading=reading,
    )


class _Tally:
    def __init__(self, course: EstimatedCourse, policy: CachePolicy, on: date) -> None:
        self._course = course
        self._policy = policy
        self._on = on
        self.calls: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        self.said: Counter[str] = Counter()
        self.cost: defaultdict[str, float] = defaultdict(float)
        self.disk = 0.0
        self.turns = 0
        self.read: Counter[str | None] = Counter()
        self.read_calls: Counter[str | None] = Counter()
        self.read_cost: defaultdict[str | None, float] = defaultdict(float)

    def add(self, panel: Panel, sizes: PromptSizes, first: int) -> None:
        """One debate; `first` of the seats are asked whatever they answer."""
        course = self._course
        seats = first if course.settled else len(panel.seats)
        kept: float = sizes.kept + _EVENT * (4 + 2 * course.rounds)
        steps = steps_of(panel, course.rounds, seats, again=bool(sizes.reasoning))
        asked = [(step, requests_of(step, sizes, course)) for step in steps]
        self.turns += turns_of(panel, asked)
        calls = [request.call for _, requests in asked for request in requests]
        caches = EstimatedCaches(self._policy, calls, self._on)
        for step, requests in asked:
            place, seat = step.place, step.juror_id
            answer = course.answer(place)
            said = answer * course.bytes_a_token
            a_picture = course.picture_tokens or picture_token_upper_bound(place.model.partition("/")[2])
            in_parts = step.blocks == 0 and seat in sizes.reading
            self.read[seat] += in_parts
            for request in requests:
                sent = request.size / course.bytes_a_token + request.pictures * a_picture
                usage = caches.usage(request.call, int(sent), int(request.shared / course.bytes_a_token), answer)
                cost = self._cost(place, usage, answer)
                self.calls[place.model] += 1
                self.sent[place.model] += int(sent)
                self.said[place.model] += answer
                self.cost[place.model] += cost
                if in_parts:
                    self.read_calls[seat] += 1
                    self.read_cost[seat] += cost
                kept += _EVENT + said + (sizes.form + sizes.records if course.forms else 0)
            kept += _EVENT + (_TEXTS_AN_ANSWER - 1) * said
        # Pictures are compressed already, and hardly grow in the database.
        self.disk += kept * course.on_disk + sizes.picture_bytes * _PICTURES_ON_DISK

    def _cost(self, place: Seat | FinalJudge, usage: Usage, answer: int) -> float:
        """At most, everything is written for the dearest lifetime, and answered at the dearest tier."""
        prices, settings = self._policy.prices, place.settings
        if self._course.answer_tokens is None:
            sent = usage.input_tokens or 0
            settings = settings.changed(max_output_tokens=answer) if answer else settings
            most = prices.upper_bound(place.model, sent, settings, self._on)
            return most or 0.0
        at_tier = usage.changed(service_tier=settings.tier)
        cost = prices.cost(place.model, at_tier, self._on)
        return (prices.cost(place.model, usage, self._on) if cost is None else cost) or 0.0


def _minutes(models: Iterable[ModelEstimate], endpoints: Endpoints) -> float | None:
    calls: defaultdict[tuple[str, str], float] = defaultdict(float)
    tokens: defaultdict[tuple[str, str], float] = defaultdict(float)
    slowest: float | None = None
    for one in models:
        provider, _, name = one.model.partition("/")
        pattern, limits = limits_of(endpoint_of(provider, endpoints), name)
        key = (provider, pattern)
        calls[key] += one.calls.likely
        tokens[key] += one.input_tokens.likely + one.output_tokens.likely
        for amount, a_minute in ((calls, limits.requests_per_minute), (tokens, limits.tokens_per_minute)):
            if a_minute is not None:
                slowest = max(slowest or 0.0, amount[key] / a_minute)
    return slowest
