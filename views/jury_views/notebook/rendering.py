"""Renders the templates of this package to the HTML of a cell."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader

from jury_views.charts.shapes import stacked_bar
from jury_views.debate_labels import DebateLabels
from jury_views.templating import templates


@cache
def environment() -> Environment:
    """The templates, compiled once per process; English, as the lines of the command."""
    made = templates(PackageLoader("jury_views", "notebook/templates"))
    made.globals.update(labels=DebateLabels("en"), stacked_bar=stacked_bar)
    return made


def rendered(template: str, **values: Any) -> str:
    """The HTML of a cell, with its style."""
    return environment().get_template(template).render(values)
