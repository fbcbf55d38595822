"""Environments of Jinja for pages and notebooks: the templates of a front door beside those of the charts.

Every printed value passes `visible`, which writes out direction marks and control characters, and is then escaped.
Tests refuse templates that switch this off.
"""

from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined

from jury_analysis.wording import Reason
from jury_events.panel import Language
from jury_events.text import visible
from jury_events.verdict_scale import OUTCOME_WORDS
from jury_views.conclusion import conclusion_lines, decided_sentence
from jury_views.number_formats import amount, decimals, dollars, p_value, points, share, size
from jury_views.paired_sections import paired_sections
from jury_views.report_sections import (
    AND_MORE,
    FORMATS,
    MOST_ROWS,
    FigureNotes,
    Formats,
    ReportCell,
    Words,
    Written,
    in_language,
    written,
)
from jury_views.statistics_sections import statistics_sections
from jury_views.worth_sections import frontier_section

_OUTCOMES: dict[str, str] = {verdict.value: word for verdict, word in OUTCOME_WORDS.items()}


def templates(*loaders: BaseLoader) -> Environment:
    """An environment with these templates, those of the charts, and the formats of numbers as filters."""
    made = Environment(
        loader=ChoiceLoader([*loaders, PackageLoader("jury_views", "templates")]),
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
        words=_words,
        written=_written,
        statistics_sections=statistics_sections,
        paired_sections=paired_sections,
        frontier_section=frontier_section,
    )
    made.globals.update(most_rows=MOST_ROWS, and_more=AND_MORE)
    return made


_FORMATS: Formats = {**FORMATS, "count": amount, "share": share}


def _written(cell: ReportCell, notes: FigureNotes, language: Language) -> Written:
    """A cell of a report; words begin with a capital letter, as on every page."""
    one = written(cell, notes, language, _FORMATS)
    return one._replace(value=_words(cell.value, language)) if isinstance(cell.value, str) else one


def _words(words: Words, language: Language) -> str:
    """Words of ours begin with a capital letter; symbols, and names that were given, stay as they are."""
    text = in_language(words, language)
    return text[:1].upper() + text[1:] if isinstance(words, Reason) and _begins_with_a_word(words) else text


def _begins_with_a_word(reason: Reason) -> bool:
    template = reason.wording.english
    if template.startswith("{"):
        first = reason.values[template[1:].partition("}")[0].partition(":")[0]]
        return isinstance(first, Reason) and _begins_with_a_word(first)
    word = template.partition(" ")[0].strip(",:;")
    return len(word) > 1 and word.isascii() and word.isalpha()


def _outcome(name: str) -> str:
    """Of a verdict by its word: `pass`, `review` or `fail`; other words stay as they are."""
    return _OUTCOMES.get(name, name)


def _shown(value: Any) -> Any:
    """Output of macros stays as it is; every other value is made visible, and then escaped."""
    return value if hasattr(value, "__html__") else visible(str(value))
