"""A panel: the seats, the discussion rules, the final method. Opening events contain every default."""

from math import ceil
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from jury_events.calibration import Calibration
from jury_events.reading import ReadingRule, Window
from jury_events.rubric import Rubric
from jury_events.value import JurorId, Label, ModelName, Value
from jury_events.verdict import FAIL, PASS, REVIEW, Verdict
from jury_events.verdict_scale import OUTCOME_WORDS, Meaning, VerdictScale

LastAsked = Literal["given", "rotating", "price"]
"""Which seats are asked last: the last ones of the panel; others in each debate; those with the dearest models."""


class StopRule(Value):
    """A seat is not asked when no answer of it could change what is decided. `order` has every seat of the panel.

    given, price: `order` is that in which seats are asked. rotating: each debate starts at another seat of it.
    """

    rule: Literal["settled"] = "settled"
    last: LastAsked = "given"
    order: Annotated[tuple[JurorId, ...], Field(min_length=2)]


class AskingPlan(Value):
    """The order in which the seats of a debate are asked. The `first` seats of it are asked whatever they answer."""

    order: Annotated[tuple[JurorId, ...], Field(min_length=2)]
    first: Annotated[int, Field(ge=1)]


Weight = Annotated[float, Field(gt=0, le=1_000_000)]
Order = Literal["parallel", "sequential"]
History = Literal["latest", "all", "none"]
"""What a seat is shown of its peers in a round: the latest evaluation of each, all of them, or none."""
Language = Literal["ja", "en"]

MOST_SEATS = 500
"""A limit, as every discussion prompt shows every other seat."""


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Verbosity = Literal["low", "medium", "high"]
Tier = Literal["standard", "flex", "priority"]
Marking = Literal["lines", "words"]
"""Of judged text: a sign before each line, the line as it is; or a marker, and a sign in every gap between words."""


def _word(value: Any) -> Any:
    # YAML reads the words on and off as booleans.
    return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value


Switch = Annotated[Literal["on", "off"], BeforeValidator(_word)]
CacheMode = Annotated[Literal["auto", "off", "5m", "30m", "1h", "12h"], BeforeValidator(_word)]
Thinking = Annotated[
    Literal["adaptive", "off"] | Annotated[int, Field(ge=1, le=1_000_000)],
    BeforeValidator(_word),
]

_FLEX_TIMEOUT_SECONDS = 900.0
_FLEX_DEADLINE_SECONDS = 1800.0
"""The least at the tier flex, where an answer takes up to 15 minutes. Never change them: recorded debates need them."""

CARRIAGE = ("cache", "warm", "tier", "flex_fallback")
"""The fields of `CallSettings` that say how a call is carried out and paid, not what is asked.

They are no part of a panel's identity: neither its digest nor a comparison of panels has them.
"""


class CallSettings(Value):
    """How a model is called; a field without a value is left to the provider.

    `cache`, `warm`, `tier` and `flex_fallback` (`CARRIAGE`) say how a call is carried out, not what is asked: they are
    no part of a panel's identity.
    """

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Sent if the provider takes it; Anthropic has none."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    """Sent if the provider takes it; Anthropic and OpenAI's Responses have none."""
    max_output_tokens: Annotated[int, Field(ge=16, le=1_000_000)] = 8192
    """Of one answer, reasoning included."""
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0
    """Of one attempt; at the tier `flex` at least 900."""
    tries: Annotated[int, Field(ge=1, le=20)] = 4
    """Attempts of one turn while the provider fails."""
    deadline_seconds: Annotated[float, Field(gt=0, le=86_400)] = 600.0
    """Of all attempts and waits of a turn, after which no further one is made; at the tier `flex` at least 1,800."""
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    """Sent to OpenAI and Google."""
    effort: Effort | None = None
    """Of reasoning, as far as the provider has it (Google: `thinking_level`)."""
    thinking: Thinking | None = None
    """`adaptive`, `off`, or a budget in tokens (Anthropic, Google)."""
    verbosity: Verbosity | None = None
    """OpenAI."""
    cache: CacheMode | None = None
    """How long the provider keeps the beginning of prompts: `auto` asks where it saves, `off`, or a lifetime that the
    provider has."""
    warm: Switch | None = None
    """Seats of one model wait until the first begins to be answered, and read what it wrote to the cache."""
    tier: Tier | None = None
    """`flex`: half the price, within 15 minutes (OpenAI, Google); `priority`: faster, twice the price at most."""
    flex_fallback: Switch | None = None
    """A call that the provider has no room for at the tier `flex` is made again at the standard one."""

    @property
    def attempt_seconds(self) -> float:
        """The longest that one attempt may take: `timeout_seconds`, at the tier flex at least 900."""
        return max(self.timeout_seconds, _FLEX_TIMEOUT_SECONDS) if self.tier == "flex" else self.timeout_seconds

    @property
    def turn_seconds(self) -> float:
        """The seconds of attempts after which no further one is made; at the tier flex at least 1,800."""
        return max(self.deadline_seconds, _FLEX_DEADLINE_SECONDS) if self.tier == "flex" else self.deadline_seconds

    def without_carriage(self) -> Self:
        """What is asked, without how the call is carried out and paid (`CARRIAGE`)."""
        return self.model_copy(update=dict.fromkeys(CARRIAGE))


LeastRead = Annotated[float, Field(ge=0, le=1)]
"""The share of the record that a seat must have read for its verdict to pass."""


class Seat(Value):
    """One juror's seat. `images`: its model and its fallbacks are sent the pictures of a case.

    `window`: tokens of the smallest window of its models; None: not known, which is treated as unlimited. `reading` and
    `least_read` are the seat's own; None: the panel's. `questions`: its models are decision models, which answer typed
    questions with probabilities; the version of their wording. None: its models answer in words.
    """

    juror_id: JurorId
    role: Label
    role_name: Label
    role_focus: Label
    model: ModelName
    fallbacks: Annotated[tuple[ModelName, ...], Field(max_length=10)] = ()
    weight: Weight = 1.0
    images: bool = False
    settings: CallSettings = CallSettings()
    window: Window | None = None
    reading: ReadingRule | None = None
    least_read: LeastRead | None = None
    questions: Annotated[int, Field(ge=1)] | None = None


class SpeakerOrder(Value):
    """The speaker order: `base` is an explicit list of every seat.

    fixed: `base` in every round. rotating: `base` rotated by one seat a round. seeded: a permutation drawn from `seed`
    and the round.
    """

    kind: Literal["fixed", "rotating", "seeded"]
    base: Annotated[tuple[JurorId, ...], Field(min_length=1)]
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0


class DiscussionRules(Value):
    """Phase 2. See the design, "The rules of a debate"."""

    order: Order
    threshold: Annotated[float, Field(gt=0, le=1_000_000)]
    always_discuss: bool
    max_rounds: Annotated[int, Field(ge=0, le=100)]
    history: History
    unanimity_ends: bool
    end_early: bool
    stagnation_rounds: Annotated[int, Field(ge=1, le=100)] | None = None
    speakers: SpeakerOrder

    @model_validator(mode="after")
    def _stagnation_can_end(self) -> Self:
        if self.stagnation_rounds is not None and not self.end_early:
            raise ValueError("stagnation_rounds: has no effect with end_early off, which forces all rounds")
        return self


EvidenceRule = Literal["asked", "required", "off"]
UnsupportedRule = Literal["count", "halve", "abstain"]
_BEST_SCORE = 100

FinalMethod = Literal["majority_vote", "weighted_average", "median", "final_judge"]


class Bands(Value):
    """At least one whole score needs review: that verdict, which every panel can come to, has a score to show."""

    safe_pass: Annotated[float, Field(ge=0, le=100)] = 70.0
    """The lowest score that passes."""
    needs_review: Annotated[float, Field(ge=0, le=100)] = 40.0
    """The lowest score that does not fail."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.needs_review > self.safe_pass:
            raise ValueError(f"needs_review ({self.needs_review:g}) must not be above safe_pass ({self.safe_pass:g})")
        if not self.whole_scores(REVIEW):
            raise ValueError(
                f"no whole score is from needs_review ({self.needs_review:.12g}) up and below safe_pass "
                f"({self.safe_pass:.12g}), so none would need review; set them a point or more apart"
            )
        return self

    def whole_scores(self, verdict: Verdict) -> range:
        """The whole scores in the band of a verdict, ascending. Only `FAIL` can have none (`needs_review: 0`)."""
        passing, reviewed = ceil(self.safe_pass), ceil(self.needs_review)
        if verdict is PASS:
            return range(passing, _BEST_SCORE + 1)
        return range(reviewed, passing) if verdict is REVIEW else range(reviewed)

    @property
    def pass_from(self) -> float:
        """The lowest score that passes."""
        return self.safe_pass

    @property
    def review_from(self) -> float:
        """The lowest score that does not fail."""
        return self.needs_review


class FinalJudge(Value):
    """The model that reads everything and decides, when the method is `final_judge`; fields as in `Seat`."""

    model: ModelName
    fallbacks: Annotated[tuple[ModelName, ...], Field(max_length=10)] = ()
    images: bool = False
    settings: CallSettings = CallSettings()
    window: Window | None = None


class FinalRules(Value):
    """Phase 3. `quorum` is the number of seats that must have a non-synthetic evaluation.

    `calibration`: when the verdict may stand without a person; None: always.
    """

    method: FinalMethod
    bands: Bands
    quorum: Annotated[int, Field(ge=1)]
    judge: FinalJudge | None = None
    calibration: Calibration | None = None

    @model_validator(mode="after")
    def _judge_where_needed(self) -> Self:
        if (self.method == "final_judge") != (self.judge is not None):
            raise ValueError("judge: required by the method final_judge, and by no other")
        return self


class AnswerRules(Value):
    """What happens to answers that cannot be used, or that nothing supports."""

    repairs: Annotated[int, Field(ge=0, le=10)] = 2
    """How often a model is asked again, with the reason, whose answer cannot be used; then the next fallback."""
    safety_filter: Literal["neutral", "fallback", "abstain"] = "neutral"
    """What follows where a provider blocks a call, or a pass rests on a record of which parts were not read: `neutral`
    (review, 50, marked synthetic, never towards quorum), `fallback`, `abstain`."""
    evidence: EvidenceRule = "asked"
    """Whether jurors quote what they judge by; `required`: a failing verdict without a quotation that stands is asked
    for once more."""
    unsupported: UnsupportedRule = "count"
    """What a failing verdict counts that still has none: `count` as any other, `halve`, `abstain`."""


class ArtifactRules(Value):
    """How jurors see the records of a security gate and an agent card."""

    mode: Literal["inline", "summary", "tools"] = "tools"
    """`tools`: a summary, and tools that read the records; `summary` alone; `inline`: all records in the prompt."""
    max_turns: Annotated[int, Field(ge=1, le=50)] = 4
    """Turns with tools."""
    max_calls: Annotated[int, Field(ge=1, le=50)] = 8
    """Calls in one turn."""


_Place = TypeVar("_Place", Seat, FinalJudge)


class LeftOut(Value):
    """A seat of the panel that does not judge a case, as its model is of the judged agent's family."""

    juror_id: JurorId
    model: ModelName


class Panel(Value):
    """A resolved panel: everything that decides how a debate runs. Equal panels run under equal rules.

    `marking` of judged text. `scale`: the verdict words; None: the three verdicts. `task`: the question to the jury in
    one sentence or two; None: that of the prompts. `reading` of records that are longer than a seat's window.
    `least_read`: a passing verdict of a seat that has read a smaller share counts as `REVIEW`. `stop`: which seats are
    not asked where no answer of them could change what is decided; None: every seat is asked.
    `reasoning`: `hide`: jurors are not shown the agent's; `after`: once each has judged without it, and judges again;
    None: from the beginning. `own_family`: what becomes of a seat whose
    model is of the judged agent's family; None: it judges, and is named before the run. `left_out`: the seats that do
    not judge this case for it; None: all do.
    """

    encoded_once: ClassVar[bool] = True

    name: Label
    language: Language
    seats: Annotated[tuple[Seat, ...], Field(min_length=1, max_length=MOST_SEATS)]
    rubric: Rubric
    discussion: DiscussionRules
    final: FinalRules
    answers: AnswerRules
    artifacts: ArtifactRules
    marking: Marking = "lines"
    scale: VerdictScale | None = None
    task: Meaning | None = None
    reading: ReadingRule = "auto"
    least_read: LeastRead = 0.0
    stop: StopRule | None = None
    reasoning: Literal["hide", "after"] | None = None
    own_family: Literal["refuse", "leave-out"] | None = None
    left_out: Annotated[tuple[LeftOut, ...], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = self.juror_ids
        if len(set(ids)) != len(ids):
            raise ValueError(f"seats: juror ids must be unique, got {', '.join(ids)}")
        if sorted(self.discussion.speakers.base) != sorted(ids):
            raise ValueError("discussion.speakers.base: must list every seat once")
        if self.final.quorum > len(ids):
            raise ValueError(f"final.quorum: {self.final.quorum} is more than the {len(ids)} seats")
        if self.stop is not None and sorted(self.stop.order) != sorted(ids):
            raise ValueError("stop.order: must list every seat once")
        if self.stop is not None and self.reasoning == "after":
            raise ValueError(
                "stop: settles nothing under reasoning: after, where every seat judges twice; leave it out"
            )
        for one in self.rubric.dimensions:
            if one.critical == OUTCOME_WORDS[FAIL] and not self.final.bands.whole_scores(FAIL):
                raise ValueError(
                    f"final.bands: where no score fails, the verdict that the critical criterion {one.name} can make "
                    "fail has none; write a higher needs_review"
                )
        return self

    @property
    def juror_ids(self) -> tuple[str, ...]:
        """In seat order."""
        return tuple(map(_juror_id, self.seats))

    def seat(self, juror_id: str) -> Seat:
        """The seat of `juror_id`; KeyError when there is none."""
        for seat in self.seats:
            if seat.juror_id == juror_id:
                return seat
        raise KeyError(juror_id)

    def seats_of(self, model: str) -> tuple[str, ...]:
        """The ids of the jurors whose first model is `provider/model`."""
        return tuple(seat.juror_id for seat in self.seats if seat.model == model)

    def without_carriage(self) -> Self:
        """The panel's identity: everything but how its calls are carried out and paid (`CARRIAGE`), and the windows of
        its models, of which more may be known later.
        """
        judge = self.final.judge
        return self.model_copy(
            update={
                "seats": tuple(map(_without_carriage, self.seats)),
                "final": self.final.model_copy(update={"judge": judge and _without_carriage(judge)}),
            }
        )

    @property
    def speaking(self) -> tuple[str, ...]:
        """The ids of the seats that speak in rounds: all but those of decision models."""
        return tuple([seat.juror_id for seat in self.seats if seat.questions is None])

    @property
    def seats_and_judge(self) -> tuple[Seat | FinalJudge, ...]:
        """The seats in their order, then the final judge where there is one."""
        return (*self.seats, *((self.final.judge,) if self.final.judge else ()))

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that may be asked, seats first, without repeats."""
        found: dict[str, None] = {}
        for place in self.seats_and_judge:
            found |= dict.fromkeys((place.model, *place.fallbacks))
        return tuple(found)

    @property
    def sees_pictures(self) -> bool:
        """Whether a seat or the final judge is sent the pictures of a case."""
        return any(map(_images, self.seats_and_judge))


_juror_id, _images = attrgetter("juror_id"), attrgetter("images")


def _without_carriage(place: _Place) -> _Place:
    return place.model_copy(update={"settings": place.settings.without_carriage(), "window": None})
