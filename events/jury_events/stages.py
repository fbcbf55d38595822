"""A debate as a stage of a ladder: its place, and what follows from how it ended.

A ladder is a list of panels. A case goes to the next one unless its verdict is accepted; an audited share of the cases
that stopped early is judged by the last one too, and their early verdict stands.
"""

import hashlib
import hmac
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from jury_events.calibration import Hex256
from jury_events.value import DebateId, Value

_MOST = 9
"""Stages of a ladder: ids have one digit."""

Aside = Literal["escalated", "audit", "replaced"]
"""Why a debate is not the one that counts for its case: a later stage follows, it is an audit, or the case was judged
again."""

_AUDIT = b"audit of an early exit"
_BITS = 64


class StagePlace(Value):
    """The place of a debate in a ladder, recorded when it opens.

    `ladder` is the digest of the ladder, `number` counts the `of` stages from 1. `before` is the debate of the case in
    the stage before, or, for an `audit`, the one that stopped early. `every_case`: every case goes through every stage,
    as no verdict is accepted early; None: only the cases that are left reach a later stage.
    """

    ladder: Hex256
    number: Annotated[int, Field(ge=1, le=_MOST)]
    of: Annotated[int, Field(ge=2, le=_MOST)]
    before: DebateId | None = None
    audit: bool = False
    every_case: Literal[True] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "StagePlace":
        if self.number > self.of:
            raise ValueError(f"number: {self.number} is more than the {self.of} stages")
        if (self.before is None) != (self.number == 1):
            raise ValueError("before: every stage but the first has a debate before it")
        if self.audit and self.number != self.of:
            raise ValueError("audit: the last stage audits")
        if self.audit and self.every_case:
            raise ValueError("audit: nothing ends early where every case goes through every stage")
        return self


def aside(place: dict[str, Any] | None, *, completed: bool, accepted: bool | None) -> Aside | None:
    """Why a debate that was completed, or failed, does not count for its case; None: it counts.

    Args:
        place: the recorded `StagePlace`; None: the debate is of no ladder.
        accepted: the verdict is accepted; None: the panel has no calibration.
    """
    if place is None:
        return None
    if place.get("audit"):
        return "audit"
    last = place["number"] >= place["of"]
    return None if last or (completed and accepted) else "escalated"


def audited(secret: bytes, case: bytes, share: float) -> bool:
    """Whether the early exit of a case is audited: HMAC-SHA256 under the secret of the debate that stopped early.

    No juror knows the secret, so nothing that judges knows it before.

    Args:
        case: the digest of the case, as the debate recorded it.
        share: of the early exits, 0 to 1.
    """
    drawn = hmac.new(secret, _AUDIT + case, hashlib.sha256).digest()[: _BITS // 8]
    return bool(int.from_bytes(drawn, "big") < share * 2**_BITS)
