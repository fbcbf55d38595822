"""Why a verdict came: the reason in a sentence or two, and the decisive item. Every door shows these.

The words are those of the final judge where it decided; else of the most confident seat on the winning side, the first
of equals; where scores are averaged, of the seat nearest to the result; where no side won, of one seat of each side.
They are chosen from the recorded votes alone, so that of a list only the texts that are shown are read.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from jury_events.evaluation import Evaluation
from jury_events.evidence import Evidence
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import FINAL, Step
from jury_events.judgment import Decider, VoteKind
from jury_events.outcome import CallOutcome
from jury_events.parts import PartRef
from jury_events.text import pluralize, visible_line
from jury_events.verdict import PASS, Verdict
from jury_views.debate_fold import AnsweredBy, DebateFold, Texts, quotations, text_in

if TYPE_CHECKING:
    from jury_views.debate_labels import DebateLabels


NoReason = Literal["no_evaluation", "decision_model", "erased", "missing"]
"""Why there are no words: no seat evaluated; decision models give probabilities alone; the text was erased, or it is
missing without a recorded erasure.
"""

NO_REASONS_SAID: Mapping[NoReason, str] = {
    "no_evaluation": "no seat gave an evaluation",
    "decision_model": "a decision model gives probabilities, no reasons",
    "erased": "the text of the reason was erased",
    "missing": "the text of the reason is missing, and no erasure is recorded: run jury verify",
}

FINAL_JUDGE = "final_judge"
"""The name of the final judge beside the ids of seats."""

_SENTENCES = 2
_LONGEST = 320
_LONGEST_WORDS = 120
"""Characters of a reason, and of the words of an item."""

_AVERAGED = frozenset({Decider.WEIGHTED_AVERAGE, Decider.MEDIAN})
_END = re.compile(r"(?<=[.!?])(?=\s)|(?<=[。！？])")
_OPENS, _CLOSES = "“「『«", "”」』»"
_QUOTED = re.compile(r"“[^”]*”|「[^」]*」|『[^』]*』|«[^»]*»|\"[^\"]*\"|`[^`]*`")


class ShownVote(Protocol):
    """A vote of a judgment, whole or in part: see `Vote`."""

    @property
    def juror_id(self) -> str: ...

    @property
    def kind(self) -> VoteKind: ...

    @property
    def position(self) -> Verdict | None: ...

    @property
    def score(self) -> float | None: ...

    @property
    def confidence(self) -> float | None: ...

    @property
    def round(self) -> int | None: ...

    @property
    def label(self) -> str | None: ...


class RenderedJudgment(Protocol):
    """A judgment, whole or in part: see `Judgment`."""

    @property
    def decided_by(self) -> Decider: ...

    @property
    def verdict(self) -> Verdict: ...

    @property
    def label(self) -> str | None: ...

    @property
    def mean(self) -> float | None: ...

    @property
    def votes(self) -> Sequence[ShownVote]: ...


class Decisive(NamedTuple):
    """The item that most seats call decisive, the first of equals.

    Attributes:
        item: its number.
        named_by: how many seats name it, by their latest evaluations.
        seats: how many seats have an evaluation.
        quoting: the steps whose evaluations quote it, each with the place of the quotation in its evidence.
    """

    item: int
    named_by: int
    seats: int
    quoting: tuple[tuple[Step, int], ...]


class VerdictReason(NamedTuple):
    """Why a verdict came, as every door shows it.

    Attributes:
        text: the reason, on one line; in the words of the jury where `by` names someone.
        by: the ids of the seats whose words it has, or `final_judge`; empty where there are none.
        absent: why there are no words; None: there are.
        decisive: the item where it went wrong; None: no seat names one, or the verdict passes.
        words: of that item, as a seat quotes it; None where no seat does, or the quotations were erased.
    """

    text: str
    by: tuple[str, ...]
    absent: NoReason | None
    decisive: Decisive | None
    words: str | None

    def data(self) -> dict[str, Any]:
        """As JSON data, the fields that every result has."""
        decisive = self.decisive
        return {
            "reason": self.text,
            "reason_by": list(self.by),
            "decisive": None
            if decisive is None
            else {
                "item": decisive.item,
                "words": self.words,
                "named_by": decisive.named_by,
                "seats": decisive.seats,
            },
        }


NO_REASON: Mapping[str, Any] = {"reason": None, "reason_by": [], "decisive": None}
"""The same fields of a debate without a verdict."""


def reason_data(reason: VerdictReason | None) -> dict[str, Any]:
    """The fields of a debate that may have no verdict."""
    return dict(NO_REASON) if reason is None else reason.data()


class ReasonSteps:
    """Which steps of a debate say why its verdict came, chosen without their texts.

    Args:
        evaluations: of the debate, in order.
    """

    def __init__(self, judgment: RenderedJudgment, evaluations: Iterable[AnsweredBy]) -> None:
        evaluations = list(evaluations)
        # Of two evaluations of phase 1 the vote is the later one.
        made = {(one.step.round, one.step.juror_id): one.step for one in evaluations}
        self.speaking = tuple(made.get((one.round, one.juror_id), one) for one in _speaking(judgment))
        self.decisive = None if judgment.verdict is PASS else _decisive(evaluations)

    @property
    def steps(self) -> set[Step]:
        """The steps whose evaluations `reason` reads."""
        quoting = () if self.decisive is None else (step for step, _ in self.decisive.quoting[:1])
        return {*self.speaking, *quoting}

    def reason(self, evaluations: Mapping[Step, Evaluation], texts: Texts, erased: Collection[str]) -> VerdictReason:
        said = [(step, evaluations[step]) for step in self.speaking if step in evaluations]
        words = self._words(evaluations, texts)
        if not said:
            return VerdictReason(NO_REASONS_SAID["no_evaluation"], (), "no_evaluation", self.decisive, words)
        found = [(step.juror_id or FINAL_JUDGE, one, text_in(texts, one.rationale)) for step, one in said]
        spoken = [(name, one, first_sentences(text)) for name, one, text in found if text]
        if not spoken:
            absent = _absent(found[0][1].rationale, erased)
            return VerdictReason(NO_REASONS_SAID[absent], (), absent, self.decisive, words)
        text = spoken[0][2]
        if len(said) > 1:
            text = " / ".join(f"{name} ({one.position.word}): {one_text}" for name, one, one_text in spoken)
        return VerdictReason(text, tuple(name for name, _, _ in spoken), None, self.decisive, words)

    def _words(self, evaluations: Mapping[Step, Evaluation], texts: Texts) -> str | None:
        for step, place in () if self.decisive is None else self.decisive.quoting[:1]:
            if (evaluation := evaluations.get(step)) is not None:
                text = quotations(evaluation, texts)[place].text
                return None if text is None else _cut(_one_line(text), _LONGEST_WORDS)
        return None


def reason_of(fold: DebateFold, texts: Texts) -> VerdictReason | None:
    """Why the verdict of a debate came; None where there is no verdict."""
    if fold.judgment is None:
        return None
    made = {one.step: one.evaluation for one in fold.evaluations}
    return ReasonSteps(fold.judgment.judgment, fold.answers).reason(made, texts, fold.erased)


def texts_of(evaluations: Iterable[Evaluation]) -> list[PartRef]:
    found = [ref for one in evaluations for ref in (one.rationale, one.quotes)]
    return [ref for ref in found if ref is not None]


def said_by(evaluation: Evaluation, texts: Texts, erased: Collection[str]) -> str:
    """The reason that one evaluation gives: its first sentences, or why there are none."""
    text = text_in(texts, evaluation.rationale)
    return first_sentences(text) if text else NO_REASONS_SAID[_absent(evaluation.rationale, erased)]


def first_sentences(text: str) -> str:
    """The first two sentences, on one line, with at most 320 characters; a quotation is not parted."""
    line = _one_line(text)
    ends = (match.end() for match in _END.finditer(line))
    whole = [end for end in ends if _balanced(line[:end])]
    end = whole[_SENTENCES - 1] if len(whole) >= _SENTENCES else len(line)
    return _cut(line[:end].strip(), _LONGEST)


def went_wrong_line(decisive: Decisive, words: "DebateLabels") -> str:
    """Where it went wrong, and who says so: seats, or the final judge alone."""
    line = words.went_wrong if decisive.named_by else words.went_wrong_by_judge
    return str(line).format(number=decisive.item, named=decisive.named_by, seats=decisive.seats)


def without_quotations(text: str) -> str:
    """The text with `…` in place of what it quotes: for places that others read."""
    return _QUOTED.sub("“…”", text)


def _absent(rationale: PartRef | None, erased: Collection[str]) -> NoReason:
    if rationale is None:
        return "decision_model"
    return "erased" if rationale.part in erased else "missing"


def _speaking(judgment: RenderedJudgment) -> Iterator[Step]:
    if judgment.decided_by is Decider.FINAL_JUDGE:
        yield FINAL
        return
    own: list[ShownVote] = [one for one in judgment.votes if one.kind in {"own", "stale"}]
    if judgment.decided_by in _AVERAGED and judgment.mean is not None and own:
        mean = judgment.mean
        yield _step(min(own, key=lambda one: abs((one.score or 0.0) - mean)))
        return
    winning = [one for one in own if one.position is judgment.verdict]
    winning = [one for one in winning if judgment.label in {None, one.label}] or winning
    if winning:
        yield _step(_most_confident(winning))
        return
    sides: dict[Verdict | None, list[ShownVote]] = {}
    for one in own:
        sides.setdefault(one.position, []).append(one)
    for side in sides.values():
        yield _step(_most_confident(side))


def _most_confident(votes: Sequence[ShownVote]) -> ShownVote:
    return max(votes, key=lambda one: one.confidence or 0.0)  # the first of equals


def _step(vote: ShownVote) -> Step:
    return Step(vote.round or 0, vote.juror_id)


def _decisive(evaluations: Iterable[AnsweredBy]) -> Decisive | None:
    latest = {one.step.juror_id: one for one in evaluations if not one.synthetic}
    named = {juror: one.facts.decisive_item for juror, one in latest.items() if one.facts is not None}
    seats = [juror for juror in latest if juror is not None]
    counts = Counter(item for juror, item in named.items() if item is not None and juror is not None)
    judged = named.get(None)
    if judged is not None and not counts:
        counts[judged] = 0
    if not counts:
        return None
    item = min(counts, key=lambda one: (-counts[one], one != judged, one))
    naming = [one for juror, one in latest.items() if named.get(juror) == item]
    quoting = [(one.step, place) for one in naming for place in _quoting(one, item)]
    return Decisive(item, counts[item], len(seats), tuple(quoting))


def _quoting(evaluation: AnsweredBy, item: int) -> Iterator[int]:
    for place, one in enumerate(() if evaluation.facts is None else evaluation.facts.quotations):
        if one.item == item and one.seat is None and one.result in Evidence.SUPPORTING:
            yield place


def _balanced(text: str) -> bool:
    opened = sum(text.count(sign) for sign in _OPENS) - sum(text.count(sign) for sign in _CLOSES)
    return opened <= 0 and text.count('"') % 2 == 0


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, longest: int) -> str:
    """The text, or its beginning up to a word's end with `…`."""
    if len(text) <= longest:
        return text
    kept = text[: longest - 1]
    head, space, _ = kept.rpartition(" ")
    return (head if space and len(head) > longest // 2 else kept).rstrip() + "…"


_LONGEST_MESSAGE = 300
"""Characters of a provider's message that are shown."""

_ANSWERS = frozenset({CallOutcome.ANSWERED, CallOutcome.TRUNCATED})


class FailedCalls(NamedTuple):
    """The calls of a model that failed alike, of so many calls; `said`: the message of the first."""

    model: str
    what: str
    failed: int
    calls: int
    said: str

    def __str__(self) -> str:
        of_all = f"all {self.calls:,}" if self.failed == self.calls else f"{self.failed:,} of"
        calls = "calls" if self.failed == self.calls > 1 else pluralize(self.calls, "call")
        said = "its call" if self.calls == 1 else f"{of_all} {calls}"
        return f"{self.model} {self.what} {said}: {self.said}"


def last_failure(calls: Sequence[ExchangeRecorded], texts: Texts) -> str | None:
    """What the provider reported of the last call of a step; None where that was answered, or its text is gone."""
    if not calls or calls[-1].error is None or calls[-1].outcome in _ANSWERS:
        return None
    said = text_in(texts, calls[-1].error)
    return None if said is None else f"{calls[-1].model}: {visible_line(said, _LONGEST_MESSAGE)}"


def failed_calls(debates: Iterable[tuple[Sequence[ExchangeRecorded], Texts]]) -> list[FailedCalls]:
    """For each model that failed, how it failed most often, the most calls first."""
    calls: Counter[str] = Counter()
    failed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    said: dict[tuple[str, str], str] = {}
    for exchanges, texts in debates:
        for one in exchanges:
            calls[one.model] += 1
            if one.outcome in _ANSWERS:
                continue
            what = _what(one)
            failed[one.model][what] += 1
            text = None if one.error is None else text_in(texts, one.error)
            if text is not None:
                said.setdefault((one.model, what), visible_line(text, _LONGEST_MESSAGE))
    most = [(model, *ends.most_common(1)[0]) for model, ends in failed.items()]
    return [
        FailedCalls(model, what, count, calls[model], said.get((model, what), "no reason is on record"))
        for model, what, count in sorted(most, key=lambda one: (-one[2], one[0]))
    ]


def _what(call: ExchangeRecorded) -> str:
    status = None if call.failed is None else call.failed.status
    return f"ended with {call.outcome.value.replace('_', ' ')} in" if status is None else f"answered {status} to"
