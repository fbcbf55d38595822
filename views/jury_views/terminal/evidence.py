"""What the jurors of a debate quote, for a terminal and as plain data: seat by seat, with the decisive items."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.cells import cell_len, set_cell_size

from jury_events.codec import DebateEvent
from jury_events.panel import Language
from jury_events.parts import PartRef
from jury_events.review_facts import NO_REVIEWS, ReviewFacts
from jury_events.text import visible_line
from jury_views.case_view import MOST_LABELLED, label_decisive, numbered_items
from jury_views.debate_fold import (
    DecisiveItem,
    ShownQuotation,
    StepEvaluation,
    Texts,
    asks_for_evidence,
    decisive_items,
    evaluations_of,
    folded,
    quotations,
    role_of,
)
from jury_views.debate_labels import EVIDENCE_LABELS, LABELS, EvidenceLabels
from jury_views.debate_results import evidence_of
from jury_views.page import Page, TextSpan, verdict_text

_RESULTS = {
    "verified": ("✓", "green"),
    "normalised": ("≈", "blue"),
    "elsewhere": ("↷", "yellow"),
    "not_found": ("✗", "red"),
}
"""A sign and a style."""

_LABELLED = "◆"

_COLUMNS = 72
"""Of the first words of a quotation: a line has 80."""


def evidence_page(events: Sequence[DebateEvent], texts: Texts, reviews: ReviewFacts = NO_REVIEWS) -> Page:
    """The quotations of each seat and of the final judge with their results, the decisive items, what the label names.

    Lines have at most 80 columns, but for long names: of a quotation its first words are shown.
    """
    return _EvidencePage(events, texts, reviews).page()


def evidence_data(events: Sequence[DebateEvent], texts: Texts) -> list[dict[str, Any]]:
    """The same: one object an evaluation that was asked for evidence, in the order of the record."""
    panel = folded(events).opened.panel
    return [
        {
            "step": one.step.id,
            "juror_id": one.step.juror_id,
            "role_name": None if one.step.juror_id is None else role_of(panel, one.step.juror_id),
            "verdict": one.evaluation.verdict.value,
            "evidence": [asdict(each) for each in evidence_of(one.evaluation, texts)],
            "decisive_item": one.evaluation.decisive_item,
            "unsupported": one.evaluation.unsupported,
        }
        for one in evaluations_of(events)
        if one.evaluation.evidence is not None
    ]


class _EvidencePage:
    def __init__(self, events: Sequence[DebateEvent], texts: Texts, reviews: ReviewFacts) -> None:
        self._record = folded(events, reviews)
        self._evaluations = self._record.evaluations
        self._texts = texts
        self._panel = self._record.opened.panel
        language: Language = self._panel.language
        self._words = LABELS[language]
        self._labels: EvidenceLabels = EVIDENCE_LABELS[language]
        self._items = numbered_items(self._record.opened, texts)
        self._label = label_decisive(self._record.opened, texts)
        self._page = Page()

    def page(self) -> Page:
        page = self._page
        page.line(TextSpan(f"{self._words.debate} {self._record.opened.debate_id}", "bold"))
        if not asks_for_evidence(self._record.opened):
            page.line(self._labels.evidence_not_asked)
            self._labelled()
            return page
        for juror_id in (*self._panel.juror_ids, None):
            made = [one for one in self._evaluations if one.step.juror_id == juror_id]
            if made:
                page.heading(self._role(juror_id))
            for one in made:
                self._evaluation(one)
        self._decisive()
        self._labelled()
        return page

    def _role(self, juror_id: str | None) -> str:
        return self._words.judge if juror_id is None else role_of(self._panel, juror_id)

    def _evaluation(self, made: StepEvaluation) -> None:
        words, labels, evaluation, number = self._words, self._labels, made.evaluation, made.step.round
        first = words.with_reasoning if made.step.reasoning else words.in_phase_1
        place = "" if number is None else words.in_round.format(number=number) if number else first
        decisive = "" if evaluation.decisive_item is None else f" · {labels.decisive_item}: {evaluation.decisive_item}"
        text, style = verdict_text(evaluation.verdict, evaluation.label)
        self._page.line(f"{place}: " if place else "", TextSpan(text, style), decisive, indent=2)
        if evaluation.unsupported:
            self._page.line(TextSpan(labels.unsupported, "yellow"), indent=4)
        shown = quotations(evaluation, self._texts)
        if not shown:
            self._page.line(TextSpan(labels.evidence_none, "dim"), indent=4)
        for one in shown:
            self._quotation(one, evaluation.quotes)

    def _quotation(self, shown: ShownQuotation, quotes: PartRef | None) -> None:
        entry, labels = shown.entry, self._labels
        glyph, style = _RESULTS[entry.result]
        found = getattr(labels, f"result_{entry.result}")
        if entry.result == "elsewhere" and entry.span is not None and entry.span.item is not None:
            found = labels.result_elsewhere_in.format(number=entry.span.item)
        item = labels.item.format(number=entry.item)
        if entry.seat is not None:
            item = labels.item_of_seat.format(seat=role_of(self._panel, entry.seat), number=entry.item)
        facts = getattr(labels, f"says_{entry.says}") + (f" · {entry.criterion}" if entry.criterion else "")
        if cell_len(f"{item}{found}{facts}") <= _COLUMNS - 5:
            self._page.line(TextSpan(glyph, style), f" {item}: ", TextSpan(found, style), f" · {facts}", indent=4)
        else:
            self._page.line(TextSpan(glyph, style), f" {item}:", indent=4)
            self._page.line(TextSpan(found, style), f" · {facts}", indent=6)
        if shown.text is None:
            self._page.line(TextSpan(self._absent(quotes), "dim"), indent=6)
        else:
            self._page.line(f'"{_first_words(shown.text)}"', indent=6)

    def _absent(self, quotes: PartRef | None) -> str:
        if quotes is None or quotes.part in self._texts:
            return self._labels.unreadable
        return self._words.erased if quotes.part in self._record.erased else self._words.missing

    def _decisive(self) -> None:
        labels, page = self._labels, self._page
        named = decisive_items(self._evaluations)
        page.heading(labels.decisive)
        if not named:
            page.line(labels.decisive_none)
            return
        differ = len(named) > 1
        page.line(TextSpan(labels.decisive_differ if differ else labels.decisive_agree, "yellow" if differ else ""))
        for one in named:
            self._named(one)

    def _named(self, one: DecisiveItem) -> None:
        self._page.line(TextSpan(self._labels.item.format(number=one.item), "bold"), indent=2)
        item = None if self._items is None else self._items.item(one.item)
        if item is not None:
            self._page.line(TextSpan(f'"{_first_words(item.text)}"', "dim"), indent=4)
        for made in one.named_by:
            text, style = verdict_text(made.evaluation.verdict, made.evaluation.label)
            self._page.line(TextSpan(text, style), f"  {self._role(made.step.juror_id)}", indent=4)
        if self._label is not None and one.item in self._label.items:
            self._page.line(TextSpan(f"{_LABELLED} {self._labels.label_names}", "bold"), indent=4)

    def _labelled(self) -> None:
        label, labels, page = self._label, self._labels, self._page
        if label is None:
            return
        page.heading(labels.label_names)
        if label.message is not None:
            page.line(f"{_LABELLED} {labels.label_message.format(number=label.message)}")
        if label.agent is not None:
            page.line(_first_words(labels.label_agent.format(agent=label.agent)), indent=2)
        for number in label.items[:MOST_LABELLED]:
            page.line(TextSpan(labels.item.format(number=number), "bold"), indent=2)
            item = None if self._items is None else self._items.item(number)
            if item is not None:
                page.line(TextSpan(f'"{_first_words(item.text)}"', "dim"), indent=4)
        if len(label.items) > MOST_LABELLED:
            page.line(labels.label_more_items.format(count=len(label.items) - MOST_LABELLED), indent=2)
        if label.message is not None and not label.items:
            page.line(labels.label_no_item, indent=2)


def _first_words(text: str) -> str:
    line = visible_line(text, _COLUMNS)
    return line if cell_len(line) <= _COLUMNS else set_cell_size(line, _COLUMNS - 1).rstrip() + "…"
