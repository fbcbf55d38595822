"""Reports as JSON values, and the JSON Schemas of their dataclasses."""

from dataclasses import asdict
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from jury_analysis.wording import Reason

_DIGITS = 12  # of figures: the last bits of a sum differ from processor to processor


def json_object(report: Any) -> dict[str, Any]:
    """A report, which is a dataclass, as JSON values; figures have 12 decimal places."""
    values: dict[str, Any] = _plain(asdict(report))
    return values


class ReportObject:
    """A report, which is a dataclass; `report_schema` describes it."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; figures have 12 decimal places."""
        return json_object(self)


def _plain(value: Any) -> Any:
    """JSON values of tuples, NumPy scalars and floats."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Reason):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    return round(value, _DIGITS) if isinstance(value, float) else value


REPORTS = {
    "stats": ("statistics", "Statistics", "Statistics of ballots"),
    "paired": ("paired", "Paired", "Two sets of ballots, paired"),
    "gate": ("gate", "Gate", "A gate's decision"),
    "gate-report": ("gate", "GateReport", "A gate's decision, and the paired table that it is based on"),
    "true-gate": ("true_rate", "TrueGate", "A gate on a true rate"),
    "gate-plan": ("gate_plan", "GatePlan", "What a planned gate could find"),
    "value": ("panel_worth", "PanelWorth", "What seats and rounds are worth"),
    "probe": ("run_probes", "RunProbes", "What probes of a run show"),
}
"""Module, class and title of each report that has a schema, by its name."""


@cache
def report_schema(name: str) -> dict[str, Any]:
    """The schema (draft 2020-12) of what `to_dict` of a report gives, by one of the names of `REPORTS`.

    Needs the packages of the reports (numpy, scipy), which are imported here.
    """
    from pydantic import TypeAdapter  # noqa: PLC0415  (reports are computed without it)

    module, report, title = REPORTS[name]
    made = getattr(import_module(f"jury_analysis.{module}"), report)
    schema = TypeAdapter(made).json_schema(mode="serialization")
    for part in (schema, *schema.get("$defs", {}).values()):
        part["additionalProperties"] = False
        part["required"] = sorted(part["properties"])
        part["description"] = part["description"].splitlines()[0]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:jury-judge:report:{name}",
        **schema,
        "title": title,
    }
