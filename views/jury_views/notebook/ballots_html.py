"""The first rows of a table of ballots in a cell of a notebook."""

from collections.abc import Mapping, Sequence
from typing import Any

from jury_views.notebook.rendering import rendered


def ballots_html(rows: Sequence[Mapping[str, Any]], *, total: int, simulated: int) -> str:
    """A table of rows.

    Args:
        rows: the first ones, with the columns to show.
        total: of all rows.
        simulated: how many of all rows are of simulated debates.
    """
    return rendered("ballots.html", rows=rows, total=total, simulated=simulated)
