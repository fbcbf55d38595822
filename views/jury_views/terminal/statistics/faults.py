"""Which faults are found, and whether the seats name the message that went wrong: two sections of the statistics."""

from typing import TYPE_CHECKING

from jury_events.text import pluralize, visible_line
from jury_views.page import Page
from jury_views.terminal.statistics.agreement import PAIRS
from jury_views.terminal.statistics.figures import Figures

if TYPE_CHECKING:
    from jury_analysis.faults import FaultReport, FaultsFound
    from jury_analysis.message_agreement import MessageAgreement, MessagePair


def faults_section(page: Page, found: "FaultReport") -> None:
    """What each rater finds of the faults that the labels know."""
    figures = Figures()
    page.heading("Faults against labels (first evaluations)")
    page.line(
        f"{pluralize(found.faults, 'debate')} with a fault: {found.silent:,} with a correct outcome (silent), "
        f"{found.loud:,} with a wrong one, {found.messages:,} with a message that the label names; "
        f"{found.sound:,} without a fault",
        indent=2,
    )
    head = ("", "found", "silent ones", "false alarms", "message exact", "within one", "found and exact")
    page.table([head, *(_rater(figures, one) for one in (*found.seats, found.panel))], indent=2)
    figures.print_notes(page)


def messages_section(page: Page, found: "MessageAgreement", named: str) -> None:
    """Do the seats name the same message (or item, which is what `named` says), and is it the label's?

    Labels name messages alone, so that of items nothing is said of what is right.
    """
    figures = Figures()
    labelled = named == "message"
    page.heading(f"The {named} that went wrong (first evaluations)")
    rows = [
        ("all seats that name one name the same", figures.share(found.one_message), f"{found.one_message.n:,}"),
        ("raw agreement", figures.share(found.raw), f"{found.raw.n:,}"),
        ("corrected for chance", figures.number(found.corrected), f"{found.corrected.n:,}"),
    ]
    if labelled:
        rows += [
            ("right where a plurality names it", figures.share(found.plurality_right), f"{found.plurality_right.n:,}"),
            ("right where more than half name it", figures.share(found.majority_right), f"{found.majority_right.n:,}"),
        ]
    page.table([("", "value [95 %]", "debates"), *rows], indent=2)
    _pairs(page, figures, found.pairs, named, labelled=labelled)
    figures.print_notes(page)


def _rater(figures: Figures, one: "FaultsFound") -> tuple[str, ...]:
    shares = (
        *(one.found, one.silent_found, one.false_alarms),
        *(one.message_exact, one.message_within_one, one.message_exact_of_all),
    )
    name = "panel (plurality)" if one.seat is None else visible_line(one.seat, 60)
    return (name, *(figures.share(share) for share in shares))


def _pairs(page: Page, figures: Figures, pairs: "tuple[MessagePair, ...]", named: str, *, labelled: bool) -> None:
    """Those that agree least, as of verdicts."""
    if not pairs:
        return
    shown = sorted(pairs, key=lambda pair: (pair.same.value or 0.0, pair.seats))[:PAIRS]
    rows = [
        (
            *(visible_line(seat, 40) for seat in one.seats),
            figures.share(one.same),
            f"{one.same.n:,}",
            *((figures.share(one.right), f"{one.right.n:,}") if labelled else ()),
        )
        for one in shown
    ]
    page.blank()
    right = ("right then", "debates") if labelled else ()
    page.table([("pair of seats", "", f"same {named}", "debates", *right), *rows], indent=2)
    if len(shown) < len(pairs):
        page.line(f"and {pluralize(len(pairs) - len(shown), 'pair')} of closer agreement (--json has all)", indent=2)
