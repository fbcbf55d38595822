"""How calls, answers, seats and debates end: outcomes, reasons of refusals and failures, the status in lists."""

from enum import StrEnum
from typing import Literal, NamedTuple


class CallOutcome(StrEnum):
    """How one attempt ended, the same for every provider."""

    ANSWERED = "answered"
    """A reply; the strict parser reads its text: the answer, calls of tools, or a repair turn with the reason."""
    BLOCKED = "blocked"
    """A refusal, or the provider's safety filter, also as a 400 or 403. `answers.safety_filter` of the panel says what
    follows; a final judge falls back."""
    TRUNCATED = "truncated"
    """Cut off at the output limit: a repair turn with that reason."""
    ONLY_REASONING = "only_reasoning"
    """All of the output limit went to reasoning: raise `max_output_tokens`, or lower `effort` or `thinking`. The next
    fallback model; no further turn is bought at the same price."""
    RATE_LIMITED = "rate_limited"
    """429. Tried again; every call with that key and class of models waits."""
    OVERLOADED = "overloaded"
    """5xx, 409, 424, 425, 498, 499. Tried again; every call with that key and class of models waits."""
    TIMEOUT = "timeout"
    """No answer in time. Tried again."""
    CONNECTION = "connection"
    """Refused, dropped, broken headers. Tried again."""
    MALFORMED_RESPONSE = "malformed_response"
    """200 with HTML, broken JSON, an empty body, a stream without its end; a server that refuses what its model wrote.
    Tried again."""
    AUTHENTICATION = "authentication"
    """The key or the account is refused. The run stops with exit code 4; the same `--run` goes on."""
    QUOTA = "quota"
    """Money, or a limit of a day or a month, is used up. The run stops as for a refused key."""
    BAD_REQUEST = "bad_request"
    """Other 4xx, an unknown model, a picture that the model does not take. The next fallback model."""
    CONTEXT_TOO_LONG = "context_too_long"
    """The prompt is too long, or its pictures too large. Its half, where it can be read in parts; else the next
    fallback model."""


ANSWERS = frozenset({CallOutcome.ANSWERED, CallOutcome.TRUNCATED, CallOutcome.ONLY_REASONING})
"""The model ran to an end of its own, or to the output limit."""


class RefusalReason(StrEnum):
    """Why the parser refused an answer."""

    EMPTY = "empty"
    TOO_LARGE = "too_large"
    NOT_UTF8 = "not_utf8"
    BYTE_ORDER_MARK = "byte_order_mark"
    NUL = "nul"
    PROSE = "prose"
    NOT_JSON = "not_json"
    INCOMPLETE = "incomplete"
    SEVERAL_OBJECTS = "several_objects"
    NOT_AN_OBJECT = "not_an_object"
    TOO_DEEP = "too_deep"
    DUPLICATE_KEY = "duplicate_key"
    LONE_SURROGATE = "lone_surrogate"
    NOT_A_NUMBER = "not_a_number"
    HUGE_NUMBER = "huge_number"
    UNKNOWN_FIELD = "unknown_field"
    MISSING_FIELD = "missing_field"
    WRONG_TYPE = "wrong_type"
    OUT_OF_RANGE = "out_of_range"
    UNKNOWN_VERDICT = "unknown_verdict"
    WRONG_BALLOT = "wrong_ballot"
    EMPTY_TEXT = "empty_text"
    TOO_LONG = "too_long"
    UNKNOWN_SCENARIO = "unknown_scenario"
    BALLOT_SHOWN = "ballot_shown"
    TOOLS_OVER = "tools_over"
    UNSUPPORTED = "unsupported"


class FailureReason(StrEnum):
    """Why a seat, or the final judge, has no answer after repairs and fallbacks: the last failure of the last model.

    `partly_read`: there is an answer, which passes, on a record of which parts were refused, or never answered usably.
    A refused key or an exhausted quota is not among them: the debate stays unfinished until a person acts.
    """

    UNPARSEABLE = "unparseable"
    TOOL_LOOP = "tool_loop"
    BLOCKED = "blocked"
    TRUNCATED = "truncated"
    ONLY_REASONING = "only_reasoning"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    MALFORMED_RESPONSE = "malformed_response"
    BAD_REQUEST = "bad_request"
    CONTEXT_TOO_LONG = "context_too_long"
    PARTLY_READ = "partly_read"


DebateStatus = Literal[
    "waiting", "evaluating", "discussing", "judging", "completed", "failed", "cancelled", "unreadable"
]
"""`waiting`: opened, and not begun.

`unreadable`: this version cannot read the recorded events; `DebateRow.problem` has the reason.
"""


class FinalOutcome(NamedTuple):
    """The verdict of a debate that completed.

    Attributes:
        verdict: one of the three words.
        label: of the panel's own scale; None: it has none, or only an outcome was decided.
        score: 0-100; None: no seat evaluated.
    """

    verdict: str
    label: str | None
    score: int | None

    @property
    def word(self) -> str:
        """The label; without one, the verdict."""
        return self.label or self.verdict
