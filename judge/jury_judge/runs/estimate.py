"""An estimate of debates: calls, tokens, cost, disk, time. Pure: from the prompts as they would be sent."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from typing import NamedTuple

from jury_actors.admission.model_class import limits_of
from jury_debate.panel_spec import ResolvedPanel
from jury_events.case import Case
from jury_events.exchange import Usage
from jury_events.panel import FinalJudge, Panel, Seat
from jury_judge.runs.estimated_caches import EstimatedCaches, EstimatedCall
from jury_judge.runs.prompt_sizes import PromptSizes, prompt_sizes
from jury_providers.caching import CachePolicy, cache_policy
from jury_providers.endpoints import Endpoint, Endpoints
from jury_providers.prices import Prices
from jury_providers.tokens import ESTIMATED_PICTURE_TOKENS, picture_token_upper_bound

_HEADING = 300
"""Bytes of what stands around a peer's words."""

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


class RunEstimate(NamedTuple):
    """For so many debates, from a sample of as many cases.

    `cost` in US dollars, None where a model has no price. `minutes` is what the providers' limits take at least for
    what is likely, None where none is known.
    """

    debates: int
    sample: int
    models: tuple[ModelEstimate, ...]
    calls: Range
    cost: Range | None
    disk_bytes: Range
    minutes: float | None


class _Course(NamedTuple):
    """A course of debates. Answers of None tokens have the maximum length; `on_disk` for a byte of events and texts.

    A picture is so many tokens, as many as its model may count where that is None.

    The least counts 6 bytes a token (Japanese has 3 bytes a character), and only the messages; the others also count
    tools and the answer's form.
    """

    rounds: int
    tool_turns: int
    answer_tokens: int | None
    bytes_a_token: float
    on_disk: float
    picture_tokens: int | None
    forms: bool = True


class _EstimatedStep(NamedTuple):
    """A step, and how many peers' blocks its prompt shows."""

    place: Seat | FinalJudge
    blocks: int


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
        _Course(fewest, 0, 40, 6.0, 1.1, _FEWEST_PICTURE_TOKENS, forms=False),
        _Course((fewest + most + 1) // 2, 1, 400, 3.5, 1.6, ESTIMATED_PICTURE_TOKENS),
        _Course(most, turns, None, 2.0, 2.5, None),
    )
    policy = cache_policy(panel.models, prices, endpoints, os.environ)
    tallies = [_Tally(course, policy, on) for course in courses]
    count = 0
    for case in sample:
        count += 1
        sizes = prompt_sizes(case, resolved, operator_policy)
        for tally in tallies:
            tally.add(panel, sizes)
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
    return RunEstimate(
        debates=debates,
        sample=count,
        models=models,
        calls=scaled(tally.calls.total() for tally in tallies),
        cost=scaled(sum(tally.cost.values()) for tally in tallies) if known else None,
        disk_bytes=scaled(tally.disk for tally in tallies),
        minutes=_minutes(models, endpoints),
    )


class _Tally:
    """One course's sums over the sample, by model."""

    def __init__(self, course: _Course, policy: CachePolicy, on: date) -> None:
        self._course = course
        self._policy = policy
        self._on = on
        self.calls: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        self.said: Counter[str] = Counter()
        self.cost: defaultdict[str, float] = defaultdict(float)
        self.disk = 0.0

    def add(self, panel: Panel, sizes: PromptSizes) -> None:
        """One debate."""
        course = self._course
        kept: float = sizes.kept + _EVENT * (4 + 2 * course.rounds)
        shared = int(sizes.shared / course.bytes_a_token)
        calls = [_call(step, sizes) for step in _askings(panel, course.rounds) for _ in range(self._turns(step, sizes))]
        caches = EstimatedCaches(self._policy, calls, self._on)
        for step in _askings(panel, course.rounds):
            place, blocks = step
            seat = place.juror_id if isinstance(place, Seat) else None
            answer = course.answer_tokens or place.settings.max_output_tokens
            said = answer * course.bytes_a_token
            pictures = sizes.pictures if place.images else 0
            tokens = pictures * (course.picture_tokens or picture_token_upper_bound(place.model.partition("/")[2]))
            base = sizes.prompts[seat] + blocks * (said + _HEADING) + (sizes.form if course.forms else 0)
            for turn in range(self._turns(step, sizes)):
                # Each turn sends again what was said before, and what the tools gave back.
                sent = (base + turn * (said + sizes.records)) / course.bytes_a_token + tokens
                usage = caches.usage(_call(step, sizes), int(sent), shared, answer)
                self.calls[place.model] += 1
                self.sent[place.model] += int(sent)
                self.said[place.model] += answer
                self.cost[place.model] += self._cost(place, usage, answer)
                kept += _EVENT + said + (sizes.form + sizes.records if course.forms else 0)
            kept += _EVENT + (_TEXTS_AN_ANSWER - 1) * said
        # Pictures are compressed already, and hardly grow in the database.
        self.disk += kept * course.on_disk + sizes.picture_bytes * _PICTURES_ON_DISK

    def _turns(self, step: _EstimatedStep, sizes: PromptSizes) -> int:
        """Calls of a step: one, and one more for each turn of tools."""
        return 1 + (self._course.tool_turns if sizes.tools and isinstance(step.place, Seat) else 0)

    def _cost(self, place: Seat | FinalJudge, usage: Usage, answer: int) -> float:
        """At most, everything is written for the dearest lifetime, and answered at the dearest tier."""
        prices, settings = self._policy.prices, place.settings
        if self._course.answer_tokens is None:
            sent = usage.input_tokens or 0
            most = prices.upper_bound(place.model, sent, settings.changed(max_output_tokens=answer), self._on)
            return most or 0.0
        at_tier = usage.changed(service_tier=settings.tier)
        cost = prices.cost(place.model, at_tier, self._on)
        return (prices.cost(place.model, usage, self._on) if cost is None else cost) or 0.0


def _call(step: _EstimatedStep, sizes: PromptSizes) -> EstimatedCall:
    if not sizes.tools or not isinstance(step.place, Seat):
        return EstimatedCall(step.place, "none")
    return EstimatedCall(step.place, "records and opinions" if step.blocks else "records")


def _askings(panel: Panel, rounds: int) -> Iterator[_EstimatedStep]:
    seats = len(panel.seats)
    rules = panel.discussion
    for seat in panel.seats:
        yield _EstimatedStep(seat, 0)
    for number in range(1, rounds + 1):
        for speaker, seat in enumerate(panel.seats):
            spoken = speaker if rules.order == "sequential" else 0
            yield _EstimatedStep(seat, seats * number + spoken if rules.history == "all" else seats)
    if panel.final.judge is not None:
        yield _EstimatedStep(panel.final.judge, seats * (rounds + 1))


def _minutes(models: Iterable[ModelEstimate], endpoints: Endpoints) -> float | None:
    """Models that share a limit add up; the slowest class decides."""
    calls: defaultdict[tuple[str, str], float] = defaultdict(float)
    tokens: defaultdict[tuple[str, str], float] = defaultdict(float)
    slowest: float | None = None
    for one in models:
        provider, _, name = one.model.partition("/")
        pattern, limits = limits_of(endpoints.get(provider, Endpoint()), name)
        key = (provider, pattern)
        calls[key] += one.calls.likely
        tokens[key] += one.input_tokens.likely + one.output_tokens.likely
        for amount, a_minute in ((calls, limits.requests_per_minute), (tokens, limits.tokens_per_minute)):
            if a_minute is not None:
                slowest = max(slowest or 0.0, amount[key] / a_minute)
    return slowest
