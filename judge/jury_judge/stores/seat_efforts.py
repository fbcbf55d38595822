"""What is odd about the seats of recorded panels: different efforts under one id, all of one model.

Statistics and comparisons join seats by their ids alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from jury_events.errors import EventError
from jury_events.text import visible_line
from jury_judge.stores.debates import panel_of
from jury_providers.registry import one_model_warning
from jury_store.event_store import EventStore

_SHOWN = 5
"""Sides of one effort that a line names."""


def effort_lines(store: EventStore, debates: Mapping[str, str]) -> Iterator[str]:
    """A line a seat whose effort differs, as in `seat a: effort low in run r1, high in run r2`.

    Args:
        debates: a debate of each side, by the name of the side. One whose opening cannot be read says nothing.
    """
    sides: dict[str, dict[str | None, list[str]]] = {}
    for name, debate_id in debates.items():
        try:
            panel = panel_of(store, debate_id).panel
        except EventError:
            continue  # `jury verify` reports it
        for seat in panel.seats:
            sides.setdefault(seat.juror_id, {}).setdefault(seat.settings.effort, []).append(name)
    for juror_id, efforts in sides.items():
        if len(efforts) > 1:
            said = (f"{effort or 'not set'} in {_named(names)}" for effort, names in efforts.items())
            yield f"seat {visible_line(juror_id, 60)}: effort {', '.join(said)}"


def one_model_lines(store: EventStore, debates: Iterable[str]) -> Iterator[str]:
    """What to say of seats that are one model, once; of a debate of each panel."""
    found = set()
    for debate_id in debates:
        with suppress(EventError):  # `jury verify` reports it
            found.add(one_model_warning(panel_of(store, debate_id).panel))
    yield from sorted(line for line in found if line is not None)


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
