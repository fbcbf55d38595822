"""The published JSON Schemas of reports, as files of this package. Reading them needs no numpy."""

from functools import cache
from importlib.resources import files

REPORTS = ("stats", "paired", "gate", "gate-plan", "value", "probe")
"""Names of the schemas: of `Statistics.to_dict`, `Paired.to_dict`, `Gate.to_dict`, `GatePlan.to_dict`,
`PanelWorth.to_dict` and `RunProbes.to_dict`."""


@cache
def report_schema_text(name: str) -> str:
    """The schema of that name, one of `REPORTS`, as JSON."""
    return (files("jury_analysis") / "schema" / f"{name}.schema.json").read_text(encoding="utf-8")
