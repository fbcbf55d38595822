"""The JSON Schemas of reports (`Statistics.to_dict`, `Paired.to_dict`, `Gate.to_dict` …), from their dataclasses."""

from typing import Any

from pydantic import TypeAdapter

from jury_analysis.gate import Gate
from jury_analysis.gate_plan import GatePlan
from jury_analysis.paired import Paired
from jury_analysis.panel_worth import PanelWorth
from jury_analysis.run_probes import RunProbes
from jury_analysis.statistics import Statistics


def statistics_schema() -> dict[str, Any]:
    """What `schema/stats.schema.json` has: a test compares the two."""
    return _schema(Statistics, "Statistics of ballots")


def paired_schema() -> dict[str, Any]:
    """What `schema/paired.schema.json` has: a test compares the two."""
    return _schema(Paired, "Two sets of ballots, paired")


def gate_schema() -> dict[str, Any]:
    """What `schema/gate.schema.json` has: a test compares the two."""
    return _schema(Gate, "A gate's decision")


def gate_plan_schema() -> dict[str, Any]:
    """What `schema/gate-plan.schema.json` has: a test compares the two."""
    return _schema(GatePlan, "What a planned gate could find")


def value_schema() -> dict[str, Any]:
    """What `schema/value.schema.json` has: a test compares the two."""
    return _schema(PanelWorth, "What seats and rounds are worth")


def probe_schema() -> dict[str, Any]:
    """What `schema/probe.schema.json` has: a test compares the two."""
    return _schema(RunProbes, "What probes of a run show")


_LEFT_OUT = {"scale", "levels", "reading"}
"""Fields that reports leave out where there is nothing to say, so that earlier ones are as they were."""


def _schema(report: type, title: str) -> dict[str, Any]:
    schema = TypeAdapter(report).json_schema(mode="serialization")
    for part in (schema, *schema.get("$defs", {}).values()):
        part["additionalProperties"] = False
        part["required"] = sorted(part["properties"].keys() - _LEFT_OUT)
        part["description"] = part["description"].splitlines()[0]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": title,
    }
