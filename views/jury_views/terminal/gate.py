"""A gate, or the plan of one, as a terminal page."""

from typing import TYPE_CHECKING

from jury_views.gate_view import NamedGate, facts, headline, notes, plan_facts
from jury_views.page import Page, TextSpan
from jury_views.paired_sections import PAIRED_TABLES, paired_sections
from jury_views.terminal.report_page import others_line, print_sections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jury_analysis.gate_plan import GatePlan

_STYLES = {"pass": "bold green", "fail": "bold red", "inconclusive": "bold yellow"}


def gate_page(named: NamedGate, sections: "Sequence[str]" = ()) -> Page:
    """Decision, its figures and notes, then these tables, of `paired_sections.PAIRED_TABLES`."""
    page = Page()
    page.line(f"{named.title}: ", TextSpan(headline(named), _STYLES[named.report.gate.decision]))
    page.facts(facts(named))
    for one in notes(named):
        page.line(one)
    tables = paired_sections(named.report.paired, ("base", "candidate"))
    print_sections(page, tables, sections)
    if not sections:
        others_line(page, tables, PAIRED_TABLES)
    return page


def plan_page(plan: "GatePlan") -> Page:
    """What the planned cases could find."""
    page = Page()
    page.line("plan: no case is judged, and nothing is decided")
    page.table([("figure", "value"), *plan_facts(plan)], indent=2)
    return page
