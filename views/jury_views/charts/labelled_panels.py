"""The verdicts of a run beside the labels, panel by panel, for the page of the run."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from jury_analysis.accuracy import AgainstLabels
    from jury_analysis.statistics import Statistics


class LabelledPanel(NamedTuple):
    """The final verdicts of one panel, or its plurality where none is known, as the statistics count them."""

    panel: str | None
    found: "AgainstLabels"


def labelled_panels(report: "Statistics") -> tuple[LabelledPanel, ...]:
    """The panels of a report that have a label."""
    panels = []
    for one in report.panels:
        against = one.against_labels
        if against.labelled:
            found = against.panel if against.jury is None else against.jury
            panels.append(LabelledPanel(one.panel, found))
    return tuple(panels)
