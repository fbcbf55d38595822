"""How bodies of older schemas become bodies of the next one. One function a step; stored bytes never change."""

from collections.abc import Callable
from typing import Any

from jury_events.ids import Step

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]


def _juror_abstained_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 did not say whether an earlier evaluation stands: in a round, it was taken to."""
    return {**body, "stale": Step.parse(body["step"]).round != 0}


def _debate_forked_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 did not name the reused steps, and nothing wrote it."""
    return {**body, "steps": []}


def _debate_opened_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 knew neither pictures nor losses, and nothing of a case but its label."""
    new: dict[str, Any] = {"metadata": {}, "tags": [], "cluster": None, "agent_cost": None, "losses": [], "images": []}
    return {**body, **new}


def _exchange_recorded_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 sent no pictures, which is the default of a message."""
    return body


UPCASTERS: dict[tuple[str, int], Upcaster] = {
    ("juror_abstained", 1): _juror_abstained_2,
    ("debate_forked", 1): _debate_forked_2,
    ("debate_opened", 1): _debate_opened_2,
    ("exchange_recorded", 1): _exchange_recorded_2,
}
"""(type, schema) to what makes it schema + 1."""


def upcast(event_type: str, schema: int, target: int, body: dict[str, Any]) -> dict[str, Any]:
    """`body` raised from `schema` to `target`; KeyError never: every step between is registered (a test says so)."""
    for number in range(schema, target):
        body = UPCASTERS[event_type, number](body)
    return body
