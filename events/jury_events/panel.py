"""A panel: the seats, the discussion rules, the final method. Opening events contain every default."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from jury_events.calibration import Calibration
from jury_events.rubric import Rubric
from jury_events.value import JurorId, Label, ModelName, Value

Weight = Annotated[float, Field(gt=0, le=1_000_000)]
Order = Literal["parallel", "sequential"]
History = Literal["latest", "all"]
Language = Literal["ja", "en"]

MOST_SEATS = 500
"""A limit, as every discussion prompt shows every other seat."""


class CallSettings(Value):
    """How a model is called; None leaves a parameter to the provider.

    `timeout_seconds` bounds one attempt, `tries` the attempts of one turn when the provider fails, `deadline_seconds`
    the total time of its attempts and waits after which no further one is made.
    """

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    max_output_tokens: Annotated[int, Field(ge=16, le=1_000_000)] = 8192
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0
    tries: Annotated[int, Field(ge=1, le=20)] = 4
    deadline_seconds: Annotated[float, Field(gt=0, le=86_400)] = 600.0


class Seat(Value):
    """One juror's seat. `images`: its model and its fallbacks are sent the pictures of a case."""

    juror_id: JurorId
    role: Label
    role_name: Label
    role_focus: Label
    model: ModelName
    fallbacks: Annotated[tuple[ModelName, ...], Field(max_length=10)] = ()
    weight: Weight = 1.0
    images: bool = False
    settings: CallSettings = CallSettings()


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
    stagnation_rounds: Annotated[int, Field(ge=1, le=100)] | None
    speakers: SpeakerOrder

    @model_validator(mode="after")
    def _stagnation_can_end(self) -> Self:
        if self.stagnation_rounds is not None and not self.end_early:
            raise ValueError("stagnation_rounds: has no effect with end_early off, which forces all rounds")
        return self


FinalMethod = Literal["majority_vote", "weighted_average", "median", "final_judge"]


class Bands(Value):
    """Scores from `safe_pass` up pass, from `needs_review` up need review, lower ones fail."""

    safe_pass: Annotated[float, Field(ge=0, le=100)] = 70.0
    needs_review: Annotated[float, Field(ge=0, le=100)] = 40.0

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.needs_review > self.safe_pass:
            raise ValueError(f"needs_review ({self.needs_review:g}) must not be above safe_pass ({self.safe_pass:g})")
        return self


class FinalJudge(Value):
    """The model that reads everything and decides, when the method is `final_judge`; `images` as in `Seat`."""

    model: ModelName
    fallbacks: Annotated[tuple[ModelName, ...], Field(max_length=10)] = ()
    images: bool = False
    settings: CallSettings = CallSettings()


class FinalRules(Value):
    """Phase 3. `quorum` is the number of seats that must have a non-synthetic evaluation.

    `calibration`: when the verdict may stand without a person; None: always.
    """

    method: FinalMethod
    bands: Bands
    quorum: Annotated[int, Field(ge=1)]
    judge: FinalJudge | None
    calibration: Calibration | None = None

    @model_validator(mode="after")
    def _judge_where_needed(self) -> Self:
        if (self.method == "final_judge") != (self.judge is not None):
            raise ValueError("judge: required by the method final_judge, and by no other")
        return self


class AnswerRules(Value):
    """What happens to unusable answers: `repairs` more tries, then fallbacks; `safety_filter` when blocked."""

    repairs: Annotated[int, Field(ge=0, le=10)] = 2
    safety_filter: Literal["neutral", "fallback", "abstain"] = "neutral"


class ArtifactRules(Value):
    """How jurors see the artifact records; in `tools` mode, the limits of tool turns and of calls in one turn."""

    mode: Literal["inline", "summary", "tools"] = "tools"
    max_turns: Annotated[int, Field(ge=1, le=50)] = 4
    max_calls: Annotated[int, Field(ge=1, le=50)] = 8


class Panel(Value):
    """A resolved panel: everything that decides how a debate runs. Equal panels run under equal rules."""

    name: Label
    language: Language
    seats: Annotated[tuple[Seat, ...], Field(min_length=1, max_length=MOST_SEATS)]
    rubric: Rubric
    discussion: DiscussionRules
    final: FinalRules
    answers: AnswerRules
    artifacts: ArtifactRules

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = self.juror_ids
        if len(set(ids)) != len(ids):
            raise ValueError(f"seats: juror ids must be unique, got {', '.join(ids)}")
        if sorted(self.discussion.speakers.base) != sorted(ids):
            raise ValueError("discussion.speakers.base: must list every seat once")
        if self.final.quorum > len(ids):
            raise ValueError(f"final.quorum: {self.final.quorum} is more than the {len(ids)} seats")
        return self

    @property
    def juror_ids(self) -> tuple[str, ...]:
        """In seat order."""
        return tuple(seat.juror_id for seat in self.seats)

    def seat(self, juror_id: str) -> Seat:
        """The seat of `juror_id`; KeyError when there is none."""
        for seat in self.seats:
            if seat.juror_id == juror_id:
                return seat
        raise KeyError(juror_id)

    def seats_of(self, model: str) -> tuple[str, ...]:
        """The ids of the jurors whose first model is `provider/model`."""
        return tuple(seat.juror_id for seat in self.seats if seat.model == model)

    @property
    def seats_and_judge(self) -> tuple[Seat | FinalJudge, ...]:
        """The seats in their order, then the final judge where there is one."""
        return (*self.seats, *((self.final.judge,) if self.final.judge else ()))

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that may be asked, seats first, without repeats."""
        return tuple(
            dict.fromkeys(model for place in self.seats_and_judge for model in (place.model, *place.fallbacks))
        )
