"""The live events as models, one a `type`: their JSON Schemas and the reference page are made from these."""

from functools import cache
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from jury_events.judgment import ConsensusStatus
from jury_events.verdict_scale import LabelId
from jury_views.evaluation_models import DecisivePlace, VerdictWord, said

_Round = Annotated[int, Field(ge=1)]
_Juror = Annotated[str, Field(min_length=1, max_length=200)]
_Score = Annotated[int, said("0-100, halves rounded up.", ge=0, le=100)]
_FinalScore = Annotated[_Score | None, said("Null where no juror evaluated.")]
_Text = Annotated[str | None, said("null: the text was erased, or a decision model gave none.")]
_SubmissionId = Annotated[
    str, said("What the caller calls the debate, else the debate's id.", min_length=1, max_length=300)
]
_SpeakerOrder = Annotated[list[_Juror], said("Juror ids, in the order in which they speak.", min_length=1)]
_Label = Annotated[
    LabelId | None,
    said(
        "Only in debates whose panel has a scale of its own: the word of the scale whose outcome the verdict is; "
        "null where an outcome has no word."
    ),
]


class PhaseChange(TypedDict):
    """A phase begins."""

    type: Literal["phase_change"]
    phase: Literal["initial_evaluation", "discussion", "final_judgment"]
    phaseNumber: Literal[1, 2, 3]


class JurorEvaluationEvent(TypedDict):
    """Phase 1: a juror evaluated on its own, once more after `reasoning_shown`."""

    type: Literal["juror_evaluation"]
    phase: Literal["initial", "reasoning"]
    juror: _Juror
    verdict: VerdictWord
    score: _Score
    rationale: _Text
    label: NotRequired[_Label]


class ReasoningShownEvent(TypedDict):
    """Phase 1: every juror judges again, and is shown the agent's reasoning, which it has judged without."""

    type: Literal["reasoning_shown"]


class DiscussionRoundStart(TypedDict):
    """Phase 2: a round begins."""

    type: Literal["discussion_round_start"]
    round: _Round
    speaker_order: _SpeakerOrder


class JurorStatementEvent(TypedDict):
    """Phase 2: a juror spoke."""

    type: Literal["juror_statement"]
    phase: Literal["discussion"]
    round: _Round
    juror: _Juror
    submissionId: _SubmissionId
    statement: _Text
    positionChanged: bool
    newVerdict: VerdictWord
    newScore: _Score
    newLabel: NotRequired[_Label]


class ConsensusCheckDone(TypedDict):
    """A round is over. The check after phase 1 sends none."""

    type: Literal["consensus_check"]
    round: _Round
    consensus_status: ConsensusStatus
    consensus_reached: bool


class FinalJudgmentEvent(TypedDict):
    """Phase 3: the final judgment."""

    type: Literal["final_judgment"]
    finalVerdict: VerdictWord
    finalScore: _FinalScore
    finalLabel: NotRequired[_Label]
    reason: Annotated[str, said("Why the verdict came; where there are no words, or they were erased, it says so.")]
    reasonBy: Annotated[list[str], said("Whose words these are: seats, or final_judge.")]
    decisive: Annotated[
        DecisivePlace | None, said("The item where it went wrong; null: no seat names one, or the verdict passes.")
    ]


class EvaluationCompleted(TypedDict):
    """The debate is over."""

    type: Literal["evaluation_completed"]
    verdict: VerdictWord
    score: _FinalScore
    label: NotRequired[_Label]


class FinalJudgeChunk(TypedDict):
    """The next chunk of the final judge's answer, while it is written.

    It is not in the log: later readers get the judgment.
    """

    type: Literal["final_judge_chunk"]
    chunk: str


class EvaluationFailed(TypedDict):
    """The debate is over without a verdict, and resuming cannot help."""

    type: Literal["evaluation_failed"]
    reason: Annotated[str, Field(min_length=1, max_length=300)]


class EvaluationCancelled(TypedDict):
    """The debate was cancelled for good."""

    type: Literal["evaluation_cancelled"]


_Position = Annotated[int, said("Of the event in the log; `?after=` goes on from it.", ge=1)]


class RoundStartedFrame(TypedDict):
    """A round begins."""

    type: Literal["round_started"]
    position: _Position
    submissionId: _SubmissionId
    round: _Round
    speakerOrder: _SpeakerOrder


class JurorStatementFrame(TypedDict):
    """A juror spoke."""

    type: Literal["juror_statement"]
    position: _Position
    submissionId: _SubmissionId
    round: _Round
    juror: _Juror
    statement: _Text
    positionChanged: bool
    newVerdict: VerdictWord
    newScore: _Score
    newLabel: NotRequired[_Label]


class RoundCompletedFrame(TypedDict):
    """A round is over."""

    type: Literal["round_completed"]
    position: _Position
    submissionId: _SubmissionId
    round: _Round
    consensusStatus: ConsensusStatus
    agreementLevel: Annotated[
        float, said("Seats that hold the largest position of all seats, to two decimals.", ge=0, le=1)
    ]
    majorityPosition: Annotated[VerdictWord | None, said("null: the seats are split.")]
    majorityLabel: NotRequired[_Label]


LIVE_SCHEMAS: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "sse-events": (
        "Server-sent events of a debate",
        "The JSON of one `data:` line, by its `type`.",
        (
            PhaseChange,
            JurorEvaluationEvent,
            ReasoningShownEvent,
            DiscussionRoundStart,
            JurorStatementEvent,
            ConsensusCheckDone,
            FinalJudgmentEvent,
            EvaluationCompleted,
            FinalJudgeChunk,
            EvaluationFailed,
            EvaluationCancelled,
        ),
    ),
    "websocket-frames": (
        "WebSocket frames of a debate",
        "The JSON of one text frame, by its `type`.",
        (RoundStartedFrame, JurorStatementFrame, RoundCompletedFrame),
    ),
}
"""Title, description and models of each schema."""


@cache
def live_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one of `LIVE_SCHEMAS`."""
    title, description, kinds = LIVE_SCHEMAS[name]
    definitions: dict[str, Any] = {}
    listed = []
    for kind in kinds:
        made = TypeAdapter(kind).json_schema()
        definitions |= made.pop("$defs", {})
        word = made["properties"]["type"]["const"]
        listed.append({"$ref": f"#/$defs/{word}"})
        said_of = " ".join(made["description"].split())
        definitions[word] = {**made, "title": word, "description": said_of, "additionalProperties": False}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:jury-judge:schema:{name}:1",
        "title": title,
        "description": description,
        "oneOf": listed,
        "$defs": definitions,
    }
