"""The JSON Schemas of reports, from their dataclasses: a report whose fields change has another schema at once."""

from functools import cache
from importlib import import_module
from typing import Any

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
