"""The queue of reviews, the reviews of a debate, and the agreement of reviewers, for a terminal or a file."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jury_events.text import moment, pluralize, visible_line
from jury_events.verdict import REVIEW
from jury_events.verdict_scale import OUTCOME_WORDS
from jury_views.debate_labels import LABELS
from jury_views.judgment_lines import later_events_text
from jury_views.page import Page, TextSpan
from jury_views.review_objects import Reasons, assignment_object, review_objects
from jury_views.terminal.report_page import Figures

if TYPE_CHECKING:
    from jury_events.local_facts import LaterEvents
    from jury_events.review_facts import ReviewFacts
    from jury_judge.reviews.review_agreement import ReviewAgreement
    from jury_judge.reviews.review_queue import QueueItem

WHY = {
    "assigned": "assigned",
    "sampled": "drawn at random",
    "disputed": "reviewers differ",
    "not_accepted": "not accepted",
    REVIEW.value: REVIEW.value,
    OUTCOME_WORDS[REVIEW]: OUTCOME_WORDS[REVIEW],
}


def queue_lines(items: "Iterable[QueueItem]", *, blind: bool) -> Iterable[str]:
    """A line a debate: why, the jury's disagreement, ids, and who reviewed it.

    Args:
        items: the queue.
        blind: whether a line has no more than why and ids, as those of debates that were drawn at random always have.
    """
    for item in items:
        case = visible_line(item.row.case_id, 60)
        if item.partial is not None:
            case += f"  (not blind: {item.partial} reviewed)"
        if _hidden(item, blind=blind):
            yield f"{WHY[item.reason]:<16}  {item.row.debate_id}  {case}"
            continue
        share = "    " if item.disagreement is None else f"{item.disagreement:.2f}"
        people = ", ".join(f"{one.reviewer}: {one.word}" for one in item.row.review_facts.standing)
        line = f"{WHY[item.reason]:<16}  {share}  {item.row.debate_id}  {case}"
        yield f"{line}  [{visible_line(people, 200)}]" if people else line


def queue_object(item: "QueueItem", *, blind: bool) -> dict[str, Any]:
    """The same as JSON values."""
    row = item.row
    shown = {
        "debate_id": row.debate_id,
        "case_id": row.case_id,
        "run_id": row.run_id,
        "why": item.why,
        "same_case_reviewed": item.partial,
    }
    if _hidden(item, blind=blind):
        return shown
    return {
        **shown,
        "disagreement": item.disagreement,
        "final_verdict": row.final_verdict,
        **({"final_label": row.final_label} if row.final_label is not None else {}),
        "accepted": row.accepted,
        "disposition": row.disposition,
        "reviews": review_objects(row.review_facts),
        "assignments": [assignment_object(one) for one in row.assignments],
    }


def _hidden(item: "QueueItem", *, blind: bool) -> bool:
    """Whether what the jury and other people said of a debate is not shown.

    A review of a drawn case counts as part of a random sample if it is blind, so the list of them must not reveal it.
    """
    return blind or item.why == "sampled"


def reviews_section(page: Page, facts: "ReviewFacts", reasons: Reasons, later: "LaterEvents | None") -> None:
    """The reviews of a debate; nothing where there is none. `later`: whether others may exist at its origin."""
    if not facts.reviews and not facts.assignments:
        return
    page.heading("Reviews")
    for one in facts.reviews:
        marks = [
            *([] if one.decisive_item is None else [f"decisive item {one.decisive_item}"]),
            *(["blind"] if one.blind else []),
            *(["drawn at random"] if one.sampled else []),
            *([] if one.minutes is None else [f"{one.minutes:g} min"]),
            *([] if one.supersedes is None else [f"replaces review {one.supersedes}"]),
            *(["from elsewhere, without a trusted seal: counts for nothing"] if one.foreign else []),
        ]
        details = " · ".join((moment(one.reviewed_at), *marks))
        page.line(TextSpan(f"{one.number}  {one.reviewer}: "), TextSpan(one.word, "bold"), f"  {details}")
        if one.number in reasons:
            reason = reasons[one.number]
            page.text(LABELS["en"].erased if reason is None else reason, indent=4)
    for waiting in facts.open_assignments:
        drawn = ", drawn at random" if waiting.sampled else ""
        page.line(TextSpan(f"{waiting.number}  {waiting.reviewer} is asked for a review{drawn}", "dim"))
    if facts.disputed:
        page.line(TextSpan("the reviewers differ", "yellow"))
    if facts.verdict is not None:
        page.line(TextSpan("disposition: "), TextSpan(facts.label or facts.verdict.value, "bold"))
    if later is not None:
        page.line(TextSpan(later_events_text(later, LABELS["en"]), "yellow"))


def agreement_page(found: "ReviewAgreement") -> Page:
    """Reviewers, their agreement, and the debates in which they differ."""
    page, figures = Page(), Figures()
    page.heading("Reviewers")
    page.table(
        [("", "debates"), *((visible_line(name, 60), f"{count:,}") for name, count in found.reviewers.items())],
        indent=2,
    )
    page.line(f"{pluralize(found.together, 'debate')} reviewed by two or more", indent=2)
    page.heading("Agreement of first verdicts")
    if found.labels is not None:
        page.line(f"by the labels {', '.join(found.labels)}", indent=2)
    coefficients = (
        ("Krippendorff's α, nominal", found.agreement.alpha_nominal),
        ("Krippendorff's α, ordinal", found.agreement.alpha_ordinal),
        ("Gwet's AC1", found.agreement.ac1),
    )
    rows = [(name, figures.number(one), f"{one.n:,}") for name, one in coefficients]
    rows.append(("raw agreement", figures.share(found.agreement.raw), f"{found.agreement.raw.n:,}"))
    page.table([("", "value [95 %]", "debates"), *rows], indent=2)
    if found.agreement.pairs:
        page.blank()
        pairs = [
            (
                *(visible_line(name, 40) for name in one.seats),
                figures.share(one.raw),
                figures.number(one.kappa),
                figures.number(one.weighted_kappa),
                f"{one.raw.n:,}",
            )
            for one in found.agreement.pairs
        ]
        page.table([("pair", "", "raw", "κ", "κ weighted", "debates"), *pairs], indent=2)
    for one, who in ((found.decisive.people, "pairs of reviewers"), (found.decisive.jury, "reviews and their jury")):
        if one.compared:
            page.line(f"same decisive item: {one.same:,} of {one.compared:,} {who} that name one", indent=2)
    figures.print_notes(page)
    if found.disputed:
        page.heading("For a third reviewer")
        for debate_id in found.disputed:
            page.line(debate_id, indent=2)
    return page


def agreement_object(found: "ReviewAgreement") -> dict[str, Any]:
    """The same as JSON values."""
    plain = asdict(found.agreement)
    names = ("alpha_nominal", "alpha_ordinal", "ac1", "ac2", "raw", "pairs")
    return {
        "reviewers": found.reviewers,
        "together": found.together,
        "labels": None if found.labels is None else list(found.labels),
        "agreement": {name: plain[name] for name in names},
        "disputed": list(found.disputed),
        "decisive": {name: one._asdict() for name, one in found.decisive._asdict().items()},
    }
