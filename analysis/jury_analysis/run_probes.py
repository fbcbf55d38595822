"""The report of `jury probe`: twins beside their cases, and what recorded votes say alone."""

from dataclasses import dataclass
from typing import Any

from jury_analysis.leniency import LengthEffect, OwnFamily
from jury_analysis.probe_effects import ProbeReport
from jury_analysis.report_object import json_object
from jury_analysis.wording import Reason


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

    @property
    def found(self) -> bool:
        """Whether any probe found something."""
        return self.twins is not None and any(probe.found for probe in self.twins.probes)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values, as `report_schema("probe")` says; figures have 12 decimal places."""
        return json_object(self)
