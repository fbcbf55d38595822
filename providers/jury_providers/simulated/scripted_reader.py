"""A simulated model that does not read the case: fixed valid answers, so that benchmarks measure the engine alone.

An answer depends on the seat and the form that is asked for. From the prompt it takes the ballot id only, without which
no answer is valid.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from zlib import crc32

from jury_providers.provider import ModelRequest
from jury_providers.simulated.citations import EvidenceEntry
from jury_providers.simulated.decisions import decision_text
from jury_providers.simulated.evaluation import confidence
from jury_providers.simulated.prompt import GENERAL, AnswerForm, Prompt, ballot_in, scenarios_in, schema_form
from jury_providers.simulated.reader import ReaderOutput
from jury_providers.simulated.rendered_reply import RenderedReply, usage_of

_SHARES = (0.9, 0.55, 0.2)
"""Of the maxima: a seat passes, doubts or fails, and keeps to it."""

_MOST_FORMS = 64

_json = json.JSONEncoder(ensure_ascii=False).encode

_SAID = "A scripted answer: the case was not read. " * 4

_QUOTED = _SAID[:41]
"""It stands nowhere, so that the check of quotations looks through the whole case."""


class ScriptedReader:
    """Answers by seat; no tool is called."""

    def __init__(self) -> None:
        self._forms: dict[int, tuple[Mapping[str, Any], AnswerForm]] = {}

    def read_prompt(self, request: ModelRequest) -> Prompt:
        """Ballot id, step and form; the texts of the prompt are not parsed."""
        form = self._form(request)
        return Prompt(
            patterns=None,
            language="en",
            letter="",
            role=GENERAL,
            ballot=_ballot(request),
            task="discussion" if form.statement else "initial",
            round=0,
            case="",
            own=None,
            peers=(),
            results=(),
            form=form,
        )

    def scores(self, prompt: Prompt, request: ModelRequest) -> tuple[float, ...]:  # noqa: ARG002  (the interface)
        """The seat's share, whatever is asked."""
        return (100 * _share(request),) * len(request.questions)

    def _form(self, request: ModelRequest) -> AnswerForm:
        form = self._schema_form(request.schema)
        return form._replace(scenarios=_kept_scenarios(_seat_text(request))) if form.one_form else form

    def _schema_form(self, schema: Mapping[str, Any]) -> AnswerForm:
        """The form of a schema. A run sends the same few objects again and again; each stays alive with its form."""
        known = self._forms.get(id(schema))
        if known is None:
            if len(self._forms) == _MOST_FORMS:
                self._forms.clear()
            known = self._forms[id(schema)] = (schema, schema_form(schema))
        return known[1]

    def reply(self, request: ModelRequest) -> RenderedReply:
        """The reply without a fault, as `render_reply` gives it: only the ballot id is put into a finished text."""
        if request.questions:
            text = decision_text(request, self.scores(self.read_prompt(request), request), None)
            return RenderedReply(text, (), cut=False, usage=usage_of(request, 0))
        answer = _written(self._form(request), _share(request))
        text = f'{{"ballot": {_json(_ballot(request))}, {answer}'
        return RenderedReply(text, (), cut=False, usage=usage_of(request, len(text)))

    def respond(self, prompt: Prompt, request: ModelRequest, *, tools: bool = True) -> ReaderOutput:  # noqa: ARG002  (the interface)
        """The answer of the request's seat."""
        return ReaderOutput((), {"ballot": prompt.ballot, **_answer(prompt.form, _share(request))}, _SAID)


@lru_cache(maxsize=64)
def _answer(form: AnswerForm, share: float) -> dict[str, Any]:
    """What an answer says beside its ballot: one of a few in a run, which callers must not change."""
    if form.findings:
        entry = EvidenceEntry(1, _QUOTED, "context").fields
        finding = {"criterion": None, "text": _SAID, **({"evidence": [entry]} if form.evidence else {})}
        return {"findings": [finding], "decisive": [], "wanted": []}
    points = {name: round(most * share, 1) for name, most in form.dimensions}
    score = round(sum(points.values()), 6) if form.scored else 100 * share
    word = form.scale.word(score)
    answer: dict[str, Any] = {
        "verdict": word,
        **({"scores": points} if form.scored else {}),
        "confidence": confidence(score, form.scale.edges, clouded=False),
        "rationale": _SAID,
    }
    if form.statement:
        answer["statement"] = _SAID
    if form.scenarios:
        answer["scenarios"] = [
            {"scenario_id": one, "verdict": word, **({"score": score} if form.scored else {})} for one in form.scenarios
        ]
    if form.evidence:
        criterion = next((name for name, _ in form.dimensions), None)
        says = "for" if form.scale.is_favourable(word) else "against"
        answer["evidence"] = [EvidenceEntry(1, _QUOTED, says, criterion).fields]
    return form.whole(answer)


@lru_cache(maxsize=64)
def _written(form: AnswerForm, share: float) -> str:
    """The text of an answer behind its ballot."""
    return _json(_answer(form, share))[1:]


def _share(request: ModelRequest) -> float:
    return _SHARES[crc32(_seat(request).encode("utf-8", "surrogatepass")) % len(_SHARES)]


def _ballot(request: ModelRequest) -> str:
    """The ballot id of the system prompt, or of the seat's block behind the case."""
    system = "\n".join([message.whole for message in request.messages if message.role == "system"])
    return _kept_ballot(system) or _kept_ballot(_seat_text(request))


def _seat_text(request: ModelRequest) -> str:
    """What the first user message shows behind the blocks that it shares with other calls."""
    return next((message.text for message in request.messages if message.role == "user"), "")


@lru_cache(maxsize=1024)
def _kept_ballot(text: str) -> str:
    """A seat has the same system prompt in all its calls."""
    return ballot_in(text)


@lru_cache(maxsize=1024)
def _kept_scenarios(text: str) -> tuple[str, ...]:
    return scenarios_in(text)


def _seat(request: ModelRequest) -> str:
    """The seat of the trace debate/phase/seat/model/turn/try; over HTTP, where there is no trace, the model."""
    parts = request.trace.rsplit("/", 4)
    return parts[1] if len(parts) == 5 else request.model  # noqa: PLR2004  (the parts of a trace)
