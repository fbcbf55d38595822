"""A whole debate, readable in a terminal or a file."""

from collections.abc import Mapping, Sequence

from rich.console import Console

from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateCancelled, DebateCompleted, DebateFailed, JurorAbstained, JurorEvaluated
from jury_events.evaluation import Evaluation
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.judgment import ConsensusCheck, Judgment, Vote
from jury_events.local_facts import NOTHING_LOCAL, LocalFacts
from jury_events.parts import PartRef
from jury_events.review_facts import NO_REVIEWS, ReviewFacts
from jury_events.rubric import Rubric
from jury_events.text import points_text
from jury_events.verdict import Verdict
from jury_views.case_view import add_case, case_facts, numbered_items, omissions_line, pictures_sent
from jury_views.debate_fold import (
    Change,
    DebateFold,
    Texts,
    folded,
    is_stand_in,
    other_model,
    role_of,
    text_in,
)
from jury_views.debate_labels import LABELS, DebateLabels
from jury_views.judgment_lines import (
    acceptance_line,
    aside_lines,
    cap_lines,
    exception_lines,
    reached_line,
    reading_lines,
    reasoning_line,
)
from jury_views.number_formats import of_hundred, probabilities_line
from jury_views.page import Page, TextSpan, verdict_text
from jury_views.reasons import VerdictReason, last_failure, reason_of, went_wrong_line
from jury_views.terminal.calls import UncachedCost, add_calls
from jury_views.terms import term


def render_debate(
    events: Sequence[DebateEvent],
    exchanges: Sequence[ExchangeRecorded],
    texts: Texts,
    console: Console,
    *,
    full: bool = False,
    local: LocalFacts = NOTHING_LOCAL,
    reviews: ReviewFacts = NO_REVIEWS,
    uncached: UncachedCost | None = None,
) -> None:
    """Print the debate: the result and why, what was judged, every evaluation, statement and vote, the calls.

    Only the texts of the case are shortened, and say by how much; `full` shows them whole. Headings are in the panel's
    language. Off a terminal lines are neither styled nor wrapped.

    Args:
        uncached: what the calls would have cost without prompt caches; None: unknown.
    """
    record = folded(events, reviews)
    reason = reason_of(record, texts)
    view = _DebateView(record, texts, record.changes, simulated=record.simulated, local=local, reason=reason)
    view.page(exchanges, full=full, uncached=uncached).print(console)


def render_case(events: Sequence[DebateEvent], texts: Texts, console: Console) -> None:
    """Print what was judged, whole, and nothing of what the jury said of it, nor its label: for a blind review."""
    record = folded(events)
    _DebateView(record, texts, {}, simulated=False, local=NOTHING_LOCAL).case_page().print(console)


class _DebateView:
    def __init__(
        self,
        record: DebateFold,
        texts: Texts,
        changes: Mapping[Step, Change],
        *,
        simulated: bool,
        local: LocalFacts,
        reason: VerdictReason | None = None,
    ) -> None:
        self._local = local
        self._reason = reason
        self._record = record
        self._changes = changes
        self._simulated = simulated
        self._texts = texts
        self._panel = record.opened.panel
        self._words: DebateLabels = LABELS[self._panel.language]
        self._page = Page()
        self._calls: dict[str, ExchangeRecorded] = {}

    def page(self, exchanges: Sequence[ExchangeRecorded], *, full: bool, uncached: UncachedCost | None) -> Page:
        self._calls = {call.event_id: call for call in exchanges}
        self._header()
        self._result()
        self._case(full=full)
        self._phase_1()
        self._phase_2()
        self._phase_3()
        self._resumptions()
        add_calls(self._page, exchanges, self._texts, self._words, uncached=uncached)
        return self._page

    def case_page(self) -> Page:
        opened, words = self._record.opened, self._words
        self._page.line(TextSpan(f"{words.debate} {opened.debate_id}", "bold"))
        self._page.line(f"{words.case}: {opened.case_id}")
        self._case(full=True)
        return self._page

    def _header(self) -> None:
        opened, words, page = self._record.opened, self._words, self._page
        page.line(TextSpan(f"{words.debate} {opened.debate_id}", "bold"))
        page.line(f"{words.case}: {opened.case_id}")
        if opened.run_id is not None:
            page.line(f"{words.run}: {opened.run_id}")
        page.line(f"{words.panel}: {self._panel.name} ({', '.join(s.model for s in self._panel.seats)})")
        if (scale := self._panel.scale) is not None:
            page.line(f"{words.scale}: {scale.name} ({' < '.join(scale.ids)})")
        if self._record.forked is not None:
            page.line(f"{words.origin}: {self._record.forked.origin} @ {self._record.forked.version}")
        if opened.label is not None:
            page.line(f"{words.label}: ", _verdict(opened.label, None))
        for heading, fact in case_facts(opened, words):
            page.line(f"{heading}: {fact}")
        page.line(f"{words.status}: {self._term(self._record.status)}")
        if self._simulated:
            said = words.simulated if opened.simulated else words.partly_simulated
            page.line(TextSpan(said, "bold yellow"))
        for line in aside_lines(self._record, self._local, words):
            page.line(line)

    def _case(self, *, full: bool) -> None:
        opened, page = self._record.opened, self._page
        page.heading(self._words.case)
        text = text_in(self._texts, opened.case)
        if text is None:
            page.line(TextSpan(self._absent(opened.case), "dim"))
        else:
            pictures = pictures_sent(opened, self._texts)
            items = numbered_items(opened, self._texts)
            add_case(page, text, self._words, prompts=opened.prompts, full=full, pictures=pictures, items=items)
        gate, card = opened.security_gate_records, opened.agent_card_records
        if gate or card:
            page.line(TextSpan(self._words.records.format(gate=gate, card=card), "dim"))
        if (omissions := omissions_line(opened, self._words)) is not None:
            page.line(TextSpan(omissions, "yellow"))

    def _phase_1(self) -> None:
        self._page.heading(self._words.phase_1)
        self._first_votes(self._record.phase_1)
        if self._record.with_reasoning is not None:
            self._page.line(TextSpan(f"— {self._words.reasoning_shown} —", "magenta"))
            self._first_votes(self._record.with_reasoning)
            self._page.line(reasoning_line(self._record, self._words))
        if (not_asked := self._record.not_asked) is not None:
            seats = ", ".join(role_of(self._panel, juror_id) for juror_id in not_asked.juror_ids)
            settled = not_asked.settled.word
            self._page.line(TextSpan(self._words.not_asked.format(seats=seats, settled=settled), "dim"))
        self._consensus(self._record.phase_1_check, 0)

    def _first_votes(self, found: Sequence[JurorEvaluated | JurorAbstained]) -> None:
        for said in found:
            if isinstance(said, JurorEvaluated):
                self._speaker(said.juror_id, self._changes.get(said.step))
                self._evaluation(said.evaluation)
            else:
                self._abstention(said)

    def _phase_2(self) -> None:
        self._page.heading(self._words.phase_2)
        if not self._record.rounds:
            self._page.line(self._words.no_discussion)
        for each in self._record.rounds:
            for said in each.spoken:
                if isinstance(said, JurorAbstained):
                    self._abstention(said)
                    continue
                self._speaker(said.juror_id, self._changes.get(said.step))
                self._text(said.statement.statement)
                self._evaluation(said.statement.evaluation)
            self._consensus(each.check, each.started.round)

    def _phase_3(self) -> None:
        if self._record.judgment is None:
            return
        words, page, judgment = self._words, self._page, self._record.judgment.judgment
        page.heading(words.phase_3)
        page.line(
            _verdict(judgment.verdict, judgment.label),
            f"  {of_hundred(judgment.score)} · {words.decided_by} {self._term(judgment.decided_by)}",
        )
        page.line(words.quorum.format(votes=judgment.quorum_votes, needed=judgment.quorum))
        for said in (*cap_lines(judgment, words), *exception_lines(judgment, words)):
            page.line(TextSpan(said, "yellow"))
        if judgment.agreed_on in {"outcome", "nothing"}:
            page.line(TextSpan(words.outcome_only if judgment.agreed_on == "outcome" else words.undecided, "yellow"))
        for one in judgment.shortfalls or ():
            said = words.shortfall.format(
                criterion=one.criterion, points=points_text(one.points, one.least), least=f"{one.least:g}", cap=one.cap
            )
            page.line(TextSpan(said, "yellow"))
        if judgment.acceptance is not None:
            style = "" if judgment.acceptance.accepted else "yellow"
            page.line(TextSpan(acceptance_line(judgment.acceptance, words), style))
        if judgment.judge_failure is not None:
            page.line(TextSpan(f"{words.judge_failed} ({self._term(judgment.judge_failure)})", "yellow"))
        if judgment.judge is not None:
            page.line(TextSpan(f"{words.judge} ({judgment.judge.model})", "bold"))
            seats = self._record.opened.panel.seats_of(judgment.judge.model)
            if seats:
                page.line(words.judge_sits.format(seats=", ".join(seats)))
            self._evaluation(judgment.judge)
        self._votes(judgment)

    def _votes(self, judgment: Judgment) -> None:
        words = self._words
        head = (words.juror, words.kind, words.position, words.score, words.confidence, words.weight, words.made_in)
        self._page.line(TextSpan(words.votes, "bold"))
        self._page.table([head, *(self._vote(vote) for vote in judgment.votes)], indent=2)
        for vote in judgment.votes:
            if vote.partly_read:
                said = words.parts_not_read.format(parts=", ".join(vote.partly_read))
                self._page.line(TextSpan(f"{role_of(self._panel, vote.juror_id)}: {said}", "yellow"), indent=2)

    def _vote(self, vote: Vote) -> tuple[str, ...]:
        stale = vote.stale and vote.kind != "stale"
        return (
            role_of(self._panel, vote.juror_id),
            ", ".join(map(self._term, (vote.kind, "stale") if stale else (vote.kind,))),
            verdict_text(vote.position, vote.label)[0] if vote.position else "–",
            "–" if vote.score is None else f"{vote.score:g}",
            "–" if vote.confidence is None else f"{vote.confidence:.2f}",
            f"{vote.weight:g}",
            _made_in(vote.round, self._words),
        )

    def _result(self) -> None:
        words, page, ending = self._words, self._page, self._record.ending
        page.heading(words.result)
        match ending:
            case DebateCompleted():
                early = f" · {words.early}" if ending.early_termination else ""
                page.line(
                    _verdict(ending.final_verdict, ending.final_label),
                    f"  {of_hundred(ending.outcome.score)} · {words.rounds}: {ending.total_rounds} · "
                    f"{words.ended_by}: {self._term(ending.end_reason)}{early}",
                )
                self._why()
            case DebateFailed():
                page.line(TextSpan(f"{words.failed}: {ending.reason}", "red"))
                self._text(ending.detail)
            case DebateCancelled():
                page.line(TextSpan(f"{words.cancelled}: {ending.by}", "yellow"))
                self._text(ending.reason)
            case None:
                page.line(TextSpan(words.unfinished, "yellow"))

    def _why(self) -> None:
        words, reason = self._words, self._reason
        if reason is not None:
            said = reason.text if reason.absent is None else getattr(words, f"no_reason_{reason.absent}")
            self._page.line(f"{words.reason}: {said}", indent=2)
            if reason.decisive is not None:
                self._page.line(went_wrong_line(reason.decisive, words), indent=2)

    def _resumptions(self) -> None:
        """Resumptions: a model may have been called twice for a step, of which one answer is recorded."""
        words = self._words
        for event in self._record.resumed:
            steps = ", ".join(event.repeated_steps) or words.nothing
            self._page.line(
                TextSpan(f"{words.resumed} ({self._term(event.cause)}) · {words.repeated_steps}: {steps}", "dim")
            )

    def _speaker(self, juror_id: str, change: Change | None = None) -> None:
        said = {None: None, "own": self._words.position_changed, "synthetic": self._words.changed_by_filter}[change]
        badge = (TextSpan("  "), TextSpan(f"[{said}]", "bold blue" if change == "own" else "yellow")) if said else ()
        self._page.line(TextSpan(role_of(self._panel, juror_id), "bold"), *badge)

    def _evaluation(self, evaluation: Evaluation) -> None:
        words = self._words
        summary = f"  {evaluation.overall:g}/100 · {words.confidence} {evaluation.confidence:.2f}"
        of_parts = evaluation.answered is not None
        stands_in = words.synthetic_without_parts if of_parts else words.synthetic
        mark = f" · {stands_in}" if evaluation.synthetic else ""
        mark += f" · {words.no_model}" if is_stand_in(evaluation) else ""
        self._page.line(_verdict(evaluation.verdict, evaluation.label), summary + mark, indent=2)
        if (other := other_model(evaluation)) is not None:
            said = words.other_model.format(asked=evaluation.model, answered=other)
            self._page.line(TextSpan(said, "yellow"), indent=2)
        read = evaluation.reading
        partly = read is not None and (read.partly or bool(read.partly_read) or evaluation.answered is not None)
        for line in reading_lines(evaluation.reading, evaluation.answered, words):
            self._page.line(TextSpan(line, "yellow" if partly else "dim"), indent=2)
        self._page.line(TextSpan(_points(evaluation, self._panel.rubric), "dim"), indent=2)
        for scenario in evaluation.scenarios:
            shown = _verdict(scenario.verdict, scenario.label)
            given = "" if scenario.probabilities is None else f" · {probabilities_line(scenario.probabilities)}"
            of_score = (f"  {scenario.score:g}", TextSpan(given, "dim"))
            self._page.line(f"{words.scenario} {scenario.scenario_id}: ", shown, *of_score, indent=2)
        if evaluation.probabilities is not None:
            self._page.line(TextSpan(words.no_reasons, "dim"), indent=2)
        self._text(evaluation.rationale)

    def _abstention(self, absent: JurorAbstained) -> None:
        words = self._words
        reasons = (absent.reason, absent.refusal) if absent.refusal else (absent.reason,)
        reason = ", ".join(map(self._term, reasons))
        stands = f"; {words.stands}" if absent.stale else ""
        if absent.partly_read:
            stands += f"; {words.parts_not_read.format(parts=', '.join(absent.partly_read))}"
        self._page.line(
            TextSpan(role_of(self._panel, absent.juror_id), "bold"),
            TextSpan(f"  {words.abstained} ({reason}){stands}", "yellow"),
        )
        said = last_failure([self._calls[one] for one in absent.exchanges if one in self._calls], self._texts)
        if said is not None:
            self._page.line(TextSpan(said, "yellow"), indent=2)

    def _consensus(self, check: ConsensusCheck | None, number: int) -> None:
        if check is None:
            return
        words = self._words
        leading = check.majority_label or check.majority_position
        position = f" {leading}" if leading else ""
        reached = reached_line(check, self._panel.discussion, number, words)
        status = self._term(check.status)
        self._page.line(
            TextSpan(f"— {words.consensus}: {status}{position} {check.largest}/{check.seats}, {reached} —", "magenta")
        )

    def _term(self, word: object) -> str:
        return term(word, self._words.language)

    def _text(self, ref: PartRef | None) -> None:
        if ref is None:
            return
        text = text_in(self._texts, ref)
        if text is None:
            self._page.line(TextSpan(self._absent(ref), "dim"), indent=2)
        else:
            self._page.text(text, indent=2)

    def _absent(self, ref: PartRef) -> str:
        return self._words.erased if ref.part in self._record.erased else self._words.missing


def _made_in(number: int | None, words: DebateLabels) -> str:
    if number is None:
        return "–"
    return words.in_round.format(number=number) if number else words.in_phase_1


def _verdict(verdict: Verdict, label: str | None) -> TextSpan:
    return TextSpan(*verdict_text(verdict, label))


def _points(evaluation: Evaluation, rubric: Rubric) -> str:
    """The points; of a decision model its probabilities."""
    if evaluation.probabilities is not None:
        return probabilities_line(evaluation.probabilities)
    maxima = {dimension.name: dimension.maximum for dimension in rubric.dimensions}
    return " · ".join(
        f"{score.dimension} {score.points:g}" + (f"/{maxima[score.dimension]:g}" if score.dimension in maxima else "")
        for score in evaluation.points
    )
