"""Environments of Jinja for pages and notebooks: the templates of a front door beside those of the charts.

Every printed value passes `visible`, which writes out direction marks and control characters, and is then escaped.
Tests refuse templates that switch this off.
"""

from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined

from jury_events.text import visible
from jury_events.verdict_scale import OUTCOME_WORDS
from jury_views.conclusion import conclusion_lines
from jury_views.decided import decided_sentence
from jury_views.number_formats import amount, decimals, dollars, p_value, points, share, size

_OUTCOMES: dict[str, str] = {verdict.value: word for verdict, word in OUTCOME_WORDS.items()}


def templates(*loaders: BaseLoader) -> Environment:
    """An environment with these templates, those of the charts, and the formats of numbers as filters."""
    made = Environment(
        loader=ChoiceLoader([*loaders, PackageLoader("jury_views", "charts")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(
        points=points,
        share=share,
        size=size,
        dollars=dollars,
        amount=amount,
        decimals=decimals,
        p_value=p_value,
        visible=visible,
        outcome=_outcome,
        decided=decided_sentence,
        conclusion=conclusion_lines,
    )
    return made


def _outcome(name: str) -> str:
    """Of a verdict by its word: `pass`, `review` or `fail`; other words stay as they are."""
    return _OUTCOMES.get(name, name)


def _shown(value: Any) -> Any:
    """Output of macros stays as it is; every other value is made visible, and then escaped."""
    return value if hasattr(value, "__html__") else visible(str(value))
