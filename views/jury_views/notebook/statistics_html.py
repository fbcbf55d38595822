"""Statistics in a cell of a notebook."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jury_events.panel import Language
from jury_views.notebook.cell import CellHtml
from jury_views.notebook.rendering import rendered

if TYPE_CHECKING:
    from jury_analysis.statistics import Statistics
    from jury_analysis.wording import Reason


def statistics_html(
    named: "Sequence[tuple[str, Statistics]]", lang: Language, remarks: "Iterable[Reason]" = ()
) -> CellHtml:
    """Charts, each beside a table of its numbers.

    Args:
        named: the statistics of each group with its name; "" if nothing is grouped.
        lang: of the labels.
        remarks: lines about the labels.
    """
    return rendered("statistics.html", lang, groups=named, remarks=list(remarks))
