"""Renders templates to HTML, in one Jinja environment.

Every printed value passes `visible`, which writes out direction marks and control characters, and is then escaped. A
test refuses templates that switch this off.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from jury_events.ids import unescape
from jury_events.text.timestamps import moment
from jury_events.text.visible_text import visible
from jury_events.verdict import Verdict
from jury_events.verdict_scale import OUTCOME_WORDS
from jury_views.acceptance_line import acceptance_line
from jury_views.case_facts import case_facts, omissions_line
from jury_views.consensus_line import reached_line
from jury_views.durations import duration, rate
from jury_views.record_reading import reading_lines
from jury_views.review_choices import review_choices
from jury_views.terms import term
from jury_web.pages.number_formats import amount, decimals, dollars, p_value, points, share, size

_PACKAGE = "jury_web"
_OUTCOMES: dict[str, str] = {verdict.value: word for verdict, word in OUTCOME_WORDS.items()}
_BEST_FIRST = tuple(one.value for one in Verdict)


@cache
def environment() -> Environment:
    """The templates of this package, compiled once per process."""
    made = Environment(
        # The style sheet is a template too, for the exported file, which includes it.
        loader=ChoiceLoader([PackageLoader(_PACKAGE, "templates"), PackageLoader(_PACKAGE, "static")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(
        moment=moment,
        points=points,
        share=share,
        size=size,
        dollars=dollars,
        amount=amount,
        decimals=decimals,
        p_value=p_value,
        visible=visible,
    )
    made.filters.update(
        case_facts=case_facts,
        omissions_line=omissions_line,
        term=term,
        reached=reached_line,
        acceptance=acceptance_line,
        reading_lines=reading_lines,
        unescaped=unescape,
    )
    made.filters.update(duration=duration, rate=rate, outcome=_outcome)
    made.globals.update(verdicts=_BEST_FIRST, review_choices=review_choices)
    return made


def rendered(template: str, **values: Any) -> str:
    """One page."""
    return environment().get_template(template).render(values)


def rendered_stream(template: str, **values: Any) -> Iterator[str]:
    """One page in chunks, where it may be long."""
    stream = environment().get_template(template).stream(values)
    stream.enable_buffering(64)
    return iter(stream)


def _outcome(name: str) -> str:
    """Of a verdict by its word: `pass`, `review` or `fail`; other words stay as they are."""
    return _OUTCOMES.get(name, name)


def _shown(value: Any) -> Any:
    """Output of macros stays as it is; every other value is made visible, and then escaped."""
    return value if hasattr(value, "__html__") else visible(str(value))
