"""An estimate of debates: calls, tokens, cost, disk, time. Pure: from the prompts as they would be sent."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from jury_actors.admission.permit import limits_of
from jury_debate.panel_spec import ResolvedPanel
from jury_debate.rules_registry import newest_rules
from jury_events.case import Case
from jury_events.exchange import Usage
from jury_events.panel import FinalJudge, Panel, Seat
from jury_judge.runs.estimated_caches import EstimatedCaches
from jury_judge.runs.estimated_steps import EstimatedCourse, requests_of, rounds_of, steps_of, turns_of
from jury_judge.runs.prompt_sizes import PromptSizes, prompt_sizes
from jury_providers.caching import CachePolicy, cache_policy
from jury_providers.endpoints import Endpoints, endpoint_of
from jury_providers.prices import Prices
from jury_providers.provider import ESTIMATED_PICTURE_TOKENS, picture_token_upper_bound

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
        sizes = prompt_sizes(case, resolved, operator_policy)
        for tally in tallies:
            tally.add(panel, sizes, first)
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
    """One course's sums over the sample, by model."""

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
        asked = [(step, requests_of(step, sizes, course)) for step in steps_of(panel, course.rounds, seats)]
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
    """Models that share a limit add up; the slowest class decides."""
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
