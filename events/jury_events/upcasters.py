"""Upcasters: each turns a body of one schema into the next one. Stored bytes never change.

An upcaster writes out every new field, defaults too, so that an upcast body is complete exactly if the stored one is.
"""

from collections.abc import Callable
from typing import Any

from jury_events.ids import Step

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]


def _with(body: dict[str, Any], **new: Any) -> dict[str, Any]:
    """The body with the fields that its schema did not have; ValueError if it has one of them."""
    if known := body.keys() & new:
        raise ValueError(f"{min(known)}: this schema has no such field")
    return {**body, **new}


def _juror_evaluated_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 knew no decision models: every evaluation has scores and a rationale, and no probabilities."""
    return body


def _juror_abstained_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 had no `stale`: in a round, an earlier evaluation always counted."""
    return _with(body, stale=Step.parse(body["step"]).round != 0)


def _debate_forked_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 did not name the reused steps; no version wrote it."""
    return _with(body, steps=[], inherited_steps=[])


def _debate_opened_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 had neither pictures nor omissions, and of the case's fields only the label."""
    panel = body["panel"]
    final, judge = panel["final"], panel["final"]["judge"]
    if judge is not None:
        final = {**final, "judge": _with(judge, images=False)}
    seats = [_with(seat, images=False) for seat in panel["seats"]]
    new: dict[str, Any] = {
        "metadata": {},
        "tags": [],
        "cluster": None,
        "agent_cost": None,
        "omissions": [],
        "images": [],
    }
    return {**_with(body, **new), "panel": {**panel, "seats": seats, "final": final}}


def _debate_opened_3(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 2 had no calibrations."""
    panel = body["panel"]
    return {**body, "panel": {**panel, "final": _with(panel["final"], calibration=None)}}


def _judgment_rendered_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 had no acceptance: every verdict stood."""
    return {**body, "judgment": _with(body["judgment"], acceptance=None)}


def _exchange_recorded_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 had no pictures."""
    return {**body, "request": [_with(message, images=[]) for message in body["request"]]}


def _exchange_recorded_3(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 2 counted no tokens written to a cache, and named no service tier."""
    return {**body, "usage": _with(body["usage"], cache_writes=[], service_tier=None)}


def _exchange_recorded_4(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 3 knew no batches: every call was made live, and a body without `via` says so."""
    return body


def _debate_imported_2(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 knew no reviews."""
    return _with(body, review={"after": 0, "until": 0})


def _debate_imported_3(body: dict[str, Any]) -> dict[str, Any]:
    """Schema 2 knew no signed lengths."""
    return _with(body, lengths=None)


UPCASTERS: dict[tuple[str, int], Upcaster] = {
    ("juror_evaluated", 1): _juror_evaluated_2,
    ("juror_abstained", 1): _juror_abstained_2,
    ("debate_forked", 1): _debate_forked_2,
    ("debate_opened", 1): _debate_opened_2,
    ("debate_opened", 2): _debate_opened_3,
    ("judgment_rendered", 1): _judgment_rendered_2,
    ("exchange_recorded", 1): _exchange_recorded_2,
    ("exchange_recorded", 2): _exchange_recorded_3,
    ("exchange_recorded", 3): _exchange_recorded_4,
    ("debate_imported", 1): _debate_imported_2,
    ("debate_imported", 2): _debate_imported_3,
}
"""By (type, schema): the upcaster to schema + 1."""


def upcast(event_type: str, schema: int, target: int, body: dict[str, Any]) -> dict[str, Any]:
    """`body`, upcast from `schema` to `target`.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: it is not a body of its schema.
    """
    for number in range(schema, target):
        body = UPCASTERS[event_type, number](body)
    return body
