"""A gate, or the plan of one, as a terminal page."""

from typing import TYPE_CHECKING

from jury_events.text import visible_line
from jury_views.gate_view import GateInWords, NamedGate, plan_facts
from jury_views.page import Page, TextSpan
from jury_views.paired_sections import GROUPS, paired_sections
from jury_views.terminal.report_page import others_line, print_sections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jury_analysis.gate_plan import GatePlan

_STYLES = {"pass": "bold green", "fail": "bold red", "inconclusive": "bold yellow"}


def gate_page(named: NamedGate, sections: "Sequence[str]" = ()) -> Page:
    """Decision, its figures and notes, then these tables, of `paired_sections.GROUPS`."""
    page = _decision_page(named)
    tables = paired_sections(named.report.paired, ("base", "candidate"))
    print_sections(page, tables, sections)
    if not sections:
        others_line(page, tables, GROUPS)
    return page


def true_gate_page(named: GateInWords) -> Page:
    """Decision, its figures and notes, and the cases that were drawn."""
    page = _decision_page(named)
    page.table([tuple(visible_line(cell, 60) for cell in row) for row in named.table], indent=2)
    return page


def _decision_page(named: GateInWords) -> Page:
    page = Page()
    page.line(f"{named.title}: ", TextSpan(named.headline, _STYLES[named.decision]))
    page.facts(named.facts)
    for one in named.notes:
        page.line(one)
    return page


def plan_page(plan: "GatePlan") -> Page:
    """What the planned cases could find."""
    page = Page()
    page.line("plan: no case is judged, and nothing is decided")
    page.table([("figure", "value"), *plan_facts(plan)], indent=2)
    return page
