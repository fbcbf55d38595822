"""Evaluations that a caller supplies in place of model calls: read from opinions, and given by a jury of their own.

The runtime processes and records them like a model's answers, as exchanges that no model answered (`simulated`, with
the model version `supplied`). So such a debate is run, verified and replayed by the same rules as any other.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, is_dataclass
from numbers import Real
from typing import Any, NamedTuple, Unpack

from jury_actors.juror import ProviderFactory
from jury_debate.panel_spec import PanelSpec
from jury_events.case import Case
from jury_events.errors import SettingError
from jury_events.outcome import CallOutcome
from jury_events.text import visible_line
from jury_events.verdict import Verdict
from jury_judge.documents.seating import JuryOptions
from jury_judge.jury import Jury
from jury_judge.runs.callbacks import OnEvent
from jury_judge.runs.panel_actors import ANYWHERE
from jury_judge.runs.run import fresh_debate_id
from jury_providers.provider import ModelReply, ModelRequest, OnChunk, Provider
from jury_providers.simulated.prompt import read_prompt
from jury_views.evaluation_models import DIMENSIONS
from jury_views.result_models import DebateResult

SUPPLIED = "supplied"
"""The `model_version` of these exchanges and evaluations."""


class SuppliedAnswer(NamedTuple):
    """An evaluation; `points` by dimension, missing ones in proportion to `overall`."""

    verdict: str
    overall: float
    confidence: float
    rationale: str
    points: Mapping[str, float]


StepAnswers = Mapping[str, SuppliedAnswer | None]
"""By step (`initial/gpt-4o`). None: no model is called, and the seat abstains."""


class SuppliedAnswers:
    """Answers supplied calls in front of the providers of an in-process runtime."""

    def __init__(self) -> None:
        self._supplied: dict[str, StepAnswers] = {}

    def add(self, debate_id: str, supplied: StepAnswers) -> None:
        """Answer these steps of a debate; the provider answers all others."""
        self._supplied[debate_id] = supplied

    def remove(self, debate_id: str) -> None:
        """Remove the answers of a debate that ended."""
        self._supplied.pop(debate_id, None)

    def wrap(self, providers: ProviderFactory) -> ProviderFactory:
        """The providers, called only for steps without a supplied answer."""
        return lambda name: _WrappedProvider(self, providers(name))

    def reply(self, request: ModelRequest) -> ModelReply | None:
        """The reply to a call with a supplied answer; None where the provider must be called."""
        debate_id, _, step = request.trace.rsplit("/", 3)[0].partition("/")
        supplied = self._supplied.get(debate_id, {})
        if step not in supplied:
            return None
        answer = supplied[step]
        if answer is None:
            error = "no model was called: this juror's step was excluded"
            return ModelReply(CallOutcome.BAD_REQUEST, error=error, model_version=SUPPLIED, cost=0.0, simulated=True)
        raw = json.dumps(_answer(answer, request), ensure_ascii=False).encode()
        return ModelReply(
            CallOutcome.ANSWERED, answer=raw, model_version=SUPPLIED, finish_reason="stop", cost=0.0, simulated=True
        )


class _WrappedProvider(Provider):
    """A provider that is called only for steps without a supplied answer."""

    def __init__(self, supplied: SuppliedAnswers, provider: Provider) -> None:
        self._supplied = supplied
        self._provider = provider
        self.simulated = provider.simulated
        self.max_in_flight = provider.max_in_flight

    @property
    def concurrency_limit(self) -> AbstractAsyncContextManager[object] | None:
        return self._provider.concurrency_limit

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        supplied = self._supplied.reply(request)
        return await self._provider.call(request, on_chunk) if supplied is None else supplied

    async def close(self) -> None:
        await self._provider.close()


def _answer(answer: SuppliedAnswer, request: ModelRequest) -> dict[str, Any]:
    """The answer in the format and with the ballot that the prompt requires."""
    prompt = read_prompt(request)
    body: dict[str, Any] = {
        "ballot": prompt.ballot,
        "verdict": answer.verdict,
        "scores": {
            name: answer.points.get(name, maximum * answer.overall / 100) for name, maximum in prompt.form.dimensions
        },
        "confidence": answer.confidence,
        "rationale": answer.rationale,
    }
    if prompt.form.statement:
        body["statement"] = answer.rationale
    return prompt.form.whole(body)


Opinions = Mapping[str, Any] | Iterable[Any]
"""Evaluations, or mappings of their fields: by juror id, or in a list where each has its `juror_id`."""

_MAXIMA = dict(zip(DIMENSIONS, (40.0, 30.0, 20.0, 10.0), strict=True))


def read_opinions(opinions: Opinions, name: str) -> dict[str, SuppliedAnswer]:
    """The opinions by juror id, in their order."""
    if not isinstance(opinions, Iterable):
        raise SettingError(f"{name}: give the opinions by juror id, or in a list, not a {type(opinions).__name__}")
    if isinstance(opinions, Mapping):
        pairs = list(opinions.items())
    else:
        pairs = [(_fields(one, f"{name}.{index}").get("juror_id"), one) for index, one in enumerate(opinions)]
    found: dict[str, SuppliedAnswer] = {}
    for juror_id, one in pairs:
        if not isinstance(juror_id, str) or not juror_id:
            raise SettingError(f"{name}: an opinion names no juror; give each a juror_id")
        place = f"{name}: the opinion of {visible_line(juror_id, 80)}"
        if juror_id in found:
            raise SettingError(f"{place} is given twice")
        found[juror_id] = read_opinion(one, place)
    return found


def verdict_of(opinion: Any, place: str) -> Verdict:
    """The verdict of an opinion."""
    value = _fields(opinion, place).get("verdict")
    try:
        return Verdict(str(value))
    except ValueError:
        raise SettingError(
            f"{place} has the verdict {visible_line(repr(value), 80)}; it may be {', '.join(Verdict)}"
        ) from None


def read_opinion(opinion: Any, place: str) -> SuppliedAnswer:
    """One opinion: `verdict`, points of the dimensions or `overall_score` (0-100), `confidence`, `rationale`."""
    fields = _fields(opinion, place)
    verdict = verdict_of(fields, place)
    points = {
        name: _number(fields[name], name, most, place) for name, most in _MAXIMA.items() if fields.get(name) is not None
    }
    overall = fields.get("overall_score")
    if overall is None and len(points) < len(_MAXIMA):
        raise SettingError(f"{place} has no score; give its overall_score, or the points of {', '.join(_MAXIMA)}")
    confidence = fields.get("confidence")
    text = fields.get("statement") or fields.get("rationale") or fields.get("reasoning")
    return SuppliedAnswer(
        verdict=verdict.value,
        overall=sum(points.values()) if overall is None else _number(overall, "overall_score", 100.0, place),
        confidence=0.5 if confidence is None else _number(confidence, "confidence", 1.0, place),
        rationale=_text(text, place) if text else verdict.value,
        points=points,
    )


def _fields(opinion: Any, place: str) -> Mapping[str, Any]:
    if is_dataclass(opinion) and not isinstance(opinion, type):
        return asdict(opinion)
    if not isinstance(opinion, Mapping):
        raise SettingError(f"{place} must be an evaluation or a mapping of its fields, not {type(opinion).__name__}")
    return opinion


def _text(value: Any, place: str) -> str:
    text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SettingError(
            f"{place}: its text contains half a character at index {error.start}; leave it out"
        ) from None
    return text


def _number(value: Any, name: str, most: float, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= most:
        raise SettingError(f"{place}: {name} must be a number from 0 to {most:g}, not {visible_line(repr(value), 40)}")
    return float(value)


class SuppliedJury(Jury):
    """A Jury whose debates may contain supplied evaluations; in this process only."""

    def __init__(self, panel: PanelSpec, **options: Unpack[JuryOptions]) -> None:
        if options.get("runtime", ANYWHERE).asked_in_process is False:
            raise SettingError("runtime: single jurors and rounds run in this process, not on Ray")
        self._supplied = SuppliedAnswers()
        super().__init__(panel, **options)

    async def evaluate_supplied(
        self, case: Case, supplied: StepAnswers, *, on_event: OnEvent | None = None
    ) -> DebateResult:
        """Run a debate over a case with supplied answers for some steps; raises as `Jury.evaluate`."""
        debate_id = fresh_debate_id(case)
        self._supplied.add(debate_id, supplied)
        try:
            return await self.evaluate(case, debate_id=debate_id, on_event=on_event)
        finally:
            self._supplied.remove(debate_id)

    def _wrap_providers(self, providers: ProviderFactory) -> ProviderFactory:
        return self._supplied.wrap(providers)
