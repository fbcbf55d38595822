"""Renders templates to HTML, in one Jinja environment (`jury_views.templating`), which escapes every printed value."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader

from jury_events.ids import unescape
from jury_events.text import moment, points_text
from jury_events.verdict import Verdict
from jury_views.case_view import case_facts, omissions_line
from jury_views.judgment_lines import acceptance_line, cap_lines, exception_lines, reached_line
from jury_views.number_formats import duration, probabilities_line, rate
from jury_views.reasons import went_wrong_line
from jury_views.record_reading import parts_by_seat, reading_lines
from jury_views.report_sections import FigureNotes
from jury_views.review_objects import review_choices
from jury_views.templating import templates
from jury_views.terms import term
from jury_web.root_path import rooted_html

_PACKAGE = "jury_web"
_BEST_FIRST = tuple(one.value for one in Verdict)


@cache
def environment() -> Environment:
    """The templates of this package, compiled once per process."""
    # The style sheet is a template too, for the exported file, which includes it.
    made = templates(PackageLoader(_PACKAGE, "templates"), PackageLoader(_PACKAGE, "static"))
    made.filters.update(
        moment=moment,
        case_facts=case_facts,
        omissions_line=omissions_line,
        term=term,
        reached=reached_line,
        acceptance=acceptance_line,
        cap_lines=cap_lines,
        exception_lines=exception_lines,
        went_wrong=went_wrong_line,
        points_text=points_text,
        reading_lines=reading_lines,
        parts_by_seat=parts_by_seat,
        probabilities_line=probabilities_line,
        unescaped=unescape,
    )
    made.filters.update(duration=duration, rate=rate)
    made.globals.update(verdicts=_BEST_FIRST, review_choices=review_choices)
    return made


def rendered(template: str, **values: Any) -> str:
    """One page."""
    return rooted_html(environment().get_template(template).render(values, footnotes=FigureNotes()))


def rendered_stream(template: str, **values: Any) -> Iterator[str]:
    """One page in chunks, where it may be long."""
    stream = environment().get_template(template).stream(values, footnotes=FigureNotes())
    stream.enable_buffering(64)
    return iter(stream)
