"""The events of a debate in words, one line each, in both languages: where it can be branched, what happened when."""

import sys
from collections.abc import Iterable, Mapping
from typing import NamedTuple, assert_never

from jury_events.case import scale_label
from jury_events.codec import DebateEvent, ReviewEvent, decode, decode_review
from jury_events.debate_events import (
    ConsensusChecked,
    CoordinatorResumed,
    DebateBegun,
    DebateCancelled,
    DebateCompleted,
    DebateFailed,
    DebateForked,
    DebateOpened,
    DebateReplaced,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    ReasoningShown,
    RoundStarted,
    SeatsNotAsked,
    StatementMade,
    TextsErased,
)
from jury_events.envelope import StoredEvent
from jury_events.evaluation import Evaluation
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import DEBATE_PREFIX, REVIEW_PREFIX, Step
from jury_events.panel import Language
from jury_events.review_events import CaseLabelled, HumanReviewed, ReviewAssigned, ReviewWithdrawn
from jury_events.text import moment, pluralize
from jury_views.debate_fold import Change, answered_in_stream, position_changes
from jury_views.debate_labels import LABELS
from jury_views.judgment_lines import acceptance_line, not_seated_line
from jury_views.number_formats import of_hundred
from jury_views.page import Page
from jury_views.terms import term


class EventWords(NamedTuple):
    """Sentences with blanks; what fills them is a term, an id or a number. `columns`: headings of a table."""

    columns: tuple[str, str, str]
    neutral: str
    changed: str
    changed_by_filter: str
    not_asked: str
    abstained: str
    stands: str
    round_follows: str
    over: str
    speakers: str
    judged: str
    completed: str
    opened: str
    begun: str
    reasoning_shown: str
    forked: str
    repeated_steps: str
    nothing: str
    erased: str
    cancelled: str
    replaced: str
    called: str
    tokens: str
    simulated: str
    in_batch: str
    reviewed: str
    reviewed_item: str
    blind: str
    sampled: str
    assigned: str
    withdrawn: str
    labelled: str
    unlabelled: str


EVENT_WORDS: dict[Language, EventWords] = {
    "en": EventWords(
        columns=("event", "recorded at", "id"),
        neutral=", blocked: neutral",
        changed=", position changed",
        changed_by_filter=", changed by a provider's filter only",
        not_asked="not asked: {seats}; whatever they answer, it stays {settled}",
        abstained="abstained: {reason}",
        stands="; its earlier evaluation stands",
        round_follows="a round follows",
        over="discussion over: {reason}",
        speakers="speakers: {speakers}",
        judged="{verdict} {score} by {decider}",
        completed="{verdict} {score} after {rounds}: {reason}",
        opened="panel {panel}, {seats} seats, rules {rules}",
        begun="jurors may be asked from now on",
        reasoning_shown="the seats judge again, and are shown the agent's reasoning",
        forked="branches off {origin} after event {version}; steps reused: {steps}",
        repeated_steps="asked again: {steps}",
        nothing="nothing",
        erased="{texts} of {scope}, by {by}: {reason}",
        cancelled="by {by}",
        replaced="by {by}: {successor} judges the case again",
        called="called {tools}",
        tokens="{count} tokens",
        simulated="simulated",
        in_batch="in a batch",
        reviewed="{verdict} by {reviewer}",
        reviewed_item=", decisive item {number}",
        blind=", blind",
        sampled=", drawn at random",
        assigned="{by} asks {reviewer}",
        withdrawn="{number} withdrawn by {by}",
        labelled="label {label} by {by}",
        unlabelled="label removed by {by}",
    ),
    "ja": EventWords(
        columns=("イベント", "記録日時", "ID"),
        neutral="、ブロックされたため中立の評価で代替",
        changed="、立場変更",
        changed_by_filter="、フィルターによる変更のみ",
        not_asked="未質問: {seats}。どう答えても{settled}のまま",
        abstained="棄権: {reason}",
        stands="（以前の評価が有効）",
        round_follows="次のラウンドへ",
        over="議論終了: {reason}",
        speakers="発言順: {speakers}",
        judged="{verdict} {score}（{decider}）",
        completed="{verdict} {score}、{rounds}、{reason}",
        opened="陪審団 {panel}、{seats}名、ルール {rules}",
        begun="ここから陪審員への質問が可能",
        reasoning_shown="エージェントの思考を示し、各陪審員が改めて判定",
        forked="{origin} のイベント{version}から分岐、再利用した手順 {steps}件",
        repeated_steps="再質問: {steps}",
        nothing="なし",
        erased="{scope}の{texts}、{by}: {reason}",
        cancelled="中止者: {by}",
        replaced="依頼者: {by}。{successor}が改めて審理",
        called="ツール {tools}",
        tokens="{count}トークン",
        simulated="模擬",
        in_batch="バッチ処理",
        reviewed="{verdict}（{reviewer}）",
        reviewed_item="、決め手の項目{number}",
        blind="、陪審団の意見を見ずに判定",
        sampled="、無作為抽出",
        assigned="{by}が{reviewer}に依頼",
        withdrawn="{number}を{by}が取り消し",
        labelled="{by}によるラベル {label}",
        unlabelled="{by}がラベルを削除",
    ),
}


class DescribedEvent(NamedTuple):
    """One event. `stream` is `debate`, `calls` or `review`, `recorded_at` in ISO 8601, `said` a few words about it."""

    stream: str
    version: int
    position: int
    recorded_at: str
    event_id: str
    type: str
    said: str


def hash_text(value: object) -> str:
    """A stored hash in hexadecimal; another stored value as its repr."""
    return value.hex() if isinstance(value, bytes) else ascii(value)[:80]


def event_lines(
    stored: Iterable[StoredEvent], *, after: int = 0, limit: int = sys.maxsize, language: Language = "en"
) -> list[DescribedEvent]:
    """The events of the streams of a debate in the order in which they were recorded."""
    ordered = sorted(stored, key=lambda one: one.position)
    changes = position_changes(answered_in_stream(one for one in ordered if one.stream.startswith(DEBATE_PREFIX)))
    describer = _Describer(language, changes)
    return [describer.line(one) for one in [one for one in ordered if one.position > after][:limit]]


def events_page(lines: Iterable[DescribedEvent], language: Language = "en") -> Page:
    """A table of them; the number of an event is the one in its stream."""
    page = Page()
    rows = [(f"{one.stream}/ {one.version}", one.recorded_at, one.event_id, one.said) for one in lines]
    page.table([(*EVENT_WORDS[language].columns, ""), *rows])
    return page


_Kept = (
    DebateOpened
    | DebateBegun
    | ReasoningShown
    | DebateForked
    | CoordinatorResumed
    | TextsErased
    | DebateReplaced
    | DebateFailed
    | DebateCancelled
)
"""Events that are not steps of a discussion; a new type that is in no case below is an error of types."""


class _Describer:
    def __init__(self, language: Language, changes: Mapping[Step, Change]) -> None:
        self._language = language
        self._words = EVENT_WORDS[language]
        self._changes = changes

    def line(self, stored: StoredEvent) -> DescribedEvent:
        return DescribedEvent(
            stream=stored.stream.partition("/")[0],
            version=stored.version,
            position=stored.position,
            recorded_at=moment(stored.recorded_at, "milliseconds"),
            event_id=stored.event_id,
            type=stored.type,
            said=self._words_of(stored),
        )

    def _words_of(self, stored: StoredEvent) -> str:
        if stored.stream.startswith(REVIEW_PREFIX):
            return self._review(decode_review(stored))
        event = decode(stored)
        return self._call(event) if isinstance(event, ExchangeRecorded) else self._said(event)

    def _review(self, event: ReviewEvent) -> str:
        words = self._words
        match event:
            case HumanReviewed():
                said = words.reviewed.format(verdict=event.label or event.verdict, reviewer=event.reviewer)
                said += (words.blind if event.blind else "") + (words.sampled if event.sampled else "")
                item = event.decisive_item
                return said if item is None else said + words.reviewed_item.format(number=item)
            case ReviewAssigned():
                said = words.assigned.format(by=event.by, reviewer=event.reviewer)
                return said + ("" if event.sample is None else words.sampled)
            case ReviewWithdrawn():
                return words.withdrawn.format(number=event.withdraws, by=event.by)
            case CaseLabelled():
                label = scale_label(event.metadata) or event.label
                return (
                    words.unlabelled.format(by=event.by)
                    if label is None
                    else words.labelled.format(label=label, by=event.by)
                )

    def _term(self, word: object) -> str:
        return term(word, self._language)

    def _call(self, call: ExchangeRecorded) -> str:
        words = self._words
        said = [self._term(call.outcome.value)]
        if call.tool_calls:
            said.append(words.called.format(tools=", ".join(tool.name for tool in call.tool_calls)))
        if call.usage.output_tokens is not None:
            said.append(words.tokens.format(count=call.usage.output_tokens))
        said += [f"${call.cost:.4f}"] if call.cost else []
        said.append(f"{call.latency_ms / 1000:.1f} s" if call.via is None else words.in_batch)
        return ", ".join((*said, *((words.simulated,) if call.simulated else ())))

    def _said(self, event: DebateEvent) -> str:
        words = self._words
        match event:
            case JurorEvaluated():
                return self._view(event.evaluation) + self._changed(event.step)
            case StatementMade():
                return self._view(event.statement.evaluation) + self._changed(event.step)
            case JurorAbstained():
                reasons = (event.reason, event.refusal) if event.refusal else (event.reason,)
                said = words.abstained.format(reason=", ".join(map(self._term, reasons)))
                return said + (words.stands if event.stale else "")
            case SeatsNotAsked():
                return words.not_asked.format(seats=", ".join(event.juror_ids), settled=event.settled.word)
            case ConsensusChecked():
                check = event.check
                leading = check.majority_label or check.majority_position
                position = f" {leading}" if leading else ""
                over = words.over.format(reason=self._term(event.end_reason))
                after = words.round_follows if event.end_reason is None else over
                return f"{self._term(check.status)}{position} {check.largest}/{check.seats}; {after}"
            case RoundStarted():
                return words.speakers.format(speakers=", ".join(event.speaker_order))
            case JudgmentRendered():
                made = event.judgment
                decider = self._term(made.decided_by)
                said = words.judged.format(verdict=made.position.word, score=of_hundred(made.score), decider=decider)
                if made.acceptance is None:
                    return said
                return f"{said}; {acceptance_line(made.acceptance, LABELS[self._language])}"
            case DebateCompleted():
                return words.completed.format(
                    verdict=event.outcome.word,
                    score=of_hundred(event.outcome.score),
                    rounds=self._counted(event.total_rounds, "round", "ラウンド"),
                    reason=self._term(event.end_reason),
                )
            case _:
                return self._kept(event)

    def _changed(self, step: Step) -> str:
        words = self._words
        return {None: "", "own": words.changed, "synthetic": words.changed_by_filter}[self._changes.get(step)]

    def _kept(self, event: _Kept) -> str:
        words = self._words
        match event:
            case DebateOpened():
                panel = event.panel
                opened = words.opened.format(panel=panel.name, seats=len(panel.seats), rules=event.rules)
                left_out = not_seated_line(panel, LABELS[self._language])
                return opened if left_out is None else f"{opened}; {left_out}"
            case DebateBegun():
                return words.begun
            case ReasoningShown():
                return words.reasoning_shown
            case DebateForked():
                return words.forked.format(origin=event.origin, version=event.version, steps=len(event.steps))
            case CoordinatorResumed():
                return words.repeated_steps.format(steps=", ".join(event.repeated_steps) or words.nothing)
            case TextsErased():
                texts, scope = self._counted(len(event.parts), "text", "件の本文"), self._term(event.scope)
                return words.erased.format(texts=texts, scope=scope, by=event.by, reason=event.reason)
            case DebateReplaced():
                return words.replaced.format(by=event.by, successor=event.successor)
            case DebateFailed():
                return event.reason
            case DebateCancelled():
                return words.cancelled.format(by=event.by)
            case _:
                assert_never(event)

    def _counted(self, number: int, english: str, japanese: str) -> str:
        return f"{number}{japanese}" if self._language == "ja" else pluralize(number, english)

    def _view(self, evaluation: Evaluation) -> str:
        neutral = self._words.neutral if evaluation.synthetic else ""
        return f"{evaluation.position.word} {evaluation.overall:g}/100{neutral}"
