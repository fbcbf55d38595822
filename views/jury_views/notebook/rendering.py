"""Renders the templates of this package to the HTML of a cell."""

from functools import cache
from typing import Any, get_args

from jinja2 import Environment, PackageLoader

from jury_events.errors import SettingError
from jury_events.panel import Language
from jury_events.text import visible_line
from jury_views.charts.shapes import stacked_bar
from jury_views.notebook.cell import CellHtml
from jury_views.notebook.cell_labels import CellLabels
from jury_views.probabilities import probabilities_line
from jury_views.report_sections import FigureNotes
from jury_views.templating import templates
from jury_views.terms import term

LABELS: dict[Language, CellLabels] = {language: CellLabels(language) for language in get_args(Language)}


@cache
def environment(lang: Language) -> Environment:
    """The templates in a language, compiled once per process."""
    made = templates(PackageLoader("jury_views", "notebook/templates"))
    made.globals.update(labels=LABELS[lang], lang=lang, stacked_bar=stacked_bar)
    made.filters["probabilities_line"] = probabilities_line
    made.filters["term"] = lambda word: term(word, lang).replace("_", " ")
    return made


def rendered(template: str, lang: Language, **values: Any) -> CellHtml:
    """The HTML of a cell, with its style.

    Raises:
        SettingError: there is no such language.
    """
    return CellHtml(environment(checked(lang)).get_template(template).render(values, footnotes=FigureNotes()))


def checked(lang: Language) -> Language:
    """The language.

    Raises:
        SettingError: it is none of ours.
    """
    if lang not in LABELS:
        raise SettingError(f"lang: {visible_line(str(lang), 20)!r} is neither {' nor '.join(sorted(LABELS))}")
    return lang
