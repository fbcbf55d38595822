"""What is odd about recorded panels that are counted together: different scales, different efforts, one model.

Labels of different scales are never counted together; statistics and comparisons join seats by their ids alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from jury_events.errors import EventError
from jury_events.text import visible_line
from jury_events.verdict_scale import VerdictScale
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.settings.statistics import Count
from jury_judge.store_access.debates import panel_of
from jury_providers.registry import one_model_warning
from jury_store.event_store import EventStore

_SHOWN = 5


class ChosenScale(NamedTuple):
    """What is counted of debates.

    Attributes:
        scale: the one scale of the panels' own; None: the three verdicts, or there are several scales.
        count: whether its labels are counted, or what they come to.
        mixed: a line about debates under different scales, of which only outcomes can be counted; "" without them.
    """

    scale: VerdictScale | None = None
    counts: Count = "outcomes"
    mixed: str = ""

    @property
    def labels_of(self) -> VerdictScale | None:
        """The scale whose labels are counted; None: outcomes are."""
        return self.scale if self.counts == "labels" else None

    @property
    def counted(self) -> str:
        """What is counted of which scale of the panels' own, with the digest; "" without one."""
        if self.scale is None:
            return ""
        return f"{self.counts} of the scale {visible_line(self.scale.name, 60)} ({self.scale.digest[:16]})"

    def to_dict(self) -> dict[str, Any] | None:
        """The scale as JSON values: name, digest, and what is counted; None without one."""
        if self.scale is None:
            return None
        return {"name": self.scale.name, "digest": self.scale.digest, "count": self.counts}


def chosen_scale(scales: Iterable[VerdictScale | None], count: Count | None) -> ChosenScale:
    """What is counted of debates under these scales.

    Args:
        scales: of the panels; None: the three verdicts.
        count: None: labels where all debates are of one scale.
    """
    named = {None if one is None else one.digest: one for one in scales}
    if len(named) <= 1:
        return ChosenScale(next(iter(named.values()), None), count or "labels")
    names = _apart(list(named.values()))
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    judged = f"the debates are judged in {len(names)} scales ({shown})"
    if count == "labels":
        raise SettingsRefused(
            f"{escaped(judged)}, whose labels are not counted together: choose debates of one scale, or leave "
            "{count} labels out",
            usage=False,
        )
    return ChosenScale(mixed=f"{judged}: their outcomes are counted, and no label")


def _apart(scales: Sequence[VerdictScale | None]) -> list[str]:
    """The names of scales; those of one name, as after a meaning is changed, with their digests."""
    names = ["the three verdicts" if one is None else visible_line(one.name, 60) for one in scales]
    return sorted(
        name if one is None or names.count(name) == 1 else f"{name} {one.digest[:16]}"
        for name, one in zip(names, scales, strict=True)
    )


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
