"""What a seat is asked in one step: the prompt as an ordered list of parts, and what its answer must contain."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from operator import attrgetter
from typing import Literal, NamedTuple

from jury_events.ids import Step
from jury_events.panel import AnswerRules, ArtifactRules, CallSettings, Language, Panel
from jury_events.parts import ImageRef, PartRef
from jury_events.reading import ReadingMode, RecordRead
from jury_events.rubric import Rubric
from jury_events.verdict_scale import VerdictScale

CASE_WITH_IMAGES = "case/images"
OPERATOR_POLICY = "policy"
"""The prompt piece with the policy that the operator gave for the whole run."""

ROLE_PROMPT = "role_prompt/"
"""Prefix of the pieces with the panel's custom prompts; the juror id follows."""

JUDGE_ROLE_PROMPT = ROLE_PROMPT + "final"
"""The prompt piece that is sent together with the case's pictures."""


class DebateSigns(NamedTuple):
    """What derives from a debate's secret: the marker of judged text, and the ballot of each seat by its juror id.

    That of the final judge is under None.
    """

    marker: str
    ballots: Mapping[str | None, str]


class CallMessage(NamedTuple):
    """One message of a request; its text is the concatenation of `parts`.

    The first `shared` parts are blocks that other calls have too, the others are one block. `blocks`: how many parts
    each shared block has, where one has several; (): each is a block of its own. `images` follow the shared blocks,
    where there are any, else the text.
    """

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[PartRef, ...]
    call_id: str | None = None
    images: tuple[ImageRef, ...] = ()
    shared: int = 0
    blocks: tuple[int, ...] = ()

    @property
    def shared_blocks(self) -> tuple[tuple[PartRef, ...], ...]:
        """The parts of each shared block."""
        if not self.blocks:
            return tuple(zip(self.parts[: self.shared], strict=True))
        return tuple(self.parts[start:end] for start, end in pairwise((0, *accumulate(self.blocks))))

    @property
    def texts(self) -> tuple[PartRef, ...]:
        """All parts that it refers to, the pictures last."""
        return (*self.parts, *(image.content for image in self.images)) if self.images else self.parts


_texts = attrgetter("texts")


class Opinion(NamedTuple):
    """A peer's evaluation that this step may show, as the other-opinions tool returns it; `verdict` is its word."""

    letter: str
    round: int
    verdict: str
    score: float
    confidence: float
    peer_text: PartRef


class SeatSaid(NamedTuple):
    """What a step shows of a seat, which its answer may quote."""

    letter: str
    juror_id: str
    peer_texts: tuple[PartRef, ...]


class EvidenceSpec(NamedTuple):
    """What the quotations of an answer are checked against: the pieces of this debate's prompts.

    `marker` begins their judged lines; that of the assignment is another one where a fork reuses an answer. `seats` has
    every seat of the panel. `required`: a failing verdict needs a quotation that stands where it says.
    """

    case: tuple[PartRef, ...]
    policy: PartRef | None
    seats: tuple[SeatSaid, ...]
    marker: str
    required: bool


class DecisionSpec(NamedTuple):
    """What a decision model is asked to choose from: the labels of `scale`; those of the panel's own, or the three."""

    scale: VerdictScale
    own_scale: bool


class AnswerSpec(NamedTuple):
    """What an answer must contain.

    `ballot` is the seat's id that must be returned; `scenarios` the ids to be judged one by one, () for a case of one.
    `evidence`: what is quoted is checked against this; None where no quotations are asked for. `scale`: the verdict
    words; None: the three verdicts. `decision`: the seat is one of decision models, and answers with probabilities
    alone.
    """

    ballot: str
    rubric: Rubric
    statement: bool
    scenarios: tuple[str, ...]
    evidence: EvidenceSpec | None = None
    scale: VerdictScale | None = None
    decision: DecisionSpec | None = None


class ReadingSpec(NamedTuple):
    """How a step reads the record; what it refers to is the case as its seat is shown it.

    `mode`: whole (its request has all of it, and is read in halves where the provider says that it is too long), or as
    in `PlannedReading`. `case`: the record in its parts. `guide`: what all calls show; None: it is made where it is
    needed. `windows`: ranges of `case`. `room`: bytes that a call may show beside what all show; None: not known.
    `cited`: the items that are shown, by weight; with `whole` where that is too long. `images` belong to the items
    `pictures`. `earlier`: what the seat has read before, where that is not all in one call; `read_before`: it has
    given an evaluation of its own, which without `earlier` rests on all. `parts_before`: how many parts it has read of
    what stands before the first window.
    `records`: the tools that return artifact records are offered too.
    """

    mode: ReadingMode | Literal["whole"]
    case: tuple[PartRef, ...]
    guide: PartRef | None
    windows: tuple[tuple[int, int], ...] = ()
    room: int | None = None
    cited: tuple[int, ...] = ()
    images: tuple[ImageRef, ...] = ()
    pictures: tuple[int, ...] = ()
    earlier: RecordRead | None = None
    least_read: float = 0.0
    records: bool = False
    read_before: bool = False
    parts_before: int = 0


class Assignment(NamedTuple):
    """Everything that decides how a step is asked and how its answer is read; texts are references.

    `opinions`: what the other-opinions tool returns; None in phase 1, and where the case has no records for tools.
    `reading`: None where the messages show all that the step reads. Else they are what its calls have in common.
    """

    debate_id: str
    rules: int
    step: Step
    models: tuple[str, ...]
    settings: CallSettings
    messages: tuple[CallMessage, ...]
    spec: AnswerSpec
    answers: AnswerRules
    artifacts: ArtifactRules
    tools: bool
    opinions: tuple[Opinion, ...] | None
    prompts: int
    language: Language
    marker: str
    reading: ReadingSpec | None = None

    @property
    def texts(self) -> tuple[PartRef, ...]:
        """All parts that its calls may refer to."""
        shown = tuple(chain.from_iterable(map(_texts, self.messages)))
        reading = self.reading
        if reading is None:
            return shown
        guide = () if reading.guide is None else (reading.guide,)
        return (*shown, *guide, *reading.case, *[image.content for image in reading.images])


def scenario_numbers(scenarios: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a case's scenarios in prompts and answers: 1, 2 …; () where there is only one."""
    return tuple(str(number) for number in range(1, len(scenarios) + 1)) if len(scenarios) > 1 else ()


def tools_offered(panel: Panel, records: int) -> bool:
    """Whether the artifact tools are offered: in `tools` mode, where the case has records to fetch."""
    return panel.artifacts.mode == "tools" and records > 0


@lru_cache(maxsize=1024)
def seat_letter(index: int) -> str:
    """The letter of the seat at `index` (from 0): A to Z, then AA, AB, and so on."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
