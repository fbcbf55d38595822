"""A debate on one screen of a terminal: the verdict, why, the item where it went wrong, how the seats voted."""

from collections import Counter
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateCancelled, DebateCompleted, DebateFailed, JurorAbstained
from jury_events.evaluation import Evaluation
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.judgment import ConsensusCheck
from jury_events.local_facts import NOTHING_LOCAL, LocalFacts
from jury_events.review_facts import NO_REVIEWS, ReviewFacts
from jury_events.text import visible_line
from jury_views.case_view import NumberedItems, numbered_items, omissions_line
from jury_views.debate_fold import (
    DebateFold,
    Texts,
    folded,
    role_of,
    text_in,
)
from jury_views.debate_labels import LABELS, DebateLabels
from jury_views.judgment_lines import VoteColumn, acceptance_line, aside_lines, cap_lines, reasoning_line, vote_columns
from jury_views.number_formats import of_hundred
from jury_views.page import VERDICTS, Page, TextSpan, verdict_text
from jury_views.reasons import FINAL_JUDGE, reason_of, went_wrong_line
from jury_views.terms import term

_COLUMNS = 98
"""Of a line that is cut: a screen has 100."""
_MOST_ROUNDS = 6
"""Rounds with a column of their own: the last ones."""


def summary_page(
    events: Sequence[DebateEvent],
    exchanges: Sequence[ExchangeRecorded],
    texts: Texts,
    *,
    local: LocalFacts = NOTHING_LOCAL,
    reviews: ReviewFacts = NO_REVIEWS,
) -> Page:
    """The summary; a usual debate of three seats takes fewer than 30 lines of at most 100 columns."""
    return _Summary(events, exchanges, texts, local, reviews).page()


class _Summary:
    def __init__(
        self,
        events: Sequence[DebateEvent],
        exchanges: Sequence[ExchangeRecorded],
        texts: Texts,
        local: LocalFacts,
        reviews: ReviewFacts,
    ) -> None:
        self._record: DebateFold = folded(events, reviews)
        self._evaluations = self._record.answers
        self._made = {one.step: one.evaluation for one in self._record.evaluations}
        self._changes = self._record.changes
        self._reason = reason_of(self._record, texts)
        self._exchanges = exchanges
        self._texts = texts
        self._local = local
        self._opened = self._record.opened
        self._panel = self._opened.panel
        self._words: DebateLabels = LABELS[self._panel.language]
        self._page = Page()

    def page(self) -> Page:
        self._verdict()
        self._warnings()
        self._why()
        self._decisive()
        self._votes()
        self._disagreement()
        self._cost()
        return self._page

    def _verdict(self) -> None:
        words, page, ending = self._words, self._page, self._record.ending
        opened = self._opened
        match ending:
            case DebateCompleted():
                shown = verdict_text(ending.final_verdict, ending.final_label)
                page.line(
                    TextSpan(shown[0], f"bold {shown[1]}"),
                    f"  {of_hundred(ending.outcome.score)}",
                    *self._label(ending),
                )
            case DebateFailed():
                page.line(TextSpan(f"{words.failed}: {ending.reason}", "bold red"))
                self._first_line(text_in(self._texts, ending.detail), indent=2)
            case DebateCancelled():
                page.line(TextSpan(f"{words.cancelled}: {ending.by}", "bold yellow"))
            case None:
                page.line(TextSpan(words.unfinished, "bold yellow"))
        page.line(f"{words.case} {opened.case_id}")
        page.line(f"{words.debate} {opened.debate_id}")
        models = Counter(one.model for one in self._panel.seats)
        seats = ", ".join(model if count == 1 else f"{count} × {model}" for model, count in models.items())
        page.line(TextSpan(f"{words.panel} {self._panel.name}: {seats}", "dim"))

    def _label(self, ending: DebateCompleted) -> list[TextSpan]:
        """What people say of the case; a verdict that differs is what a reader looks for."""
        label = self._opened.label
        if label is None:
            return []
        same = label == ending.final_verdict
        return [
            TextSpan(f"  ({'' if same else '≠ '}{self._words.label}: {label.value})", "" if same else "bold yellow")
        ]

    def _warnings(self) -> None:
        words, page = self._words, self._page
        if self._record.simulated:
            said = words.simulated if self._opened.simulated else words.partly_simulated
            page.line(TextSpan(said, "bold yellow"))
        for one in aside_lines(self._record, self._local, words):
            page.line(one)
        if (omissions := omissions_line(self._opened, words)) is not None:
            page.line(TextSpan(omissions, "yellow"))
        if (forked := self._record.forked) is not None:
            page.line(f"{words.origin}: {forked.origin} @ {forked.version}")
        if self._record.judgment is not None:
            judgment = self._record.judgment.judgment
            for line in cap_lines(judgment, words):
                page.line(TextSpan(line, "yellow"))
            if (acceptance := judgment.acceptance) is not None:
                page.line(TextSpan(acceptance_line(acceptance, words), "" if acceptance.accepted else "yellow"))

    def _why(self) -> None:
        reason = self._reason
        if reason is None:
            return
        by = ", ".join(self._name(one) for one in reason.by)
        self._page.heading(f"{self._words.reason} ({by})" if by else self._words.reason)
        said = reason.text if reason.absent is None else getattr(self._words, f"no_reason_{reason.absent}")
        self._page.text(said, indent=2)

    def _decisive(self) -> None:
        decisive = None if self._reason is None else self._reason.decisive
        if decisive is None:
            return
        words = self._words
        self._page.heading(went_wrong_line(decisive, words))
        items = numbered_items(self._opened, self._texts)
        if items is None:
            self._page.line(TextSpan(words.erased, "dim"), indent=2)
            return
        for number in (decisive.item - 1, decisive.item, decisive.item + 1):
            self._item(items, number, chosen=number == decisive.item)
            if number == decisive.item and self._reason is not None and self._reason.words is not None:
                self._page.line(TextSpan(_cut(f"“{self._reason.words}”", _COLUMNS - 8), "bold"), indent=8)

    def _item(self, items: NumberedItems, number: int, *, chosen: bool) -> None:
        item = items.item(number)
        if item is None:
            return
        head = item.heading or term(item.kind, self._words.language)
        text = _cut(f"[{number}] {head}: {_one_line(item.text)}", _COLUMNS - 4)
        self._page.line(TextSpan(f"{'▸' if chosen else ' '} {text}", "" if chosen else "dim"), indent=2)

    def _votes(self) -> None:
        words = self._words
        if not self._record.phase_1:
            return
        columns = vote_columns(self._record, _MOST_ROUNDS)
        rows = [(words.juror, *map(self._heading, columns))]
        widest = max(40, _COLUMNS - 16 * len(columns))
        absent = {Step.parse(one.step): one for one in self._record.abstentions}
        for juror in self._panel.juror_ids:
            steps = [column.step(juror) for column in columns]
            cells = (self._cell(one, absent.get(one)) for one in steps)
            rows.append((_cut(role_of(self._panel, juror), widest), *cells))
        checks = [one.check for one in columns]
        shown = [
            "" if one is None else f"{term(one.status, words.language)} {one.largest}/{one.seats}" for one in checks
        ]
        rows.append((words.consensus, *shown))
        if (judge := self._made.get(Step(None, None))) is not None:
            rows.append((_cut(f"{words.judge} · {judge.model}", widest), _short(judge), *("" for _ in columns[1:])))
        self._page.heading(words.votes)
        self._page.table(rows, indent=2)
        if (not_asked := self._record.not_asked) is not None:
            seats = ", ".join(map(self._name, not_asked.juror_ids))
            self._page.line(
                TextSpan(words.not_asked.format(seats=seats, settled=not_asked.settled.word), "dim"), indent=2
            )

    def _heading(self, column: VoteColumn) -> str:
        words = self._words
        if column.round:
            return words.in_round.format(number=column.round)
        return words.with_reasoning if column.reasoning else words.in_phase_1

    def _check(self, found: ConsensusCheck | None) -> str:
        return "" if found is None else f"{term(found.status, self._words.language)} {found.largest}/{found.seats}"

    def _cell(self, step: Step, absent: JurorAbstained | None) -> str:
        evaluation = self._made.get(step)
        if evaluation is None:
            return "" if absent is None else f"– {term(absent.reason, self._words.language)}"
        changed = {"own": " ←", "synthetic": " ~", None: ""}[self._changes.get(step)]
        return f"{_short(evaluation)}{changed}"

    def _disagreement(self) -> None:
        words, changes = self._words, self._changes
        said: list[str] = []
        check = self._record.phase_1_check
        if check is not None and check.largest < check.seats:
            said.append(words.differed.format(differing=check.seats - check.largest, seats=check.seats))
        if self._record.with_reasoning is not None:
            said.append(reasoning_line(self._record, words))
        changed = [step for step, change in changes.items() if change == "own" and step.round]
        if changed:
            names = ", ".join(dict.fromkeys(self._name(step.juror_id or FINAL_JUDGE) for step in changed))
            said.append(words.changed_their_mind.format(names=names))
        if said:
            self._page.line(TextSpan("; ".join(said), "dim"), indent=2)

    def _cost(self) -> None:
        calls = self._exchanges
        if not calls:
            return
        known = [call.cost for call in calls if call.cost is not None]
        cost = f"${sum(known):.4f}" + ("" if len(known) == len(calls) else f" + {self._words.unknown}")
        self._page.blank()
        self._page.line(TextSpan(f"{self._words.calls}: {len(calls)}, {cost}", "dim"))
        self._page.line(TextSpan(self._words.whole_debate.format(id=self._opened.debate_id), "dim"))

    def _name(self, speaker: str) -> str:
        return self._words.judge if speaker == FINAL_JUDGE else role_of(self._panel, speaker)

    def _first_line(self, text: str | None, *, indent: int) -> None:
        if text is not None:
            self._page.line(_cut(_one_line(text), _COLUMNS - indent), indent=indent)


def _short(evaluation: Evaluation) -> str:
    """A verdict in a cell: its sign, its word under a scale of the panel's own, the score, the confidence."""
    sign = VERDICTS[evaluation.verdict][0][0]
    word = "" if evaluation.label is None else f" {evaluation.label}"
    return f"{sign}{word} {evaluation.overall:g} ({evaluation.confidence:.2f})"


def _one_line(text: str) -> str:
    return visible_line(" ".join(text.split()), 4 * _COLUMNS)


def _cut(text: str, columns: int) -> str:
    return text if cell_len(text) <= columns else set_cell_size(text, columns - 1).rstrip() + "…"
