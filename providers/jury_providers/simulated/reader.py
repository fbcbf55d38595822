"""A simulated model: reads a request, asks for tools or gives an answer. A function of seed, seat and visible text."""

from collections import OrderedDict
from typing import Any, NamedTuple

from jury_providers.provider import ModelRequest, RequestedTool
from jury_providers.simulated.argument import ArgumentStep, judge, latest, respond
from jury_providers.simulated.document import Document, read_document
from jury_providers.simulated.evaluation import (
    Disposition,
    SimulatedEvaluation,
    disposition,
    evaluate,
    raw_score,
    verdict_of,
    weight,
    whole_score,
)
from jury_providers.simulated.findings import UNSEEN, Finding, read_findings, with_unseen
from jury_providers.simulated.phrases import Phrases, load_phrases
from jury_providers.simulated.prompt import Prompt, read_prompt
from jury_providers.simulated.tool_use import record_findings, wanted_tools

CACHED_CHARACTERS = 8_000_000
"""How much case text is kept read, in characters: a debate reads its case a dozen times."""

_OVERHEAD = 2000
_TOLD = 2
_TELLING = 0.1
_NAMED = 5


class ReaderOutput(NamedTuple):
    """What the model came to: tools that it asks for, or its answer's members in order, ready for JSON."""

    tools: tuple[RequestedTool, ...]
    answer: dict[str, Any]
    prose: str


class ReadCase(NamedTuple):
    """A case that was read; `digest` stands for its text."""

    digest: bytes
    document: Document
    findings: tuple[tuple[Finding, ...], ...]


class SimulatedReader:
    """Reads requests; what it made of a case is kept while there is room."""

    def __init__(self) -> None:
        self._cases: OrderedDict[bytes, ReadCase] = OrderedDict()
        self._kept = 0

    def read(self, request: ModelRequest, *, tools: bool = True) -> ReaderOutput:
        """What the model says to a request; without `tools` it answers at once."""
        return self.respond(read_prompt(request), request, tools=tools)

    def respond(self, prompt: Prompt, request: ModelRequest, *, tools: bool = True) -> ReaderOutput:
        """The same, to a request that is understood already."""
        case = self._case(prompt)
        if any(message.pictures for message in request.messages):
            # No picture is looked at: what is shown in one is not known here, and the answer says so.
            case = case._replace(findings=with_unseen(case.findings))
        if tools and request.tools and prompt.task == "initial" and not prompt.results:
            wanted = wanted_tools(prompt.role, request.tools, case.document)
            if wanted:
                return ReaderOutput(wanted, {}, "")
        return _Juror(prompt, case, request.settings.seed or 0).render_reply()

    def _case(self, prompt: Prompt) -> ReadCase:
        digest = prompt.case_digest
        case = self._cases.get(digest)
        if case is not None:
            self._cases.move_to_end(digest)
            return case
        document = read_document(prompt.case, prompt.patterns)
        # What was said is read by now; only the text for looking up quotations is kept.
        case = ReadCase(digest, document._replace(scenarios=()), read_findings(document))
        self._cases[digest] = case
        self._kept += len(document.plain) + _OVERHEAD
        while self._kept > CACHED_CHARACTERS and len(self._cases) > 1:
            _, dropped = self._cases.popitem(last=False)
            self._kept -= len(dropped.document.plain) + _OVERHEAD
        return case


class _Juror:
    """One seat over one request."""

    def __init__(self, prompt: Prompt, case: ReadCase, seed: int) -> None:
        self._prompt = prompt
        self._case = case
        self._phrases: Phrases = load_phrases(prompt.language)
        self._disposition: Disposition = disposition(seed, prompt.letter, prompt.role, case.digest)
        self._records = record_findings(case.document, prompt.results)
        read = case.findings or ((),)
        lean, role = self._disposition.lean, prompt.role
        self._scores = [raw_score([*findings, *self._records], role, lean) for findings in read]
        self._first = whole_score(self._scores)
        every = [finding for findings in read for finding in findings] + self._records
        self._against = sorted(
            (one for one in every if weight(one, role) >= _TELLING), key=lambda one: -weight(one, role)
        )
        self._merits = sorted((one for one in every if weight(one, role) < 0), key=lambda one: weight(one, role))

    def render_reply(self) -> ReaderOutput:
        if self._prompt.task == "discussion":
            return self._discuss()
        if self._prompt.task == "final":
            return self._judge()
        evaluation = self._evaluate(self._first)
        return self._spoken(evaluation, self._reasons(evaluation), self._reason())

    def _evaluate(self, score: float) -> SimulatedEvaluation:
        return evaluate(score, self._prompt.form, clouded=self._case.document.cut)

    def _discuss(self) -> ReaderOutput:
        own = self._prompt.own
        score = self._first if own is None else own.score
        peers = latest(self._prompt.peers, self._case.document.plain)
        turn = respond(
            score,
            "" if own is None else own.said.replace("ˆ", " "),
            self._evaluate(score).confidence if own is None else own.confidence,
            peers,
            self._disposition,
        )
        evaluation = self._evaluate(turn.score)
        statement = self._phrases.join([self._say(turn, score), self._closing(evaluation)])
        reasons = self._reasons(evaluation, said=turn.quote)
        if turn.key in {"convinced", "weighed", "drawn"}:
            reasons.insert(0, self._say(turn, score))
        return self._spoken(evaluation, reasons, statement)

    def _judge(self) -> ReaderOutput:
        score, turns = judge(self._first, latest(self._prompt.peers, self._case.document.plain))
        evaluation = self._evaluate(score)
        sentences = [self._say(turn, score) for turn in turns]
        return self._spoken(evaluation, [*sentences, *self._reasons(evaluation)], self._phrases.join(sentences))

    def _say(self, turn: ArgumentStep, before: float) -> str:
        return self._phrases.say(
            turn.key,
            letter=turn.letters[0] if turn.letters else "",
            jurors=self._phrases.jurors(turn.letters[:_NAMED]),
            quote=turn.quote,
            verdict=turn.verdict,
            counts=turn.verdict,
            old=verdict_of(before).value,
            new=verdict_of(turn.score).value,
            reason=self._reason(),
        )

    def _reason(self) -> str:
        """The one thing that counts most for this seat."""
        if self._against:
            return self._phrases.finding(self._against[0])
        if self._merits:
            return self._phrases.finding(self._merits[0])
        return self._phrases.say("nothing")

    def _reasons(self, evaluation: SimulatedEvaluation, said: str = "") -> list[str]:
        """The rationale's sentences; the place in the record that was `said` already is not repeated."""
        told = [finding for finding in self._against if not said or finding.quote != said][:_TOLD]
        told += [finding for finding in self._against if finding == UNSEEN and finding not in told][:1]
        reasons = [self._phrases.finding(finding) for finding in told]
        if not self._against and not said:
            reasons.append(self._phrases.say("nothing"))
        if self._merits:
            reasons.append(self._phrases.finding(self._merits[0], favourable=True))
        if self._case.document.cut:
            reasons.append(self._phrases.say("cut"))
        return [*reasons, self._closing(evaluation)]

    def _closing(self, evaluation: SimulatedEvaluation) -> str:
        view = self._phrases.views.get(self._prompt.role, self._phrases.views["general"])
        return self._phrases.say(evaluation.verdict.value, view=view)

    def _spoken(self, evaluation: SimulatedEvaluation, reasons: list[str], statement: str) -> ReaderOutput:
        form, phrases = self._prompt.form, self._phrases
        answer: dict[str, Any] = {
            "ballot": self._prompt.ballot,
            "verdict": evaluation.verdict.value,
            "scores": {name: points for (name, _), points in zip(form.dimensions, evaluation.points, strict=True)},
            "confidence": evaluation.confidence,
            "rationale": phrases.join(reasons),
        }
        if form.statement:
            answer["statement"] = statement
        if form.scenarios:
            answer["scenarios"] = self._scenarios(evaluation)
        score = f"{evaluation.overall:.0f}"
        prose = phrases.say("prose", reason=self._reason(), verdict=evaluation.verdict.value, score=score)
        return ReaderOutput((), answer, prose)

    def _scenarios(self, evaluation: SimulatedEvaluation) -> list[dict[str, Any]]:
        """Each by its own findings, moved as far as the whole was; all alike where they can't be told apart."""
        ids = self._prompt.form.scenarios
        moved = evaluation.overall - self._first
        told = len(self._scores) == len(ids)
        scores = [one + moved for one in self._scores] if told else [evaluation.overall] * len(ids)
        judged = []
        for scenario, one in zip(ids, scores, strict=True):
            score = round(max(0.0, min(100.0, one)), 1)
            judged.append({"scenario_id": scenario, "verdict": verdict_of(score).value, "score": score})
        return judged
