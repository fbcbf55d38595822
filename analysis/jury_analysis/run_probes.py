"""The report of `jury probe`: twins beside their cases, and what recorded votes say alone."""

from dataclasses import dataclass
from typing import Any

from jury_analysis.discussion import Conformity
from jury_analysis.estimate import Estimate
from jury_analysis.leniency import LengthEffect, OwnFamily
from jury_analysis.probe_effects import ProbeReport
from jury_analysis.report_object import json_object
from jury_analysis.wording import Reason


@dataclass(frozen=True)
class Reflection:
    """What discussion changes, and what being asked again changes: from the first votes to the next ones."""

    changed_with_peers: Estimate
    """Share of positions."""
    changed_alone: Estimate
    with_peers: Conformity
    """Seats that take the position of their peers, which they are shown."""
    alone: Conformity
    """Seats that take it without being shown it: what conformity is to be compared with."""


@dataclass(frozen=True)
class RunProbes:
    """The report on a run."""

    run_id: str
    warnings: tuple[Reason, ...]
    """To be shown first: those of the twins' report, and of the cases alone; each once."""
    cases: int
    """Judged cases that are no twins; repeats are not counted."""
    twins: ProbeReport | None
    """None where the run has no twins."""
    absent: tuple[str, ...]
    """Probes of which no case has a twin, or no twin was judged."""
    own_family: tuple[OwnFamily, ...]
    """From the cases alone; () without labels, or without `metadata.agent_model`."""
    length: tuple[LengthEffect, ...]
    """From the cases alone; () without labels."""
    reflection: Reflection | None = None
    """None without the probe, and where nobody spoke in both runs."""

    @property
    def found(self) -> bool:
        """Whether any probe found something."""
        return self.twins is not None and any(probe.found for probe in self.twins.probes)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values, as `report_schema("probe")` says; figures have 12 decimal places."""
        return json_object(self)
