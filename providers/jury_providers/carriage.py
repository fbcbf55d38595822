"""How calls are carried out and paid (`CARRIAGE`): what a seat says, else what its provider's endpoint says."""

from collections.abc import Mapping
from typing import TypeVar

from jury_events.panel import CARRIAGE, FinalJudge, Panel, Seat
from jury_providers.endpoints import Endpoint

_Place = TypeVar("_Place", Seat, FinalJudge)


def with_carriage(panel: Panel, endpoints: Mapping[str, Endpoint]) -> Panel:
    """The panel whose seats say what their providers' endpoints say, where they say nothing themselves.

    A debate that is opened with it keeps these settings, whatever the panel file says later.
    """
    judge = panel.final.judge
    return panel.model_copy(
        update={
            "seats": tuple(_carried(seat, endpoints) for seat in panel.seats),
            "final": panel.final.model_copy(update={"judge": judge and _carried(judge, endpoints)}),
        }
    )


def _carried(place: _Place, endpoints: Mapping[str, Endpoint]) -> _Place:
    endpoint = endpoints.get(place.model.partition("/")[0])
    if endpoint is None:
        return place
    said = {
        name: value
        for name in CARRIAGE
        if getattr(place.settings, name) is None and (value := getattr(endpoint, name)) is not None
    }
    return place.model_copy(update={"settings": place.settings.model_copy(update=said)}) if said else place
