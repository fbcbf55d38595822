"""From a page's values to HTML: one environment, which escapes everything and hides nothing.

Whatever is printed by a template passes `visible`, so that a direction mark or a control character in a case id shows
as much as one in a statement; then it is escaped. No template can switch that off: a test refuses the ways to do so.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from jury_events.ids import unescape
from jury_judge.views.case_facts import case_facts, losses_line
from jury_judge.views.consensus_line import reached_line
from jury_judge.views.moments import moment
from jury_judge.views.terms import term
from jury_judge.views.visible_text import visible
from jury_judge.web.pages.number_formats import amount, dollars, points, share, size

_PACKAGE = "jury_judge.web"


@cache
def environment() -> Environment:
    """The templates of this package, compiled once a process."""
    made = Environment(
        # The style sheet is a template too, for the one page that holds it; nothing is escaped in what a template says.
        loader=ChoiceLoader([PackageLoader(_PACKAGE, "templates"), PackageLoader(_PACKAGE, "static")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(
        moment=moment, points=points, share=share, size=size, dollars=dollars, amount=amount, visible=visible
    )
    made.filters.update(
        case_facts=case_facts, losses_line=losses_line, term=term, reached=reached_line, unescaped=unescape
    )
    return made


def rendered(template: str, **values: Any) -> str:
    """One page, whole."""
    return environment().get_template(template).render(values)


def rendered_stream(template: str, **values: Any) -> Iterator[str]:
    """One page in pieces, for those that may be long."""
    stream = environment().get_template(template).stream(values)
    stream.enable_buffering(64)
    return iter(stream)


def _shown(value: Any) -> Any:
    """What a template made is markup already; everything else is made visible, then escaped."""
    return value if hasattr(value, "__html__") else visible(str(value))
