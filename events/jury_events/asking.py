"""Which seats are asked, and in which order, where a panel asks no seat that could change nothing."""

from typing import Annotated, Literal

from pydantic import Field

from jury_events.value import JurorId, Value

LastAsked = Literal["given", "rotating", "price"]
"""Which seats are asked last: the last ones of the panel; others in each debate; those with the dearest models."""


class StopRule(Value):
    """A seat is not asked when no answer of it could change what is decided. `order` has every seat of the panel.

    given, price: `order` is that in which seats are asked. rotating: each debate starts at another seat of it.
    """

    rule: Literal["settled"] = "settled"
    last: LastAsked = "given"
    order: Annotated[tuple[JurorId, ...], Field(min_length=2)]


class AskingPlan(Value):
    """The order in which the seats of a debate are asked. The `first` seats of it are asked whatever they answer."""

    order: Annotated[tuple[JurorId, ...], Field(min_length=2)]
    first: Annotated[int, Field(ge=1)]
