"""A simulated model: reads a request, calls tools or answers. A pure function of seed, seat and visible text."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from jury_events.evidence import MOST_ENTRIES
from jury_providers.provider import ModelRequest, RequestedTool
from jury_providers.simulated.argument import ArgumentStep, Peer, judge, latest, respond
from jury_providers.simulated.citations import (
    EvidenceEntry,
    cited_entries,
    decisive_item,
    distinct,
    quoted_peer,
    taken_over,
)
from jury_providers.simulated.decisions import decision_prompt
from jury_providers.simulated.document import MAX_CHARACTERS, read_document
from jury_providers.simulated.evaluation import (
    Disposition,
    SimulatedEvaluation,
    disposition,
    evaluate,
    raw_score,
    weight,
    whole_score,
)
from jury_providers.simulated.findings import UNSEEN, read_findings, with_unseen
from jury_providers.simulated.misquotations import misquoted
from jury_providers.simulated.phrases import Phrases, load_phrases
from jury_providers.simulated.prompt import PeerBlock, Prompt, read_prompt
from jury_providers.simulated.read_case import ReadCase
from jury_providers.simulated.record_parts import own_findings, window_answer
from jury_providers.simulated.record_reading import wanted_reads, with_read_items
from jury_providers.simulated.script import NO_FAULTS, Script
from jury_providers.simulated.shown_scale import THREE_VERDICTS, ShownScale
from jury_providers.simulated.tool_use import record_findings, wanted_tools

CACHED_CHARACTERS = 8_000_000
"""Cache size in characters of case text: a debate reads its case a dozen times."""

_OVERHEAD = 2000
_MAX_REASONS = 2
_MAX_CITED = 4
_MIN_WEIGHT = 0.1
_MAX_LETTERS = 5


class ReaderOutput(NamedTuple):
    """Tool calls, or the members of the answer's JSON object in order; `prose` is an answer that is not JSON."""

    tools: tuple[RequestedTool, ...]
    answer: dict[str, Any]
    prose: str


class Reader(Protocol):
    """What answers a request in place of a model."""

    def read_prompt(self, request: ModelRequest) -> Prompt:
        """The parsed request. Never raises."""

    def respond(self, prompt: Prompt, request: ModelRequest, *, tools: bool = True) -> ReaderOutput:
        """The output for a request whose prompt is already parsed; without `tools` it answers directly."""

    def scores(self, prompt: Prompt, request: ModelRequest) -> tuple[float, ...]:
        """The scores, 0-100, by which a decision model answers the questions of a request, in their order."""


class SimulatedReader:
    """Reads requests; parsed cases are cached."""

    def __init__(self, script: Script = NO_FAULTS) -> None:
        self._script = script
        self._cases: OrderedDict[bytes, ReadCase] = OrderedDict()
        self._kept = 0

    def read(self, request: ModelRequest, *, tools: bool = True) -> ReaderOutput:
        """The output for a request; without `tools` it answers directly."""
        return self.respond(self.read_prompt(request), request, tools=tools)

    def read_prompt(self, request: ModelRequest) -> Prompt:
        """The parsed request. Never raises."""
        return decision_prompt(request) if request.questions else read_prompt(request)

    def scores(self, prompt: Prompt, request: ModelRequest) -> tuple[float, ...]:
        """The scores of the whole record, and of each scenario where it is asked for."""
        case = self._case(prompt)
        drawn = disposition(request.settings.seed or 0, request.model, prompt.role, case.digest)
        records = record_findings(case.document, (), prompt.mark)
        read = [raw_score([*found, *records], prompt.role, drawn.lean) for found in case.findings or ((),)]
        asked = len(request.questions) - 1
        return (whole_score(read), *(read if len(read) == asked else [whole_score(read)] * asked))

    def respond(self, prompt: Prompt, request: ModelRequest, *, tools: bool = True) -> ReaderOutput:
        """The output for a request whose prompt is already parsed."""
        if tools and (reads := wanted_reads(prompt, request)):
            return ReaderOutput(reads, {}, "")
        prompt = with_read_items(prompt)
        case = self._case(prompt)
        if prompt.task == "window":
            return ReaderOutput((), window_answer(prompt, case), "")
        if prompt.task in {"gather", "closing"}:
            found = own_findings(prompt)
            # The calls about parts showed the items in which these stand.
            items = {*case.document.items, *(one.item for finding in found for one in finding.cited)}
            case = case._replace(findings=(found,), document=case.document._replace(items=tuple(sorted(items))))
        if prompt.task == "gather":
            return ReaderOutput((), window_answer(prompt, case), "")
        if any(message.pictures for message in request.messages):
            # Pictures are not interpreted; the answer says that part of the record was not seen.
            case = case._replace(findings=with_unseen(case.findings))
        if tools and request.tools and prompt.task == "initial" and not prompt.results:
            wanted = wanted_tools(prompt.role, request.tools, case.document)
            if wanted:
                return ReaderOutput(wanted, {}, "")
        return _Juror(prompt, case, request.settings.seed or 0, self._script.points_of(request.trace)).output()

    def _case(self, prompt: Prompt) -> ReadCase:
        digest = prompt.case_digest
        case = self._cases.get(digest)
        if case is not None:
            self._cases.move_to_end(digest)
            return case
        # A part of a record is read to its end, as no other call shows the rest.
        most = max(MAX_CHARACTERS, len(prompt.case)) if prompt.task == "window" else MAX_CHARACTERS
        document = read_document(prompt.case, prompt.patterns, prompt.mark, most)
        # The utterances are no longer needed; the plain text is, to check quotations.
        case = ReadCase(digest, document._replace(scenarios=()), read_findings(document))
        self._cases[digest] = case
        self._kept += len(document.plain) + _OVERHEAD
        while self._kept > CACHED_CHARACTERS and len(self._cases) > 1:
            _, dropped = self._cases.popitem(last=False)
            self._kept -= len(dropped.document.plain) + _OVERHEAD
        return case


class _Juror:
    """One seat's answer to one request; `points` stand in for those of its reading."""

    def __init__(self, prompt: Prompt, case: ReadCase, seed: int, points: float | None = None) -> None:
        self._prompt = prompt
        self._case = case
        self._seed = seed
        self._phrases: Phrases = load_phrases(prompt.language)
        self._scale: ShownScale = prompt.form.scale
        self._disposition: Disposition = disposition(seed, prompt.letter, prompt.role, case.digest)
        self._records = record_findings(case.document, prompt.results, prompt.mark)
        read = case.findings or ((),)
        lean, role = self._disposition.lean, prompt.role
        self._scores = [raw_score([*findings, *self._records], role, lean) for findings in read]
        self._first = whole_score(self._scores) if points is None else points
        every = [finding for findings in read for finding in findings] + self._records
        self._negative = sorted(
            (one for one in every if weight(one, role) >= _MIN_WEIGHT), key=lambda one: -weight(one, role)
        )
        self._positive = sorted((one for one in every if weight(one, role) < 0), key=lambda one: weight(one, role))

    def output(self) -> ReaderOutput:
        if self._prompt.task == "discussion":
            return self._discuss()
        if self._prompt.task == "final":
            return self._judge()
        evaluation = self._evaluate(self._first)
        return self._output(evaluation, self._reasons(evaluation), self._reason())

    def _evaluate(self, score: float) -> SimulatedEvaluation:
        return evaluate(score, self._prompt.form, clouded=self._case.document.cut)

    def _discuss(self) -> ReaderOutput:
        own = self._prompt.own
        own_quotes = () if own is None else own.evidence.quotations
        score = self._first if own is None else own.score
        peers = latest(self._prompt.peers, self._case.document.plain, self._prompt.mark, self._scale)
        turn = respond(
            score,
            "" if own is None else "\n".join([own.said.replace("ˆ", " "), *(one.quote for one in own_quotes)]),
            self._evaluate(score).confidence if own is None else own.confidence,
            peers,
            self._disposition,
            scale=self._scale,
        )
        evaluation = self._evaluate(turn.score)
        statement = self._phrases.join([self._say(turn, score), self._closing(evaluation)])
        reasons = self._reasons(evaluation, said=turn.quote)
        if turn.key in {"convinced", "weighed", "drawn"}:
            reasons.insert(0, self._say(turn, score))
            followed = next(peer.block for peer in peers if peer.block.letter in turn.letters)
            return self._output(
                evaluation, reasons, statement, taken_over(followed, turn.quote), followed.evidence.decisive_item
            )
        return self._output(evaluation, reasons, statement)

    def _judge(self) -> ReaderOutput:
        peers = latest(self._prompt.peers, self._case.document.plain, self._prompt.mark, self._scale)
        score, turns = judge(self._first, peers, self._scale)
        evaluation = self._evaluate(score)
        sentences = [self._say(turn, score) for turn in turns]
        reasons = [*sentences, *self._reasons(evaluation)]
        followed = _followed(peers, turns, evaluation.verdict)
        if followed is None:
            return self._output(evaluation, reasons, self._phrases.join(sentences))
        about = next((turn.quote for turn in turns if turn.key == "judge_follow"), "")
        favourable = self._scale.is_favourable(followed.verdict)
        quoted = quoted_peer(followed, about, self._case.document.items, self._prompt.mark, favourable=favourable)
        return self._output(evaluation, reasons, self._phrases.join(sentences), quoted, followed.evidence.decisive_item)

    def _say(self, turn: ArgumentStep, before: float) -> str:
        return self._phrases.say(
            turn.key,
            letter=turn.letters[0] if turn.letters else "",
            jurors=self._phrases.jurors(turn.letters[:_MAX_LETTERS]),
            quote=turn.quote,
            verdict=turn.verdict,
            counts=turn.verdict,
            old=self._scale.word(before),
            new=self._scale.word(turn.score),
            reason=self._reason(),
        )

    def _reason(self) -> str:
        """The finding with the largest weight for this seat."""
        if self._negative:
            return self._phrases.finding(self._negative[0])
        if self._positive:
            return self._phrases.finding(self._positive[0])
        return self._phrases.say("nothing")

    def _reasons(self, evaluation: SimulatedEvaluation, said: str = "") -> list[str]:
        """The rationale's sentences; a finding with the quote `said` is not repeated."""
        shown = [finding for finding in self._negative if not said or finding.quote != said][:_MAX_REASONS]
        shown += [finding for finding in self._negative if finding == UNSEEN and finding not in shown][:1]
        reasons = [self._phrases.finding(finding) for finding in shown]
        if not self._negative and not said:
            reasons.append(self._phrases.say("nothing"))
        if self._positive:
            reasons.append(self._phrases.finding(self._positive[0], favourable=True))
        if self._case.document.cut:
            reasons.append(self._phrases.say("cut"))
        return [*reasons, self._closing(evaluation)]

    def _closing(self, evaluation: SimulatedEvaluation) -> str:
        view = self._phrases.views.get(self._prompt.role, self._phrases.views["general"])
        return self._phrases.say(self._closing_key(evaluation.verdict), view=view, verdict=evaluation.verdict)

    def _closing_key(self, verdict: str) -> str:
        if self._scale.is_favourable(verdict):
            return "supported"
        if self._scale.is_grave(verdict):
            return "concluded"
        return "for_a_person" if self._scale.words == THREE_VERDICTS else "between"

    def _output(
        self,
        evaluation: SimulatedEvaluation,
        reasons: list[str],
        statement: str,
        others: tuple[EvidenceEntry, ...] = (),
        decisive: int | None = None,
    ) -> ReaderOutput:
        """The answer.

        Args:
            evaluation: its numbers.
            reasons: the sentences of its rationale.
            statement: what it says to the other jurors.
            others: what it quotes besides its own findings.
            decisive: the item that it names where none of its own findings does.
        """
        form, phrases = self._prompt.form, self._phrases
        answer: dict[str, Any] = {
            "ballot": self._prompt.ballot,
            "verdict": evaluation.verdict,
            **({"scores": self._points(evaluation)} if form.scored else {}),
            "confidence": evaluation.confidence,
            "rationale": phrases.join(reasons),
        }
        if form.statement:
            answer["statement"] = statement
        if form.scenarios:
            answer["scenarios"] = self._scenarios(evaluation)
        if form.evidence:
            answer["evidence"] = [entry.fields for entry in self._evidence(others)]
            if not self._scale.is_favourable(evaluation.verdict):
                weights = [weight(finding, self._prompt.role) for finding in self._negative]
                answer["decisive_item"] = decisive_item(self._negative, weights) or decisive
        score = f"{evaluation.overall:.0f}"
        prose = phrases.say("prose", reason=self._reason(), verdict=evaluation.verdict, score=score)
        return ReaderOutput((), form.whole(answer), prose)

    def _points(self, evaluation: SimulatedEvaluation) -> dict[str, float]:
        names = (name for name, _ in self._prompt.form.dimensions)
        return dict(zip(names, evaluation.points, strict=True))

    def _evidence(self, others: tuple[EvidenceEntry, ...]) -> tuple[EvidenceEntry, ...]:
        """Quotations of the findings with the largest weight, as a fallible juror writes them, and of others."""
        dimensions = [name for name, _ in self._prompt.form.dimensions]
        shown = [(finding, self._phrases.claim(finding)) for finding in self._negative[:_MAX_CITED]]
        good = [(finding, self._phrases.claim(finding)) for finding in self._positive[:_MAX_REASONS]]
        own = [
            *cited_entries(shown, favourable=False, dimensions=dimensions),
            *cited_entries(good, favourable=True, dimensions=dimensions),
        ]
        before = self._prompt.own
        careful = before is not None and bool(before.evidence.quotations)
        drawn_by = f"{self._seed}\0{self._prompt.letter}\0{self._prompt.role}"
        given = {(entry.item, entry.quote) for entry in others}
        taken = [entry for entry in distinct(own) if (entry.item, entry.quote) not in given]
        written = misquoted(taken[: MOST_ENTRIES - len(others)], drawn_by, self._case.document.items, careful=careful)
        return distinct([*written, *others])

    def _scenarios(self, evaluation: SimulatedEvaluation) -> list[dict[str, Any]]:
        """Scores by each scenario's findings, shifted as much as the overall score; all equal if not separable."""
        ids = self._prompt.form.scenarios
        moved = evaluation.overall - self._first
        separable = len(self._scores) == len(ids)
        scores = [one + moved for one in self._scores] if separable else [evaluation.overall] * len(ids)
        judged = []
        for scenario, one in zip(ids, scores, strict=True):
            score = round(max(0.0, min(100.0, one)), 1)
            points = {"score": score} if self._prompt.form.scored else {}
            judged.append({"scenario_id": scenario, "verdict": self._scale.word(score), **points})
        return judged


def _followed(peers: Sequence[Peer], turns: Sequence[ArgumentStep], verdict: str) -> PeerBlock | None:
    """The juror that a final judge quotes: the one that it follows, else one of its verdict, else the surest."""
    named = {letter for turn in turns if turn.key == "judge_follow" for letter in turn.letters}
    blocks = [peer.block for peer in peers]
    return max(
        blocks,
        key=lambda block: (block.letter in named, block.verdict == verdict, block.confidence),
        default=None,
    )
