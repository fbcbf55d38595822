"""The queue of reviews, the reviews of a debate, and the agreement of reviewers, for a terminal or a file."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jury_events.text import moment, pluralize, visible_line
from jury_events.verdict import REVIEW
from jury_events.verdict_scale import OUTCOME_WORDS
from jury_views.debate_labels import LABELS
from jury_views.evaluation_models import Reasons, assignment_object, review_objects
from jury_views.judgment_lines import later_events_text
from jury_views.page import Page, TextSpan
from jury_views.report_sections import Block, ReportCell, Section, Sentence, Table, listed, table
from jury_views.statistics_sections import COEFFICIENTS, PAIRS
from jury_views.terminal.report_page import whole_page

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
    return whole_page((), _agreement(found))


_COEFFICIENTS = tuple(one for one in COEFFICIENTS if one.field in {"alpha_nominal", "alpha_ordinal", "ac1", "raw"})


def _agreement(found: "ReviewAgreement") -> Iterator[Section]:
    counts = tuple((ReportCell(name), ReportCell(count, "count")) for name, count in found.reviewers.items())
    together = Sentence(f"{pluralize(found.together, 'debate')} reviewed by two or more")
    yield _section("Reviewers", Table(("", "debates"), counts), together)
    of_labels = () if found.labels is None else (Sentence(f"by the labels {', '.join(found.labels)}"),)
    pairs = [(" · ".join(one.seats), one) for one in found.agreement.pairs]
    decisive = (
        Sentence(f"same decisive item: {one.same:,} of {one.compared:,} {who} that name one")
        for one, who in ((found.decisive.people, "pairs of reviewers"), (found.decisive.jury, "reviews and their jury"))
        if one.compared
    )
    yield _section(
        "Agreement of first verdicts",
        *of_labels,
        listed(found.agreement, _COEFFICIENTS, "", "value [95 %]", "debates"),
        *([table(pairs, PAIRS, "pair")] if pairs else []),
        *decisive,
    )
    if found.disputed:
        yield _section("For a third reviewer", *map(Sentence, found.disputed))


def _section(title: str, *blocks: Block) -> Section:
    return Section("agreement", title, title, blocks)


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
