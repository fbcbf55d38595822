"""A simulated model that does not read the case: fixed valid answers, so that benchmarks measure the engine alone.

An answer depends on the seat and the form that is asked for. From the prompt it takes the ballot id, without which no
answer is valid.
"""

from functools import lru_cache
from typing import Any
from zlib import crc32

from jury_providers.provider import ModelRequest
from jury_providers.simulated.prompt import AnswerForm, Prompt, read_prompt
from jury_providers.simulated.reader import ReaderOutput
from jury_providers.simulated.scale import spread

_SCORES = (90.0, 55.0, 20.0)
"""A seat passes, doubts or fails, and keeps to it."""

_SAID = "A fixed answer: the case was not read. " * 4
_QUOTED = _SAID[:38]
"""It stands nowhere, so that the check of quotations looks through the whole case."""


class FixedReader:
    """Answers by seat; no tool is called."""

    def read_prompt(self, request: ModelRequest) -> Prompt:
        """The parsed request."""
        return read_prompt(request)

    def scores(self, prompt: Prompt, request: ModelRequest) -> tuple[float, ...]:  # noqa: ARG002  (the interface)
        """The seat's score, whatever is asked."""
        return (_score(request),) * len(request.questions)

    def respond(self, prompt: Prompt, request: ModelRequest, *, fault: str | None = None) -> ReaderOutput:  # noqa: ARG002
        """The answer of the request's seat."""
        return ReaderOutput((), {"ballot": prompt.ballot, **_answer(prompt.form, _score(request))}, _SAID)


@lru_cache(maxsize=64)
def _answer(form: AnswerForm, score: float) -> dict[str, Any]:
    """What an answer says beside its ballot: one of a few in a run, which callers must not change."""
    entry = {"item": 1, "quote": _QUOTED, "says": "context", "criterion": None, "seat": None}
    if form.findings:
        finding = {"criterion": None, "text": _SAID, **({"evidence": [entry]} if form.evidence else {})}
        return {"findings": [finding], "decisive": [], "wanted": []}
    points = spread(score, form.dimensions)
    scored = {"score": score} if points else {}
    answer: dict[str, Any] = {
        "verdict": form.scale.word(score),
        **({"scores": points} if points else {}),
        "confidence": form.scale.confidence(score),
        "rationale": _SAID,
    }
    if form.statement:
        answer["statement"] = _SAID
    if form.scenarios:
        answer["scenarios"] = [{"scenario_id": one, "verdict": answer["verdict"], **scored} for one in form.scenarios]
    if form.evidence:
        answer["evidence"] = [entry]
    return form.whole(answer)


def _score(request: ModelRequest) -> float:
    """By the seat of the trace debate/phase/seat/model/turn/try; over HTTP, where there is no trace, by the model."""
    parts = request.trace.rsplit("/", 4)
    seat = parts[1] if len(parts) == 5 else request.model  # noqa: PLR2004  (the parts of a trace)
    return _SCORES[crc32(seat.encode("utf-8", "surrogatepass")) % len(_SCORES)]
