"""The scores of a debate, of the jury and of each seat, and what a tool is that takes them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit, urlunsplit

from jury_events.debate_history import DebateHistory
from jury_events.errors import Failure, InputError
from jury_events.local_events import ExportedScore, ScoreTargetName
from jury_events.scrubbing import known_scrubber
from jury_views.debate_results import result_of
from jury_views.evaluation_models import JurorEvaluation
from jury_views.number_formats import probabilities_line
from jury_views.result_models import DebateResult, FinalJudgment

VERDICT = "jury.verdict"
SCORE = "jury.score"
VOTE = "jury.vote."

_MOST_EXPLAINED = 4000
"""Characters of an explanation: Langfuse takes 1 MiB for all scores of a request."""

_TRACE, _SPAN, _OBSERVATION = "trace_id", "span_id", "observation_id"
"""What the formats of traces keep in the metadata of a case."""


class DebateScore(NamedTuple):
    """One score. `value` is a word of the panel's scale, or a number from 0 to 1.

    `seat` is the juror's id, None: the jury's. `explanation` is "" where a text was erased or there is none.
    """

    name: str
    value: str | float
    explanation: str
    seat: str | None = None

    @property
    def content(self) -> str:
        """The SHA-256 of what is written, in hexadecimal: whether it changed."""
        return sha256(json.dumps(self, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


class JudgedTrace(NamedTuple):
    """A trace that a debate judged; `span_id` and `observation_id` where the source names one.

    `opened_at`: when the debate opened, in microseconds since 1970-01-01 UTC.
    `seat_values` are the scores of seats from 0 to 1, of their last evaluations.
    """

    debate_id: str
    run_id: str | None
    trace_id: str
    span_id: str | None
    observation_id: str | None
    opened_at: int
    simulated: bool
    reviewed: bool
    scores: tuple[DebateScore, ...]
    seat_values: Mapping[str, float]

    @property
    def facts(self) -> dict[str, Any]:
        """What stands beside each score: JSON types alone."""
        found = {
            "jury_debate_id": self.debate_id,
            "jury_run_id": self.run_id,
            "jury_simulated": self.simulated,
            "jury_reviewed": self.reviewed,
        }
        return {name: value for name, value in found.items() if value is not None}


def judged_trace(history: DebateHistory) -> JudgedTrace | str:
    """The trace that a debate judged, with its scores; or why there is none, in words."""
    result = result_of(history)
    trace = result.metadata.get(_TRACE)
    if trace is None:
        return "its case names no trace_id"
    judgment = result.phase3_judgment
    if judgment is None or result.final_verdict is None:
        return f"it is {result.status}, without a judgment"
    seats = dict(_seats(result))
    return JudgedTrace(
        debate_id=history.debate_id,
        run_id=result.run_id,
        trace_id=str(trace),
        span_id=_text(result.metadata.get(_SPAN)),
        observation_id=_text(result.metadata.get(_OBSERVATION)),
        opened_at=history.stored_events[0].recorded_at,
        simulated=result.simulated,
        reviewed=bool(result.reviews),
        scores=(*_of_jury(result, judgment), *_of_votes(judgment, seats)),
        seat_values={seat: said.overall_score / 100 for seat, said in seats.items()},
    )


def _cut(text: str) -> str:
    text = known_scrubber().text(text)  # it may quote the case
    return text if len(text) <= _MOST_EXPLAINED else f"{text[: _MOST_EXPLAINED - 1]}…"


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _of_jury(result: DebateResult, judgment: FinalJudgment) -> Iterator[DebateScore]:
    """The word that counts now, and the jury's score; none where no juror evaluated."""
    word = result.final_label or result.final_verdict or ""
    reason = judgment.rationale or result.reason or ""
    if result.reviews:
        last = result.reviews[-1]
        decided = last["label"] or last["verdict"]
        if decided != word:
            reason = f"A person's review decided {decided}; the jury had decided {word}. {reason}".strip()
            word = decided
    yield DebateScore(VERDICT, word, _cut(reason))
    if judgment.score is not None:
        yield DebateScore(SCORE, judgment.score / 100, "")


def _of_votes(judgment: FinalJudgment, seats: Mapping[str, JurorEvaluation]) -> Iterator[DebateScore]:
    for vote in judgment.votes:
        if vote.position is not None:
            seat = vote.juror_id
            word = vote.label or vote.position
            why, said = "", seats.get(seat)
            if said is not None:  # a decision model has probabilities instead of reasons
                why = said.rationale or ("" if said.probabilities is None else probabilities_line(said.probabilities))
            yield DebateScore(f"{VOTE}{seat}", word, _cut(why), seat)


def _seats(result: DebateResult) -> Iterator[tuple[str, JurorEvaluation]]:
    """The evaluations by seat, those of later rounds after earlier ones."""
    for one in result.phase1_evaluations:
        yield one.juror_id, one
    for each in result.discussion_rounds:
        for statement in each.statements:
            if statement.updated_evaluation is not None:
                yield statement.juror_id, statement.updated_evaluation


_MOST = 300
"""Characters of a place on record."""


class ScoresRefused(InputError):
    """A tool did not take scores; the message names it and the reason. What was recorded before stays written."""

    failure = Failure.STOPPED


class ScoreTarget(Protocol):
    """Takes the scores of one trace after the other.

    Attributes:
        name: of the tool.
        place: its address, without credentials.
        repeats: whether it would take the same score twice.
    """

    name: ScoreTargetName
    place: str
    repeats: bool

    def refusal(self, trace: JudgedTrace) -> str | None:
        """Why this trace cannot be one of the tool's, in words; None: it can."""
        ...

    def write(
        self, trace: JudgedTrace, scores: Sequence[DebateScore], before: Mapping[str, ExportedScore]
    ) -> Mapping[str, str | None]:
        """Write scores, all in one call of this method; returns the tool's ids by name.

        Args:
            scores: those that the tool does not have, or has with another content.
            before: the scores that it has, by name.
        """
        ...

    def close(self) -> None:
        """Close what is open to the tool; nothing is written afterwards."""
        ...


def place_of(url: str) -> str:
    """An address as it is recorded: without user, password, query and fragment."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))[:_MOST] or "default"
