"""A question and the agent's execution, as arguments of the documents' classes.

Both extend the models of `jury_events.case` by the fields of the documents' system. Fields that jurors do not see are
accepted and ignored; the documents' classes warn of them (`CompatibilityWarning`).
"""

from typing import Any

from pydantic import model_validator

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.reading import last_answer, read_messages
from jury_events import case
from jury_events.transcript import Text
from jury_events.value import ScenarioId

_SPELLINGS = ("expected_behavior", "expected_behaviour")


class QuestionSpec(case.QuestionSpec):
    """The question that the agent was asked.

    `question_id` and `use_case` are copied to its row in the results; jurors see neither. `expected_behaviour` is an
    alias of `expected_behavior`; one sets both. `perspective` and `source` are ignored.

    Raises:
        pydantic.ValidationError: a field is not valid, or the two spellings have different values.
    """

    question_id: ScenarioId | None = None
    expected_behaviour: Text | None = None
    use_case: Text | None = None
    perspective: Any = None
    source: Any = None

    @model_validator(mode="before")
    @classmethod
    def _one_expectation(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        values = [given[name] for name in _SPELLINGS if given.get(name) is not None]
        if len(values) > 1 and values[0] != values[1]:
            raise ValueError("expected_behaviour: differs from expected_behavior; give one of the two")
        return {**_with_text_id(given), **(dict.fromkeys(_SPELLINGS, values[0]) if values else {})}


class ExecutionResult(case.ExecutionResult):
    """The agent's execution: its answer, its transcript, or both.

    `messages` is a list of messages in the format of OpenAI, Anthropic or Gemini; `transcript` and `images` are derived
    from it. A `response` of None is the last answer of the messages, or else an empty response. `question_id` is that
    of the question. Only `response`, `messages` and `error` are judged; the other fields are ignored.

    Raises:
        pydantic.ValidationError: a field is not valid.
    """

    question_id: ScenarioId | None = None
    messages: Any = None
    images: tuple[case.Image, ...] = ()
    prompt: Any = None
    latency_ms: Any = None
    relay_endpoint: Any = None
    status: Any = None
    http_status: Any = None
    flags: Any = None
    attempts: Any = None
    retry_errors: Any = None
    response_snippet: Any = None
    trace_id: Any = None
    artifacts: Any = None

    @model_validator(mode="before")
    @classmethod
    def _without_response(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        fields = _with_text_id(given)
        if (messages := given.get("messages")) is not None:
            builder = TranscriptBuilder()
            try:
                read_messages(list(messages) if isinstance(messages, tuple) else messages, builder)
            except CaseFileError as error:
                raise ValueError(str(error)) from error
            fields |= {"transcript": builder.transcript(), "images": builder.images}
            if given.get("response") is None:
                fields["response"] = last_answer(builder.transcript())
        return {**fields, "response": ""} if fields.get("response", "") is None else fields


def _with_text_id(given: dict[str, Any]) -> dict[str, Any]:
    """Convert an id that is a whole number, as `case_id` may be; an empty one counts as None."""
    found = given.get("question_id")
    if isinstance(found, int) and not isinstance(found, bool):
        return {**given, "question_id": str(found)}
    return {**given, "question_id": None} if found == "" else given
