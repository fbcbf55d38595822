"""How bodies of older schemas become bodies of the next one. One function a step; stored bytes never change.

A step writes every field out that is new, defaults too: then a raised body is whole exactly if the stored one is.
"""

from collections.abc import Callable
from typing import Any

from jury_events.ids import Step

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]


def _with(body: dict[str, Any], **new: Any) -> dict[str, Any]:
    """The body with the fields that its schema did not have; ValueError where it has one of them all the same."""
    if known := body.keys() & new:
        raise ValueError(f"{min(known)}: this schema has no such field")
    return {**body, **new}


def _juror_abstained_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 did not say whether an earlier evaluation stands: in a round, it was taken to."""
    return _with(body, stale=Step.parse(body["step"]).round != 0)


def _debate_forked_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 did not name the reused steps, and nothing wrote it."""
    return _with(body, steps=[], inherited=[])


def _debate_opened_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 knew neither pictures nor losses, and nothing of a case but its label."""
    panel = body["panel"]
    final, judge = panel["final"], panel["final"]["judge"]
    if judge is not None:
        final = {**final, "judge": _with(judge, images=False)}
    seats = [_with(seat, images=False) for seat in panel["seats"]]
    new: dict[str, Any] = {"metadata": {}, "tags": [], "cluster": None, "agent_cost": None, "losses": [], "images": []}
    return {**_with(body, **new), "panel": {**panel, "seats": seats, "final": final}}


def _exchange_recorded_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 sent no pictures."""
    return {**body, "request": [_with(message, images=[]) for message in body["request"]]}


UPCASTERS: dict[tuple[str, int], Upcaster] = {
    ("juror_abstained", 1): _juror_abstained_2,
    ("debate_forked", 1): _debate_forked_2,
    ("debate_opened", 1): _debate_opened_2,
    ("exchange_recorded", 1): _exchange_recorded_2,
}
"""(type, schema) to what makes it schema + 1."""


def upcast(event_type: str, schema: int, target: int, body: dict[str, Any]) -> dict[str, Any]:
    """`body` raised from `schema` to `target`; every step between is registered (a test says so).

    Raises:
        ValueError, LookupError, TypeError, AttributeError: it is no body of its schema.
    """
    for number in range(schema, target):
        body = UPCASTERS[event_type, number](body)
    return body
