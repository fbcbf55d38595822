"""What Langfuse's rows say beside the conversation: names, ids, scores, costs."""

from collections.abc import Iterable
from typing import Any

from jury_cases.transcripts.json_values import as_text, decoded_json

_FACTS = ("name", "type", "userId", "sessionId", "environment", "release", "version", "level", "model")
_IDS = {"traceId": "trace_id", "sessionId": "session_id"}
_OF_EXPORTERS = frozenset({"resourceAttributes", "scope"})
"""Metadata that the platform adds to every observation: the exporting library."""


def facts_of(row: dict[str, Any]) -> dict[str, Any]:
    """The metadata of a case by a trace or observation: its own, ids, and its scores."""
    metadata = decoded_json(row.get("metadata"), texts=True)
    own = metadata if isinstance(metadata, dict) else {}
    found = {
        **{name: value for name, value in own.items() if name not in _OF_EXPORTERS},
        **{name: row[name] for name in _FACTS if row.get(name) is not None},
        **{name: row[key] for key, name in _IDS.items() if row.get(key) is not None},
        **scores_of(decoded_json(row.get("scores"), texts=True)),
    }
    if "traceId" in row and row.get("id") is not None:
        found["observation_id"] = row["id"]
    return found


def scores_of(scores: Any) -> dict[str, Any]:
    """Scores by name, of any version of the API; the text of a categorical score, else its value; comments."""
    found: dict[str, Any] = {}
    for one in scores if isinstance(scores, list) else []:
        if not isinstance(one, dict) or not one.get("name"):
            continue
        name = f"score.{as_text(one['name'])}"
        value = one.get("value") if one.get("stringValue") is None else one["stringValue"]
        found |= {name: value} if value is not None else {}
        found |= {f"{name}.comment": one["comment"]} if isinstance(one.get("comment"), str) else {}
    return found


def sum_of_costs(observations: Iterable[dict[str, Any]]) -> float | None:
    """The cost of all observations, each its own; None if none has one."""
    found = [cost for one in observations if (cost := _cost(one)) is not None]
    return sum(found) if found else None


def _cost(observation: dict[str, Any]) -> float | None:
    details = decoded_json(observation.get("costDetails"))
    total = details.get("total") if isinstance(details, dict) else None
    written = (observation.get("totalCost"), total, observation.get("calculatedTotalCost"))
    numbers = (one for one in written if isinstance(one, int | float) and not isinstance(one, bool))
    return next((float(one) for one in numbers if one >= 0), None)
