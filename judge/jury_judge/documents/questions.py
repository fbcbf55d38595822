"""A question and what the agent did with it, as the callers of the documents' classes write them.

Both are the models of `jury_events.case` with the further names of the documents' system. Fields that jurors
are not shown are accepted and dropped; the documents' classes warn of them (`CompatibilityWarning`).
"""

from typing import Any

from pydantic import model_validator

from jury_events import case
from jury_events.transcript import Text
from jury_events.value import ScenarioId
from jury_judge.cases.transcripts.builder import TranscriptBuilder
from jury_judge.cases.transcripts.reading import last_answer, read_messages
from jury_judge.errors import CaseFileError

_SPELLINGS = ("expected_behavior", "expected_behaviour")


class QuestionSpec(case.QuestionSpec):
    """The task of the agent.

    `question_id` names its row in the results, and `use_case` is repeated there; jurors see neither.
    `expected_behaviour` is `expected_behavior`; both are set if one is given. `perspective` and `source` mean
    nothing here.

    Raises:
        pydantic.ValidationError: a field is not what it must be, or the two spellings differ.
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
        said = [given[name] for name in _SPELLINGS if given.get(name) is not None]
        if len(said) > 1 and said[0] != said[1]:
            raise ValueError("expected_behaviour: differs from expected_behavior; give one of the two")
        return {**_with_text_id(given), **(dict.fromkeys(_SPELLINGS, said[0]) if said else {})}


class ExecutionResult(case.ExecutionResult):
    """The outcome of the agent: its answer, its transcript, or both.

    `messages` is a list of messages as OpenAI, Anthropic or Gemini write them; `transcript` and `images` are made of
    it. `response` None is the last answer of the messages, else no response, and judged as that. `question_id` is that
    of the question. The other fields mean nothing here: only `response`, `messages` and `error` are judged.

    Raises:
        pydantic.ValidationError: a field is not what it must be.
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
    """An id may be a whole number, as `case_id` may; a blank one is none."""
    found = given.get("question_id")
    if isinstance(found, int) and not isinstance(found, bool):
        return {**given, "question_id": str(found)}
    return {**given, "question_id": None} if found == "" else given
