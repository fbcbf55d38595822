"""The first rows of a table of ballots in a cell of a notebook."""

from collections.abc import Mapping, Sequence
from typing import Any

from jury_events.panel import Language
from jury_views.notebook.cell import CellHtml
from jury_views.notebook.rendering import rendered


def ballots_html(rows: Sequence[Mapping[str, Any]], lang: Language, *, total: int, simulated: int) -> CellHtml:
    """A table of rows.

    Args:
        rows: the first ones, with the columns to show.
        lang: of the labels; columns have their names in every language.
        total: of all rows.
        simulated: how many of all rows are of simulated debates.
    """
    return rendered("ballots.html", lang, rows=rows, total=total, simulated=simulated)
