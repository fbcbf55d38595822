"""Statistics that a notebook shows: the analysis, which makes them, knows no view."""

from dataclasses import dataclass, fields

from jury_analysis.statistics import Statistics
from jury_events.panel import Language
from jury_views.notebook.cells import CellHtml, ShownAsCell, statistics_html


@dataclass(frozen=True)
class ShownStatistics(ShownAsCell, Statistics):
    """The report, with charts and tables for a cell of a notebook."""

    @classmethod
    def of(cls, found: Statistics) -> "ShownStatistics":
        """The same report."""
        return cls(**{one.name: getattr(found, one.name) for one in fields(found)})

    def to_html(self, lang: Language = "en") -> CellHtml:
        """Charts and tables of each panel.

        Raises:
            SettingError: there is no such language.
        """
        return statistics_html([("", self)], lang)
