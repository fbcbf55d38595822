"""Statistics that a notebook shows: the analysis, which makes them, knows no view."""

from dataclasses import dataclass, fields

from jury_analysis.statistics import Statistics
from jury_views.notebook.statistics_html import statistics_html


@dataclass(frozen=True)
class ShownStatistics(Statistics):
    """The report, with charts and tables for a cell of a notebook."""

    @classmethod
    def of(cls, found: Statistics) -> "ShownStatistics":
        """The same report."""
        return cls(**{one.name: getattr(found, one.name) for one in fields(found)})

    def _repr_html_(self) -> str:
        """Charts and tables of each panel."""
        return statistics_html([("", self)])
